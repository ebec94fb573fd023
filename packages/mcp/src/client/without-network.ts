// A program that is started without the network: bubblewrap gives it a network namespace of its own, which has a loopback interface and
// nothing else. All else of the machine stays as it is.
import { execFile } from 'node:child_process'
import { BatonError } from '@baton/core'

/** https://github.com/containers/bubblewrap, 0.8: the same file system, no network, and an end when this process ends. */
const BOX = ['bwrap', '--dev-bind', '/', '/', '--unshare-net', '--die-with-parent', '--'] as const
/** Milliseconds. */
const PROBE_MS = 10_000

/** The command line in the box. @throws BatonError `invalid_mcp_server` where bubblewrap cannot be used */
export async function boxWithoutNetwork(words: readonly string[]): Promise<readonly string[]> {
  const problem = await findProblem()
  if (problem === undefined) return [...BOX, ...words]
  throw new BatonError({
    code: 'invalid_mcp_server',
    message: `the server may not use the network, and bubblewrap, which would keep it from doing so, cannot be used: ${problem}`,
    hint: 'Install bubblewrap (Linux), or allow the network.',
  })
}

function findProblem(): Promise<string | undefined> {
  const [program, ...options] = BOX
  return new Promise((found) => {
    execFile(program, [...options, 'true'], { timeout: PROBE_MS }, (error, _, errors) => {
      if (!error) found(undefined)
      else if (error.code === 'ENOENT') found('there is no program "bwrap"')
      else found(errors.trim().slice(0, 500) || error.message.slice(0, 500))
    })
  })
}
