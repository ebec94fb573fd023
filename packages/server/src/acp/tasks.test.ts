// An editor in front of an agent whose tool runs in the background: the call is one call until its end, after its prompt too.
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { startEditor } from './acp.test-kit.ts'

test('a call that continues after its prompt is updated, and not shown as a new one', async () => {
  let finish: (text: string) => void = () => {}
  const report = tool({
    name: 'report',
    description: 'Writes a report',
    input: { type: 'object', properties: {} },
    background: true,
    timeoutMs: 3_600_000,
    execute: () => new Promise<string>((resolve) => (finish = resolve)),
  })
  const model = createScriptedModel({
    steps: [{ calls: [{ name: 'report', arguments: {} }] }, { text: 'I write it.' }, { text: ' It is ready.' }],
  })
  const editor = await startEditor({ agent: defineAgent({ name: 'clerk', model, tools: [report] }) })
  const session = await editor.open()
  expect(await editor.prompt(session, 'Write a report.')).toBe('end_turn')
  const shown = () => editor.told.flatMap(({ update }) => ('toolCallId' in update ? [update] : []))
  expect(shown().at(-1)).toMatchObject({ status: 'in_progress' })
  finish('seven pages')
  await editor.until(() => editor.text().includes('It is ready.'))
  expect(shown().filter(({ sessionUpdate }) => sessionUpdate === 'tool_call')).toHaveLength(1)
  expect(shown().at(-1)).toMatchObject({ sessionUpdate: 'tool_call_update', status: 'completed' })
  await editor.stop()
})
