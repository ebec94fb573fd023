// Output and exit codes of `baton replay` with an export and an agent file.
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createMemoryStore, exportSession } from '@baton/host'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Console } from '../console.ts'
import { run } from '../run.ts'

let folder: string
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-replay-'))
  const look = tool({
    name: 'look',
    description: 'l',
    input: { type: 'object' },
    effect: 'pure',
    execute: () => 'a cat',
  })
  const model = createScriptedModel({ steps: [{ calls: [{ name: 'look', arguments: {} }] }, { text: 'A cat.' }] })
  const store = createMemoryStore({ leaseMs: Infinity })
  const host = createHost({ store, agent: defineAgent({ name: 'seer', model, tools: [look] }) })
  await (await host.session('s')).send('What is it?').answer
  await host.stop()
  const lines: string[] = []
  for await (const line of exportSession(store, 's')) lines.push(`${line}\n`)
  writeFileSync(join(folder, 's.jsonl'), lines.join(''))
})
afterEach(() => rmSync(folder, { recursive: true }))

function writeAgent(tools: string): void {
  const core = JSON.stringify(new URL('../../../core/src/index.ts', import.meta.url).href)
  const text = `import { defineAgent, tool } from ${core}\nexport default defineAgent({ name: 'seer', tools: [${tools}] })\n`
  writeFileSync(join(folder, 'agent.ts'), text)
}

async function replay(...words: readonly string[]) {
  const written: string[] = []
  const noted: string[] = []
  const terminal: Console = {
    variables: {},
    folder,
    write: (text) => void written.push(text),
    note: (line) => void noted.push(line),
    onStop: () => () => {},
    onStray: () => () => {},
  }
  const code = await run(['replay', ...words], terminal)
  return { code, written: written.join(''), noted: noted.join('\n') }
}

test('an agent that does the same passes, and one without a tool fails with the place', async () => {
  writeAgent(
    "tool({ name: 'look', description: 'l', input: { type: 'object' }, effect: 'pure', execute: () => 'a dog' })",
  )
  const words = ['s.jsonl', '--agent', 'agent.ts']
  expect(await replay(...words)).toMatchObject({
    code: 0,
    written: 'session s: 1 turn was replayed, nothing differs\n',
  })
  const ran = await replay(...words, '--run-tools', 'pure', '--json')
  expect(ran.code).toBe(1)
  expect(JSON.parse(ran.written)).toMatchObject({ differences: [{ turn: 1, place: 'step 1, call 1, look' }] })
})

test('an agent without the tool fails, and the place is named', async () => {
  writeAgent('')
  expect(await replay('s.jsonl', '--agent', 'agent.ts')).toMatchObject({
    code: 1,
    written:
      'turn 1, step 1, call 1, look\n  - ok\n  + error, tool_not_found\nsession s: 1 turn was replayed, 1 difference\n',
  })
})

test.each([
  [[], 2, 'replay needs an exported session'],
  [['s.jsonl'], 2, 'replay needs the agent'],
  [['s.jsonl', '--agent', 'agent.ts', '--run-tools', 'some'], 2, 'one of none, pure, all, not "some"'],
  [['other.jsonl', '--agent', 'agent.ts'], 1, 'there is no file other.jsonl to replay'],
  [['agent.ts', '--agent', 'agent.ts'], 1, 'it is not JSON'],
] as const)('%j is refused', async (words, code, why) => {
  writeAgent('')
  const told = await replay(...words)
  expect(told.code).toBe(code)
  expect(told.noted).toContain(why)
})
