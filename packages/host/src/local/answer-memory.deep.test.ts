// Memory of a streamed answer, measured in a separate process that collects garbage before each measurement.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const PROGRAM = fileURLToPath(new URL('answer-memory.test-kit.ts', import.meta.url))

async function countBytes(answers: number, chars: number): Promise<{ peak: number; retained: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-memory-'))
  const flags = ['--conditions=@baton/source', '--no-warnings', '--expose-gc', '--max-old-space-size=1024']
  const command = [...flags, PROGRAM, String(answers), String(chars), join(folder, 'kept.db')]
  const { stdout } = await promisify(execFile)(process.execPath, command)
  await rm(folder, { recursive: true })
  return JSON.parse(stdout) as { peak: number; retained: number } // the program prints it
}

const UTF16_BYTES = 2

test('a streamed answer of 7,000,000 characters takes at most six times its size, and leaves its text in the history', async () => {
  const { peak, retained } = await countBytes(1, 7_000_000)
  expect(peak).toBeLessThanOrEqual(6 * UTF16_BYTES * 7_000_000)
  expect(retained).toBeLessThanOrEqual(UTF16_BYTES * 7_000_000)
})

test('a conversation of 30 long answers holds no more than their texts', async () => {
  const { retained } = await countBytes(30, 150_000)
  expect(retained).toBeLessThanOrEqual(UTF16_BYTES * 30 * 150_000)
})
