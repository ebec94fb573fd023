// The media type of a picture where it enters a session: in a user's message, and in a tool's result.
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createHost } from './create-host.ts'

const JPEG = { type: 'base64', data: '/9j/4AAQSkZJRg==' } as const

test('the first bytes decide, whatever a user or a tool says of them', async () => {
  const model = createScriptedModel({
    steps: [{ calls: [{ name: 'shoot', arguments: {} }] }, { text: 'A dot.' }],
    capabilities: { images: true },
  })
  const shoot = tool({
    name: 'shoot',
    description: 'Takes a picture.',
    input: { type: 'object', properties: {} },
    effect: 'pure',
    execute: () => ({ content: [{ type: 'image', mediaType: 'IMAGE/X-PNG; q=1', source: JPEG }] as const }),
  })
  const host = createHost({ agent: defineAgent({ name: 'a', model, tools: [shoot] }) })
  const session = await host.session('s')
  await session.send([{ type: 'image', mediaType: 'image/png', source: JPEG }]).answer
  await host.stop()
  const picture = { type: 'image', mediaType: 'image/jpeg', source: JPEG }
  expect(model.requests[1]?.messages).toMatchObject([
    { role: 'user', parts: [picture] },
    { role: 'assistant' },
    { role: 'tool', parts: [{ content: [picture] }] },
  ])
})
