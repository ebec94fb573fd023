// Packages that are loaded when they are first needed, some of which are optional peers: packages that only some programs
// need, and that those programs install themselves.
import type { ErrorCode } from './errors.ts'
import { BatonError } from './errors.ts'

/**
 * Imports an optional peer: `importPeer('pg', 'a PostgreSQL store', () => import('pg'))`.
 * @throws BatonError `invalid_option`, or the given code, with the command that installs it; what `load` throws if it is
 *   installed but fails
 */
export async function importPeer<Module>(
  name: string,
  user: string,
  load: () => Promise<Module>,
  code: ErrorCode = 'invalid_option',
): Promise<Module> {
  try {
    return await load()
  } catch (cause) {
    if (!isMissing(name, cause)) throw cause
    throw new BatonError({
      code,
      message: `${user} needs the package ${name}, which is not installed: npm install ${name}`,
      hint: `Run npm install ${name} in the folder of your program.`,
      cause,
    })
  }
}

/** Whether the loader of Node, Deno or Bun did not find this package. Their wordings and quotes differ. */
function isMissing(name: string, cause: unknown): boolean {
  const { code, message } = Object(cause) as { readonly code?: unknown; readonly message?: unknown } // if the loader failed
  const said = String(message)
  const isLoaders = String(code).endsWith('MODULE_NOT_FOUND') || /^(?:cannot|could not) (?:find|resolve)\b/i.test(said)
  const names = [
    `npm:${name}@`,
    ...[`'`, '"', '`'].flatMap((quote) => [quote + name, `npm:${name}`].map((n) => n + quote)),
  ]
  return isLoaders && names.some((one) => said.includes(one))
}

/** Shares one load among all callers. A failed load is forgotten, so that the next call loads again. */
export function loadOnce<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let loading: Promise<Value> | undefined
  return () =>
    (loading ??= load().catch((cause: unknown) => {
      loading = undefined
      throw cause
    }))
}
