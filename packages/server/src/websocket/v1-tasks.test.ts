// An app of version 1 in front of an agent with a client tool in the background: it runs the call as any other.
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { connectApp, startForTest } from './test-server.test-kit.ts'

test('the answer is spoken before the result, and the result wakes the session', async () => {
  const input = { type: 'object', properties: {} } as const
  const place = tool({ name: 'place', description: 'place', input, effect: 'once', background: true })
  const model = createScriptedModel({
    steps: [{ calls: [{ name: 'place', arguments: {} }] }, { text: 'I look.' }, { text: 'You are in Rome.' }],
  })
  const { url } = await startForTest({ agent: defineAgent({ name: 'guide', model, tools: [place] }) })
  const app = await connectApp(url)
  app.send('user.audio.transcript.final', { text: 'Where?' })
  const { payload } = await app.until(({ type, payload: { name } }) => type === 'tool.call' && name === 'place')
  const first = await app.until(({ type }) => type === 'assistant.speech.final')
  expect(first.payload['text']).toBe('I look.')
  app.send('tool.result', { callId: payload['callId'], result: 'Rome' })
  const second = await app.until(
    ({ type, payload: { text } }) => type === 'assistant.speech.final' && text === 'You are in Rome.',
  )
  expect(second.payload['text']).toBe('You are in Rome.')
  app.socket.close()
})
