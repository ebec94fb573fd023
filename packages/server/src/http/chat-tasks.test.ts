// A chat page in front of an agent whose tool runs in the background: the answer ends without it, and a reload shows its end.
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { afterEach, expect, test } from 'vitest'
import { findTool, readTexts, settled, startChats } from './chat.test-kit.ts'

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

function createClerk() {
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
    steps: [{ calls: [{ name: 'report', arguments: {} }] }, { text: 'I write it.' }, { text: 'It is ready.' }],
  })
  return { agent: defineAgent({ name: 'clerk', model, tools: [report] }), finish: (text: string) => finish(text) }
}

test('the answer ends while the call runs; a page that is loaded again has its outcome and the answer that it woke', async () => {
  const { agent, finish } = createClerk()
  const { openPage, fetch, stop } = startChats({ agent })
  stops.push(stop)
  const page = openPage('c')
  await page.sendMessage({ text: 'Write a report.' })
  await settled(page, ({ status }) => status === 'ready')
  expect(readTexts(page).at(-1)).toContain('I write it.')
  expect(findTool(page, 'report')).toMatchObject({ state: 'output-available', output: { status: 'running' } })
  const load = async () =>
    JSON.stringify(
      ((await (await fetch('/api/sessions/c/messages')).json()) as { readonly messages: unknown }).messages,
    )
  expect(await load()).toContain('"status":"running"')
  finish('seven pages')
  await expect.poll(load).toContain('It is ready.')
  expect(await load()).toContain('"output":"seven pages"')
})
