// Tools of three published packages, unchanged: the program starts servers and loads large libraries.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const PROGRAM = fileURLToPath(new URL('published-tools.ts', import.meta.url))

test('published-tools.ts runs and prints what it should', async () => {
  const command = ['--conditions=@baton/source', PROGRAM]
  const { stdout } = await promisify(execFile)(process.execPath, command, { timeout: 180_000 })
  expect(stdout).toContain(
    'bash ok {"stdout":"2\\n","stderr":"","exitCode":0}\nreadFile ok {"content":"buy milk\\ncall Ann\\n"}\necho ok [{"type":"text","text":"Echo: Hello!"}]\nwebSearch error',
  )
})
