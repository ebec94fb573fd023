// Measures the memory of an open session at rest, of a lingering one, of each further exchange, and of a delegated call that has
// ended.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Measured } from '../measure.ts'
import { compared } from '../measure.ts'
import type { Retained } from './retained-process.ts'

const PROGRAM = fileURLToPath(new URL('retained-process.ts', import.meta.url))
const KIB = 1024

/** KiB of heap and external memory; each row is compared with an open session over SQLite. */
export async function measureRetained(_origin: string, rounds: number): Promise<readonly Measured[]> {
  const values = new Map<string, number[]>()
  const note = (name: string, bytes: number): void => void values.set(name, [...(values.get(name) ?? []), bytes / KIB])
  for (let round = 0; round < rounds; round++)
    for (const kind of ['SQLite', 'memory']) {
      const retained = await runProgram(kind)
      note(`an open session, ${kind}`, retained.open)
      note(`a lingering session, ${kind}`, retained.lingering)
      note(`a further exchange, ${kind}`, retained.exchange)
      note(`a further exchange with a child, ${kind}`, retained.child)
    }
  return compared(values, 'an open session, SQLite')
}

async function runProgram(kind: string): Promise<Retained> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-bench-'))
  try {
    const path = kind === 'memory' ? kind : join(folder, 'kept.db')
    const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', '--expose-gc', PROGRAM, path])
    return JSON.parse(stdout) as Retained // the program prints it
  } finally {
    await rm(folder, { recursive: true })
  }
}
