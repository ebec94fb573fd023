// Python for tests of the client in that language. It is a part of the machine: BATON_PYTHON names one that has the package
// websockets, or `python3` in PATH does.
import { spawnSync } from 'node:child_process'
import { leaveOut } from './left-out.ts'

/**
 * The program; undefined when there is none: then `warn` is told what will not be tested.
 * @throws Error where there is none but BATON_TEST_REQUIRE is `all`
 */
export function findPython(what: string, warn: (message: string) => void): string | undefined {
  const program = process.env['BATON_PYTHON'] ?? 'python3'
  const { status } = spawnSync(program, ['-c', 'import websockets.asyncio.client'], { stdio: 'ignore' })
  const lack = {
    why: 'there is no Python with the package websockets',
    remedy: 'Install it by `pip install websockets`, or set BATON_PYTHON to a Python that has it, to run it.',
  }
  return status === 0 ? program : leaveOut(what, lack, warn)
}
