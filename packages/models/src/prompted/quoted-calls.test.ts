// Sessions with a prompted model: calls that it quotes never run, and its mistakes cost a step, not the turn.
import { defineAgent, tool } from '@baton/core'
import type { SessionRecord } from '@baton/core/machine'
import type { ScriptedModel, ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createMemoryStore } from '@baton/host'
import { expect, test } from 'vitest'
import { withPromptedTools } from './index.ts'

interface Ran {
  /** The paths that were removed. */
  readonly removed: readonly unknown[]
  readonly text: string
  readonly model: ScriptedModel
  readonly records: readonly SessionRecord[]
}

async function run(steps: readonly ScriptedStep[]): Promise<Ran> {
  const removed: unknown[] = []
  const remove = tool({
    name: 'remove',
    description: 'Removes.',
    input: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    effect: 'once',
    execute: (input) => {
      removed.push(input)
      return 'removed'
    },
  })
  const model = createScriptedModel({ id: 'm', steps })
  const store = createMemoryStore()
  const host = createHost({
    agent: defineAgent({ name: 'a', model: withPromptedTools(model), tools: [remove] }),
    store,
  })
  const session = await host.session('s')
  const { text } = await session.send('go').answer
  await host.stop()
  const records: SessionRecord[] = []
  for await (const record of store.read('s', 0)) records.push(record)
  return { removed, text, model, records }
}

const CALL = '<tool_call>\n{"name": "remove", "arguments": {"path": "/"}}\n</tool_call>'

test('a call that an answer quotes in a code block does not run', async () => {
  const said = `I would write this:\n\n\`\`\`xml\n${CALL}\n\`\`\`\n\nShall I?`
  const { removed, text, model } = await run([{ text: said }])
  expect([removed, text, model.requests.length]).toEqual([[], said, 1])
})

test('an answer that mentions the tag is an answer', async () => {
  const said = 'A call begins with <tool_call> and ends with </tool_call>, as you know.'
  const { text, model } = await run([{ text: said }])
  expect([text, model.requests.length]).toEqual([said, 1])
})

test('a trailing comma is repaired, and the log says so', async () => {
  const { removed, text, model, records } = await run([{ text: CALL.replace('"/"', '"/",') }, { text: 'Done.' }])
  expect([removed, text, model.requests.length]).toEqual([[{ path: '/' }], 'Done.', 2])
  expect(JSON.stringify(records)).toContain('"repairs":["trailing-comma"]')
})

test('a call that cannot be read goes back to the model, which writes it again', async () => {
  const wrong = '<tool_call>\n{"name": "remove", "arguments": {path: /}}\n</tool_call>'
  const { removed, text, model } = await run([{ text: wrong }, { text: CALL }, { text: 'Done.' }])
  expect([removed, text, model.requests.length]).toEqual([[{ path: '/' }], 'Done.', 3])
  const told = JSON.stringify(model.requests[1]?.messages.at(-1))
  expect(told).toContain('could not be read')
  expect(told).toContain('Write it again')
})

test('a call that was cut off never runs, and the model is told', async () => {
  for (const finish of ['end', 'max-tokens'] as const) {
    const { removed, text, model } = await run([{ text: CALL.slice(0, -16), finish }, { text: 'Done.' }])
    expect([removed, text]).toEqual([[], 'Done.'])
    expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain('nothing was executed')
  }
})

test('a call of 1 MiB runs, and a longer one goes back to the model', async () => {
  const callOf = (chars: number): string => {
    const rest = '\n{"name": "remove", "arguments": {"path": ""}}\n'.length + '</tool_call>'.length
    return CALL.replace('"/"', `"${'x'.repeat(chars - rest)}"`)
  }
  const whole = await run([{ text: callOf(1_048_576) }, { text: 'Done.' }])
  expect([whole.removed.length, whole.text]).toEqual([1, 'Done.'])
  const long = await run([{ text: callOf(1_048_577) }, { text: 'Then not.' }])
  expect([long.removed.length, long.text]).toEqual([0, 'Then not.'])
  expect(JSON.stringify(long.model.requests[1]?.messages.at(-1))).toContain('longer than 1048576 characters')
})
