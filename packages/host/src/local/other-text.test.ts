// A model that streams text different from its answer: readers of the events end up with the answer's text.
import type { Model } from '@baton/core'
import { defineAgent } from '@baton/core'
import { expect, test } from 'vitest'
import { createManualTime, noUnhandledRejections } from './test-world.test-kit.ts'
import { createHost } from './create-host.ts'

noUnhandledRejections()

const END = { finish: 'end', usage: {}, model: 'm' } as const

test.each([
  ['thoughts, then the answer', ['I guess sun.', ' </think> It is'], 'It is sunny.'],
  ['a longer text', ['It is sunny and warm.'], 'It is sunny'],
  ['nothing of it', ['Rain.'], 'Sun.'],
  ['the same', ['It is', ' sunny.'], 'It is sunny.'],
])('%s', async (_situation, pieces, text) => {
  const time = createManualTime()
  const model: Model = {
    id: 'm/m',
    provider: 'm',
    capabilities: { tools: 'native', images: false },
    run: async (_request, sink) => {
      for (const piece of pieces) {
        sink({ type: 'text-delta', text: piece })
        await Promise.resolve()
      }
      return { ...END, parts: [{ type: 'text', text }] }
    },
  }
  const host = createHost({ environment: time.environment, agent: defineAgent({ name: 'a', model }) })
  const session = await time.until(host.session('s'))
  const turn = session.send('Go')
  let shown = ''
  const following = (async () => {
    for await (const event of turn) {
      if (event.type === 'text') shown = shown.slice(0, event.offset) + event.text
      if (event.type === 'text-cut') shown = shown.slice(0, event.keepChars)
    }
  })()
  const answer = await time.until(turn.answer)
  await time.until(following)
  expect([shown, answer.text]).toEqual([text, text])
  await time.until(host.stop())
})
