// Heard words are counted in the answer at the moment of the interrupt, whatever happens while they are counted.
import { frontOf } from '@baton/core/internal'
import { defineAgent } from '@baton/core'
import type { ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { connectApp } from './test-world.test-kit.ts'
import { createHost } from './create-host.ts'

/** Starts an answer and waits until its first sentence has been streamed. */
async function speak(steps: readonly ScriptedStep[]) {
  const model = createScriptedModel({ steps })
  const host = createHost({ agent: defineAgent({ name: 'a', model }) })
  const session = await host.session('s')
  const turn = session.send('go')
  turn.answer.catch(() => {})
  for await (const event of turn) if (event.type === 'text' && event.offset + event.text.length >= 15) break
  return { host, session, model }
}

test('a voice report never delays the interrupt, whenever it arrives', async () => {
  const words = { type: 'words', words: 2 } as const
  for (let ticks = 0; ticks < 60; ticks += 1) {
    const { host, session } = await speak([{ text: 'One two three. Four.', hangs: 'until-aborted' }])
    const voice = connectApp(session, { connection: 'voice' })
    await voice.display(1, 1)
    const interrupted = session.interrupt({ heard: words })
    for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve()
    await Promise.all([interrupted, voice.display(1, 4)])
    expect((await session.messages()).messages.at(-1)).toMatchObject({ steps: [{ text: 'One two' }] })
    await host.stop()
  }
})

test.each([
  { type: 'words', words: 1 },
  { type: 'sentence', index: 0 },
] as const)('nothing was heard of an answer that began while %o of the one before was counted', async (heard) => {
  const writing = { text: 'One two three. Four.', hangs: 'until-aborted' } as const
  const { host, session, model } = await speak([writing, writing, { text: 'Well.' }])
  // The first one's words are counted while the second one ends that turn and starts the next.
  const late = session.interrupt({ heard })
  const next = session.send('next', { delivery: 'interrupt', heard: { type: 'none' } })
  next.answer.catch(() => {})
  await late
  await session.send('last', { delivery: 'interrupt' }).answer
  const told = model.requests.at(-1)?.messages.flatMap((message) => (message.role === 'assistant' ? message.parts : []))
  expect(told).toEqual([])
  await host.stop()
})

test('a session without answers has no heard words or sentences', async () => {
  const model = createScriptedModel({ steps: [{ text: 'Well.' }] })
  const host = createHost({ agent: defineAgent({ name: 'a', model }) })
  const session = await host.session('s')
  await session.interrupt({ heard: { type: 'words', words: 2 } })
  const first = { type: 'sentence', index: 0 } as const
  await expect(session.interrupt({ heard: first })).rejects.toMatchObject({ code: 'invalid_event' })
  await expect(session.send('hm', { delivery: 'interrupt', heard: first }).answer).rejects.toMatchObject({
    code: 'invalid_event',
  })
  expect((await session.send('go', { delivery: 'interrupt', heard: { type: 'words', words: 9 } }).answer).text).toBe(
    'Well.',
  )
  await host.stop()
})

test('an input stays behind the one whose words are still being counted', async () => {
  const writing = { text: 'One two three. Four.', hangs: 'until-aborted' } as const
  const { host, session, model } = await speak([writing, { text: 'Well.' }, { text: 'Well.' }])
  const say = (inputId: string, more: object = {}) =>
    frontOf(session).submit({ type: 'user-input', inputId, parts: [{ type: 'text', text: inputId }], ...more })
  const heard = { type: 'words', words: 2 }
  await Promise.all([say('first', { delivery: 'interrupt', heard }), say('second')])
  await session.turn('second').answer
  const told = model.requests.at(-1)?.messages.flatMap((message) => (message.role === 'user' ? message.parts : []))
  expect(told).toMatchObject(['go', 'first', 'second'].map((text) => ({ text })))
  await host.stop()
})

test('a sentence without words, such as a smile, is only heard once it was played completely', async () => {
  const { host, session, model } = await speak([
    { text: 'One two three.\n👍', hangs: 'until-aborted' },
    { text: 'Well.' },
  ])
  await session.interrupt({ heard: { type: 'sentence', index: 1, words: 0 } })
  await session.send('next').answer
  const told = model.requests.at(-1)?.messages.flatMap((message) => (message.role === 'assistant' ? message.parts : []))
  expect(told).toMatchObject([{ text: 'One two three.' }])
  await host.stop()
})

test.each([
  ['See [this](https://a.is/it) a lot. More.', 3, 'See [this](https://a.is/it) a'],
  ['Go to https://is.test/and-so and it is a fact. More.', 3, 'Go to https://is.test/and-so and'],
  ['An **un**believable <b>thing</b> it is. More.', 2, 'An **un**believable'],
  ['An <abbr>a</abbr> b. More.', 2, 'An <abbr>a'],
  ['Read `is_it` as it is, _as_ a name. More.', 5, 'Read `is_it` as it is'],
] as const)('words are found behind what is not spoken: %s', async (text, words, kept) => {
  const { host, session, model } = await speak([{ text, hangs: 'until-aborted' }, { text: 'Well.' }])
  await session.interrupt({ heard: { type: 'words', words } })
  await session.send('next').answer
  const told = model.requests.at(-1)?.messages.flatMap((message) => (message.role === 'assistant' ? message.parts : []))
  expect(told).toMatchObject([{ text: kept }])
  await host.stop()
})
