// The programs of docs/observability.md run, and the page shows them as they are.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const ROOT = new URL('../../', import.meta.url)

async function run(name: string): Promise<string> {
  const path = fileURLToPath(new URL(name, import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=@baton/source', path], {
    timeout: 15_000,
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

test('the page shows the programs as they are', async () => {
  const text = await readFile(new URL('docs/observability.md', ROOT), 'utf8')
  const blocks = [...text.matchAll(/<!-- shown: ([\w./-]+) -->\n```ts\n([^]*?)```\n/g)]
  expect(blocks.map(([, path]) => path)).toEqual(['examples/library/traces.ts', 'examples/library/metrics.ts'])
  for (const [, path = '', code] of blocks) expect(code).toBe(await readFile(new URL(path, ROOT), 'utf8'))
})
