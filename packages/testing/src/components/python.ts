// Python for tests of the Python client. It belongs to the machine: BATON_PYTHON names one with the package websockets,
// or `python3` in PATH has it.
import { spawnSync } from 'node:child_process'
import { leaveOut } from './left-out.ts'

/**
 * Returns the program, or `undefined` if there is none; `warn` then receives what will not be tested.
 * @throws Error if there is none and BATON_TEST_REQUIRE is `all`
 */
export function findPython(what: string, warn: (message: string) => void): string | undefined {
  const program = process.env['BATON_PYTHON'] ?? 'python3'
  const { status } = spawnSync(program, ['-c', 'import websockets.asyncio.client'], { stdio: 'ignore' })
  const lack = {
    why: 'no Python with the package websockets was found',
    remedy: 'Install it with `pip install websockets`, or set BATON_PYTHON to a Python that has it, to run it.',
  }
  return status === 0 ? program : leaveOut(what, lack, warn)
}
