// Memory of lingering sessions, measured in a separate process that collects garbage before each measurement.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const PROGRAM = fileURLToPath(new URL('./lingering-memory.test-kit.ts', import.meta.url))

/** The host's estimate, which its bound of 64 MiB counts. */
const ESTIMATE = { session: 16_384, entry: 1024, char: 2 }

async function countBytes(sessions: number, messages: number, chars: number): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-memory-'))
  const flags = ['--conditions=@baton/source', '--no-warnings', '--expose-gc']
  const command = [...flags, PROGRAM, ...[sessions, messages, chars].map(String), join(folder, 'kept.db')]
  const { stdout } = await promisify(execFile)(process.execPath, command)
  await rm(folder, { recursive: true })
  return (JSON.parse(stdout) as { readonly bytes: number }).bytes // the program prints it
}

test.each([
  ['a short answer', 300, 1, 10],
  ['a long answer', 200, 1, 10_000],
  ['ten answers', 200, 10, 1000],
] as const)(
  'a lingering session with %s takes no more memory than the host estimates',
  async (_, sessions, messages, chars) => {
    const bytes = await countBytes(sessions, messages, chars)
    console.log(`a lingering session of ${messages} × ${chars} characters: ${bytes} bytes`)
    expect(bytes).toBeLessThanOrEqual(ESTIMATE.session + messages * (2 * ESTIMATE.entry + ESTIMATE.char * chars))
  },
)
