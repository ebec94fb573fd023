// A client of version 2 in front of an agent with calls in the background: it shows, lists and cancels them, and runs its own.
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createMemoryStore } from '@baton/host'
import { expect, onTestFinished, test } from 'vitest'
import { open, serveAgent, until } from './session.test-kit.ts'

const EMPTY = { type: 'object', properties: {} } as const

async function serveClerk(name: string, execute?: () => Promise<string>) {
  const job = tool({
    name,
    description: name,
    input: EMPTY,
    background: true,
    timeoutMs: 3_600_000,
    ...(execute && { execute }),
  })
  const model = createScriptedModel({
    steps: [{ calls: [{ name, arguments: {} }] }, { text: 'It runs.' }, { text: 'It is ready.' }],
  })
  const agent = defineAgent({ name: 'clerk', model, tools: [job] })
  const server = await serveAgent({ agent, store: createMemoryStore() })
  onTestFinished(() => server.stop())
  return server
}

test('a call in the background is open after its answer, is listed, and ends when it is cancelled', async () => {
  const { url } = await serveClerk('report', () => new Promise<string>(() => {}))
  const client = open({ url, session: 's' })
  client.send('Write.')
  await until(client, ({ calls, messages }) => calls.length === 1 && JSON.stringify(messages).includes('It runs.'))
  const [task] = await client.tasks()
  expect(task).toMatchObject({
    name: 'report',
    status: 'running',
    task: 'running',
    begunMs: expect.any(Number) as number,
  })
  await client.cancel(task?.callId ?? '')
  await until(client, ({ calls }) => calls.length === 0)
  expect(await client.tasks()).toMatchObject([{ status: 'settled', task: 'settled', result: { type: 'unknown' } }])
  await expect(client.cancel(task?.callId ?? '')).rejects.toMatchObject({ code: 'call_over' })
  client.close()
})

test('an app runs its tool in the background, and the outcome wakes the session', async () => {
  const { url } = await serveClerk('place')
  const client = open({ url, session: 's', tools: { place: () => 'Rome' } })
  client.send('Where?')
  await until(client, ({ messages }) => JSON.stringify(messages).includes('It is ready.'))
  expect(await client.tasks()).toMatchObject([{ runs: 'client', result: { type: 'ok' } }])
  client.close()
})
