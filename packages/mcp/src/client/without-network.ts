// A program that is started without the network: bubblewrap gives it a network namespace of its own, which has a loopback interface and
// nothing else. All else of the machine stays as it is.
import { execFile } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, dirname, isAbsolute, join, relative, sep } from 'node:path'
import { BatonError } from '@baton/core'

/** https://github.com/containers/bubblewrap, 0.8: the same file system, no network, and an end when this process ends. */
const OPTIONS = ['--dev-bind', '/', '/', '--unshare-net', '--die-with-parent', '--'] as const
/** Milliseconds. */
const PROBE_MS = 10_000

/** The command line in the box. @throws BatonError `invalid_mcp_server` where bubblewrap cannot be used */
export async function boxWithoutNetwork(words: readonly string[]): Promise<readonly string[]> {
  const program = findBubblewrap(process.env['PATH'] ?? '', process.cwd())
  const problem = program === undefined ? 'there is no program "bwrap"' : await findProblem(program)
  if (program !== undefined && problem === undefined) return [program, ...OPTIONS, ...words]
  throw new BatonError({
    code: 'invalid_mcp_server',
    message: `the server may not use the network, and bubblewrap, which would keep it from doing so, cannot be used: ${problem}`,
    hint: 'Install bubblewrap (Linux), or allow the network.',
  })
}

/** npm puts `node_modules/.bin` of the project on the PATH: a package there must not pass for the sandbox. */
export function findBubblewrap(path: string, folder: string): string | undefined {
  return path
    .split(delimiter)
    .filter((place) => isAbsolute(place) && !place.split(sep).includes('node_modules') && !isInside(folder, place))
    .map((place) => join(place, 'bwrap'))
    .find(isProgram)
}

/** In the root, where services run, everything is inside. */
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
