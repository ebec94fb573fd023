// The programs of docs/observability.md run.
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

test('the spans of a turn are in the trace of who asked', async () => {
  const lines = (await run('traces.ts')).trim().split('\n')
  const names = lines.map((line) => line.split(' ').slice(1).join(' '))
  expect(names).toContain('invoke_agent cities')
  expect(names).toContain('execute_tool city.population')
  expect(lines.filter((line) => !line.startsWith('0af7651916cd43dd8448eb211c80319c '))).toEqual([])
})

test('the numbers of a turn are told', async () => {
  expect(await run('metrics.ts')).toContain('baton_turns_total{agent="parrot",outcome="answered"} 1')
})
