// The programs of docs/testing-your-agent.md run.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

async function run(name: string): Promise<string> {
  const path = fileURLToPath(new URL(name, import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=@baton/source', path], {
    timeout: 180_000,
  })
  return stdout
}

test('what was recorded is replayed, and a changed request is named', async () => {
  const [answers = '', refused] = (await run('record.ts')).split(/^(?=request 1)/m)
  const half = answers.length / 2
  expect(answers.slice(0, half).trim()).not.toBe('')
  expect(answers.slice(half)).toBe(answers.slice(0, half))
  expect(refused).toContain('instructions was "Be kind.", but is "Be rude."')
})

test('nobody is charged twice in twenty worlds', async () => {
  expect(await run('simulate.ts')).toBe('20 worlds, with crashes, nothing broke\n')
})
