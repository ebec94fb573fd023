// Rewinding, rewording and asking again; withdrawing; configuring a session; its copies.
import { expect } from 'vitest'
import type { Session } from '@baton/core'
import { Conversation } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { act, listCalls, textsTold } from './situation-parts.ts'
import type { Situations } from './situation.ts'

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

async function listTexts(session: Session): Promise<readonly string[]> {
  const { messages } = await session.messages()
  return messages.map((message) =>
    message.role === 'user'
      ? message.parts.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('')
      : message.steps.map(({ text }) => text).join(' '),
  )
}

export const REWIND_SITUATIONS: Situations = {
  'a message is said otherwise, and an answer is asked for once more': async ({ createWorld }) => {
    const world = await createWorld({ steps: (_, call) => ({ text: `answer ${call}` }) })
    const session = await world.open()
    for (const text of ['one', 'two', 'three']) await world.time.until(session.send(text, { inputId: text }).answer)
    const edited = await world.time.until(session.rewind({ message: 'two', replace: 'two, but other', inputId: 'new' }))
    expect(edited).toMatchObject({ type: 'accepted', turn: 'new' })
    expect((await world.time.until(session.turn('new').answer)).text).toBe('answer 3')
    expect(textsTold(world.model, 'user')).toEqual(['one', 'two, but other'])
    const again = await world.time.until(session.rewind({ message: 't4', again: true }))
    expect(again).toMatchObject({ type: 'accepted', turn: 'new' })
    expect((await world.time.until(session.turn('new').answer)).text).toBe('answer 4')
    expect(await listTexts(session)).toEqual(['one', 'answer 0', 'two, but other', 'answer 4'])
    await expect(session.rewind({ message: 't1', replace: 'x' })).rejects.toMatchObject({ code: 'invalid_event' })
    await expect(session.rewind({ message: 'nobody’s' })).rejects.toMatchObject({ code: 'unknown_input' })
    // Takes back only an answer: the question stays.
    await session.rewind({ message: 't5' })
    expect(await listTexts(session)).toEqual(['one', 'answer 0', 'two, but other'])
  },
  'a rewind that is sent again is answered as before, and does nothing': async ({ createWorld }) => {
    const world = await createWorld({ steps: (_, call) => ({ text: `answer ${call}` }) })
    const session = await world.open()
    for (const text of ['one', 'two']) await world.time.until(session.send(text, { inputId: text }).answer)
    const said = { message: 'two', replace: 'two, but other', inputId: 'new' } as const
    const first = await world.time.until(session.rewind(said))
    expect(await world.time.until(session.rewind(said))).toEqual(first)
    await world.time.until(session.turn('new').answer)
    const asked = { message: 't3', again: true, inputId: 'again' } as const
    const second = await world.time.until(session.rewind(asked))
    expect(second).toMatchObject({ turn: 'new' })
    await world.time.until(session.turn('new').answer)
    expect(await world.time.until(session.rewind(asked))).toEqual(second)
    const taken = { message: 'new', inputId: 'taken' } as const
    const third = await world.time.until(session.rewind(taken))
    expect(await world.time.until(session.rewind(taken))).toEqual(third)
    expect(await listTexts(session)).toEqual(['one', 'answer 0'])
  },
  'what is taken back at once was said before': async ({ createWorld }) => {
    const world = await createWorld({ steps: (_, call) => ({ text: `answer ${call}`, pieceMs: 100 }) })
    const session = await world.open()
    const first = session.send('a', { inputId: 'a' })
    const edited = await world.time.until(session.rewind({ message: 'a', replace: 'b', interrupt: true, inputId: 'b' }))
    expect(edited).toMatchObject({ type: 'accepted', turn: 'b' })
    expect((await world.time.until(first.answer)).stop).toBe('cancelled')
    const second = session.turn('b')
    await world.time.until(second.answer)
    // Its events alone rebuild the conversation.
    const conversation = new Conversation()
    for await (const event of second) conversation.take(event)
    expect(conversation.messages().map(({ role }) => role)).toEqual(['user', 'assistant'])
    const waits = session.send('slow', { inputId: 'slow' })
    session.send('later', { inputId: 'later' }).answer.catch(() => {})
    expect(await session.withdraw('later')).toMatchObject({ type: 'accepted' })
    await world.time.until(waits.answer)
  },
  'a message behind the window comes back with all that it said': async ({ createWorld }) => {
    const world = await createWorld({
      window: { exchanges: 2, summarise: false },
      steps: (_, call) => ({ text: `answer ${call}` }),
    })
    const session = await world.open()
    const image = { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: PIXEL } } as const
    await world.time.until(session.send([{ type: 'text', text: 'zero' }, image], { inputId: 'zero' }).answer)
    for (const text of ['one', 'two', 'three', 'four'])
      await world.time.until(session.send(text, { inputId: text }).answer)
    expect(textsTold(world.model, 'user')).toEqual(['three', 'four'])
    await world.time.until(session.rewind({ message: 'one', replace: 'one again', inputId: 'new' }))
    await world.time.until(session.turn('new').answer)
    expect(textsTold(world.model, 'user')).toEqual(['zero[image]', 'one again'])
    expect(textsTold(world.model, 'assistant')).toEqual(['answer 0'])
    expect(await listTexts(session)).toEqual(['zero[image]', 'answer 0', 'one again', 'answer 5'])
  },
  'the first message of a conversation, behind the window, is asked again with its words': async ({ createWorld }) => {
    const world = await createWorld({
      window: { exchanges: 2, summarise: false },
      steps: (_, call) => ({ text: `answer ${call}` }),
    })
    const session = await world.open()
    for (const text of ['one', 'two', 'three']) await world.time.until(session.send(text, { inputId: text }).answer)
    expect(textsTold(world.model, 'user')).toEqual(['two', 'three'])
    await world.time.until(session.rewind({ message: 'one', again: true }))
    expect((await world.time.until(session.turn('one').answer)).text).toBe('answer 3')
    expect(textsTold(world.model, 'user')).toEqual(['one'])
    expect(await listTexts(session)).toEqual(['one', 'answer 3'])
  },
  'a running turn is ended by a rewind that interrupts, and by no other': async ({ createWorld }) => {
    const world = await createWorld({
      tools: [act(() => new Promise(() => {}))],
      steps: [listCalls('act'), { text: 'a long answer', pieceMs: 100 }, { text: 'short' }],
    })
    const session = await world.open()
    const turn = session.send('go', { inputId: 'go' })
    await world.time.settle()
    await expect(session.rewind({ message: 'go', again: true })).rejects.toMatchObject({ code: 'turn_in_progress' })
    expect(await session.rewind({ message: 'go', again: true, interrupt: true })).toMatchObject({ type: 'accepted' })
    expect((await world.time.until(turn.answer)).stop).toBe('cancelled')
    await world.time.pass(150)
    const edited = await session.rewind({ message: 'go', replace: 'quick', interrupt: true, inputId: 'quick' })
    expect(edited).toMatchObject({ type: 'accepted', turn: 'quick' })
    expect((await world.time.until(session.turn('quick').answer)).text).toBe('short')
    expect(textsTold(world.model, 'user')).toEqual(['quick'])
    expect(await listTexts(session)).toEqual(['quick', 'short'])
  },
  'of several inputs of an exchange the later ones are taken back': async ({ createWorld }) => {
    const gate = Promise.withResolvers<string>()
    const world = await createWorld({
      tools: [act(() => gate.promise)],
      steps: [{ text: 'First.', ...listCalls('act') }, { text: 'Both.' }, { text: 'Other.' }],
    })
    const session = await world.open()
    const turn = session.send('one', { inputId: 'one' })
    await world.time.settle()
    session.send('and two', { inputId: 'two', delivery: 'steer' }).answer.catch(() => {})
    gate.resolve('x')
    await world.time.until(turn.answer)
    await world.time.until(session.rewind({ message: 'two', replace: 'and three', inputId: 'three' }))
    await world.time.until(session.turn('three').answer)
    expect(textsTold(world.model, 'user')).toEqual(['one', 'and three'])
    expect(await listTexts(session)).toEqual(['one', 'First.', 'and three', 'Other.'])
  },
  'an input that waits is withdrawn, alone or with an interrupt': async ({ createWorld }) => {
    const world = await createWorld({ steps: [{ text: 'slow', pieceMs: 1000 }, { text: 'fast' }] })
    const session = await world.open()
    const turn = session.send('go')
    const waits = ['a', 'b', 'c'].map((inputId) => session.send(inputId, { inputId }))
    await world.time.settle()
    expect(await session.withdraw('a')).toMatchObject({ type: 'accepted' })
    await expect(session.withdraw('a')).rejects.toMatchObject({ code: 'unknown_input' })
    expect((await session.info()).queued.map(({ inputId }) => inputId)).toEqual(['b', 'c'])
    await session.interrupt({ queue: 'withdraw' })
    expect((await world.time.until(turn.answer)).outcome).toBe('interrupted')
    for (const one of waits) await expect(one.answer).rejects.toMatchObject({ code: 'cancelled' })
    expect((await session.info()).queued).toEqual([])
    expect((await world.time.until(session.send('now').answer)).text).toBe('fast')
  },
  'a model that is not known is refused, by a turn and by a configuration': async ({ createWorld }) => {
    const create = (id: string) => createScriptedModel({ id, steps: () => ({ text: id }) })
    const models = [create('one/model'), create('two/model')]
    const world = await createWorld({ steps: [], models })
    const session = await world.open()
    await expect(session.configure({ model: 'no/such' })).rejects.toMatchObject({
      code: 'unknown_model',
      message: expect.stringContaining('one/model, two/model'),
    })
    await expect(session.send('go', { model: 'no/such' }).answer).rejects.toMatchObject({ code: 'unknown_model' })
    expect(await session.configure({ model: 'two/model', settings: { temperature: 0.5 } })).toMatchObject({
      type: 'accepted',
    })
    expect((await world.time.until(session.send('go').answer)).text).toBe('two/model')
    expect(models[1]?.requests[0]?.settings.temperature).toBe(0.5)
    expect((await session.info()).model).toBe('two/model')
    await expect(session.configure({ settings: { temperature: 'hot' } as never })).rejects.toMatchObject({
      code: 'invalid_event',
    })
  },
}
