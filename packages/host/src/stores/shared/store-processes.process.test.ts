// A list of processes that never answers its reader.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

/** Milliseconds until a reading process counts as blocked. */
const HELD_MS = 180_000

test.skipIf(process.platform === 'win32')('a pipe in the place of the list holds nobody up', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-processes-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'store.db')
  execFileSync('mkfifo', ['-m', '600', `${path}.processes`])
  const program = `
    import { readProcesses } from ${JSON.stringify(new URL('./store-processes.ts', import.meta.url).href)}
    console.log('reading')
    console.log(JSON.stringify(readProcesses(${JSON.stringify(path)})))`
  const words = ['--conditions=@baton/source', '--no-warnings', '--input-type=module', '-e', program]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'], cwd: import.meta.dirname })
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  let held: NodeJS.Timeout | undefined
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    said += piece
    held ??= setTimeout(() => child.kill('SIGKILL'), HELD_MS)
  })
  await once(child, 'close')
  clearTimeout(held)
  expect(said).toBe('reading\n{"guests":[]}\n')
})
