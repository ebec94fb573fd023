// Starts a program without network access: bubblewrap gives it a network namespace that contains only a loopback
// interface. Nothing else about the machine changes.
import { execFile } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, dirname, isAbsolute, join, relative, sep } from 'node:path'
import { BatonError } from '@baton/core'

/**
 * https://github.com/containers/bubblewrap, 0.8: the same file system, no network, and the program dies with this
 * process.
 */
const OPTIONS = ['--dev-bind', '/', '/', '--unshare-net', '--die-with-parent', '--'] as const
/** Milliseconds. */
const PROBE_MS = 10_000

/** Returns the sandboxed command line. @throws BatonError `invalid_mcp_server` if bubblewrap cannot be used */
export async function boxWithoutNetwork(words: readonly string[]): Promise<readonly string[]> {
  const program = findBubblewrap(process.env['PATH'] ?? '', process.cwd())
  const problem = program === undefined ? 'the program "bwrap" was not found' : await findProblem(program)
  if (program !== undefined && problem === undefined) return [program, ...OPTIONS, ...words]
  throw new BatonError({
    code: 'invalid_mcp_server',
    message: `the server may not use the network, but bubblewrap, which enforces that, cannot be used: ${problem}`,
    hint: 'Install bubblewrap (Linux), or allow network access.',
  })
}

/** npm adds the project's `node_modules/.bin` to PATH: a package must not be able to replace the sandbox. */
export function findBubblewrap(path: string, folder: string): string | undefined {
  return path
    .split(delimiter)
    .filter((place) => isAbsolute(place) && !place.split(sep).includes('node_modules') && !isInside(folder, place))
    .map((place) => join(place, 'bwrap'))
    .find(isProgram)
}

/** Services run in the root folder, which contains everything. */
function isInside(folder: string, place: string): boolean {
  if (dirname(folder) === folder) return false
  const way = relative(folder, place)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function findProblem(program: string): Promise<string | undefined> {
  return new Promise((found) => {
    execFile(program, [...OPTIONS, 'true'], { timeout: PROBE_MS }, (error, _, errors) => {
      found(error ? errors.trim().slice(0, 500) || error.message.slice(0, 500) : undefined)
    })
  })
}
