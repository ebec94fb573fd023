// Optional peers: packages that only some programs need, and that those programs install themselves.
import { BatonError } from './errors.ts'

/**
 * Imports an optional peer: `importPeer('pg', 'a PostgreSQL store', () => import('pg'))`.
 * @throws BatonError `invalid_option` with the command that installs it
 */
export async function importPeer<Module>(name: string, user: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load()
  } catch (cause) {
    const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown } // of Node's loader, if it failed there
    const isMissing = String(code).endsWith('MODULE_NOT_FOUND') && String(message).includes(`'${name}'`)
    if (!isMissing) throw cause
    throw new BatonError({
      code: 'invalid_option',
      message: `${user} needs the package ${name}, which is not installed: npm install ${name}`,
      hint: `Run npm install ${name} in the folder of your program.`,
      cause,
    })
  }
}
