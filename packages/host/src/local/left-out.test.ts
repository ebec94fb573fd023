// Content that a provider refuses is left out of later requests, so that the session can continue.
import type { ContentPart, ErrorCode, ImagePart, Message, ModelRequest, Session } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import type { ScriptedStep } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createMemoryStore } from '../stores/memory-store.ts'
import type { TestWorld } from './test-world.test-kit.ts'
import { act, listCalls, createManualTime, createTestWorld, noUnhandledRejections } from './test-world.test-kit.ts'

noUnhandledRejections()

const picture: ImagePart = {
  type: 'image',
  mediaType: 'image/png',
  source: { type: 'base64', data: Buffer.from('a picture').toString('base64') },
}
const look: ContentPart = { type: 'text', text: 'Look' }

function failing(code: ErrorCode): ScriptedStep {
  return { error: new BatonError({ code, message: 'image exceeds\n5 MB maximum', retryable: false }) }
}

function holdsMedia(message: Message): boolean {
  if (message.role === 'assistant') return false
  const parts: readonly ContentPart[] =
    message.role === 'user' ? message.parts : message.parts.flatMap(({ content }) => content)
  return parts.some((part) => part.type !== 'text')
}

/** A provider that refuses every request with a picture. */
function refusesPictures({ messages }: ModelRequest): ScriptedStep {
  return messages.some(holdsMedia) ? failing('model_invalid_request') : { text: 'fine' }
}

async function say(world: TestWorld, session: Session, input: string | readonly ContentPart[]): Promise<string> {
  const { answer } = session.send(input)
  return await world.time.until(
    answer.then(
      ({ text }) => text,
      (cause: unknown) => (cause as BatonError).code, // from a turn that failed
    ),
  )
}

function told(world: TestWorld): string {
  return JSON.stringify(world.model.requests.at(-1)?.messages)
}

test('after a picture that the provider refuses, the next turn goes on, also in another process', async () => {
  const store = createMemoryStore()
  const time = createManualTime()
  const world = createTestWorld({ store, time, steps: refusesPictures })
  const session = await world.open()
  expect(await say(world, session, [look, picture])).toBe('model_invalid_request')
  expect(await say(world, session, 'Never mind')).toBe('fine')
  expect(world.model.requests.at(-1)?.messages[0]?.parts).toEqual([
    look,
    { type: 'text', text: '[An image was left out: the provider refused it (image exceeds 5 MB maximum)]' },
  ])
  await time.until(world.host.stop())
  const next = createTestWorld({ store, time, steps: refusesPictures })
  expect(await say(next, await next.open(), 'Still there?')).toBe('fine')
  expect(told(next)).toContain('An image was left out')
})

test('the next turn works after the provider refused an image in a tool result', async () => {
  const world = createTestWorld({
    tools: [act(() => ({ content: [look, picture] }))],
    steps: (request, call) => (call === 0 ? listCalls('act') : refusesPictures(request)),
  })
  const session = await world.open()
  expect(await say(world, session, 'go')).toBe('model_invalid_request')
  expect(await say(world, session, 'And now?')).toBe('fine')
  expect(told(world)).toContain('[An image was left out: the provider refused it')
})
