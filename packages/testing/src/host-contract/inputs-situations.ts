// Inputs of a session other than plain messages: several inputs in one turn, overheard speech, urgent events,
// rewinding, another model, a title.
import { createScriptedModel } from '@baton/core/testing'
import { expect } from 'vitest'
import { act, listCalls, textsTold } from './situation-parts.ts'
import type { Situations } from './situation.ts'

export const INPUT_SITUATIONS: Situations = {
  'inputs of all deliveries: one that steers takes along what waited before it, one that interrupts ends the turn':
    async ({ createWorld }) => {
      const gate = Promise.withResolvers<string>()
      const world = await createWorld({
        tools: [act(() => gate.promise, { effect: 'idempotent' })],
        steps: [listCalls('act'), { text: 'slow words', pieceMs: 1000 }, { text: 'after all' }],
      })
      const session = await world.open()
      const first = session.send('go')
      await world.time.settle()
      const queued = session.send('queued', { delivery: 'queue' })
      const steered = session.send('steered', { delivery: 'steer' })
      await world.time.settle()
      gate.resolve('found')
      await world.time.pass(1500)
      const interrupting = session.send('stop that', { delivery: 'interrupt' })
      const answers = await world.time.until(
        Promise.all([first.answer, queued.answer, steered.answer, interrupting.answer]),
      )
      expect(answers.map(({ outcome }) => outcome)).toEqual(['interrupted', 'interrupted', 'interrupted', 'answered'])
      expect(textsTold(world.model, 'user')).toEqual(['go', 'queued', 'steered', 'stop that'])
      expect(textsTold(world.model, 'assistant').at(-1)).toBe('slow ')
    },
  'an input that interrupts a running tool is answered at once, and the tool’s result is told late': async ({
    createWorld,
  }) => {
    const gate = Promise.withResolvers<string>()
    const world = await createWorld({
      tools: [act(() => gate.promise, { effect: 'once' })],
      steps: [listCalls('act'), { text: 'well' }, { text: 'I see' }],
    })
    const session = await world.open()
    const turn = session.send('go')
    await world.time.settle()
    const next = session.send('forget it', { delivery: 'interrupt' })
    expect((await world.time.until(turn.answer)).outcome).toBe('interrupted')
    expect((await world.time.until(next.answer)).text).toBe('well')
    gate.resolve('paid')
    await world.time.settle()
    await world.time.until(session.send('and?').answer)
    expect(textsTold(world.model, 'user').at(-1)).toMatch(/paid[^]*and\?/)
  },
  'an event of a kind that the agent declares is one input, and any other is refused before it is stored': async ({
    createWorld,
  }) => {
    const data = { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] } as const
    const world = await createWorld({ steps: () => ({ text: 'noted' }), events: { 'order.paid': { data } } })
    const session = await world.open()
    const paid = { name: 'order.paid', detail: { order: 'A-1' }, inputId: 'shop:1' }
    const first = await world.time.until(session.takeEvent(paid))
    expect(await world.time.until(session.turn('shop:1').answer)).toMatchObject({ text: 'noted' })
    expect(await world.time.until(session.takeEvent(paid))).toMatchObject({ pos: first.pos })
    const wrong = [
      { name: 'order.paid', detail: { order: 7 }, inputId: 'shop:2' },
      { name: 'order.lost', detail: {}, inputId: 'shop:3' },
    ]
    for (const event of wrong)
      for (const say of [session.takeEvent, session.notify])
        await expect(world.time.until(say(event))).rejects.toMatchObject({ code: 'invalid_event' })
    const accepted = await world.facts('input-accepted')
    expect(accepted.map(({ inputId }) => inputId)).toEqual(['shop:1'])
    expect(textsTold(world.model, 'user').join('\n')).toContain('[Event] order.paid')
  },
  'what a program hears, what it notifies of, and how it controls the session': async ({ createWorld }) => {
    const world = await createWorld({ steps: () => ({ text: 'noted' }) })
    const session = await world.open()
    expect(await session.hear({ speaker: 'bob', text: 'we talk' })).toMatchObject({ type: 'accepted' })
    await world.time.until(session.hear({ speaker: 'ann', text: 'about you', inputId: 'h' }))
    // Repeating the id does nothing; the event takes the batch along.
    await world.time.until(session.hear({ speaker: 'ann', text: 'about you', inputId: 'h' }))
    await world.time.until(session.notify({ name: 'offer', detail: { cents: 5 }, message: 'Bob made an offer.' }))
    await world.time.pass(100)
    expect(world.model.requests).toHaveLength(1)
    const told = textsTold(world.model, 'user').join('\n')
    expect(told).toMatch(/\[Transcript\] bob: we talk\n\[Transcript\] ann: about you\n\[Event\] offer/)
    expect(told.match(/about you/g)).toHaveLength(1)
    await world.time.until(session.control('stop'))
    await expect(world.time.until(session.hear({ speaker: 'bob', text: 'x' }))).rejects.toMatchObject({
      code: 'session_stopped',
    })
    await world.time.until(session.control('start'))
    await expect(world.time.until(session.control('continue'))).rejects.toMatchObject({ code: 'illegal_input' })
    const wrong = 'halt' as 'stop' // invalid for the compiler
    await expect(session.control(wrong)).rejects.toMatchObject({ code: 'invalid_event' })
    await expect(world.time.until(session.hear({ speaker: 'bob', text: ' ' }))).rejects.toMatchObject({
      code: 'invalid_transcript',
    })
    const noSpeaker = { text: 'x' } as { speaker: string; text: string }
    await expect(session.hear(noSpeaker)).rejects.toMatchObject({
      code: 'invalid_event',
      message: expect.stringContaining('speaker is missing') as string,
    })
  },
  'what is overheard is kept together and shown with the next silence, in one turn': async ({ createWorld }) => {
    const world = await createWorld({
      steps: () => ({ text: 'noted' }),
      batch: { silenceMs: 60_000, ageMs: 600_000 },
    })
    const session = await world.open()
    for (const [index, text] of ['we talk', 'about you'].entries()) {
      await session.submit({ type: 'transcript', inputId: `said-${index}`, speaker: 'bob', text })
      await world.time.pass(30_000)
    }
    expect(world.model.requests).toHaveLength(0)
    await world.time.pass(60_000)
    expect(world.model.requests).toHaveLength(1)
    expect(textsTold(world.model, 'user').join('\n')).toMatch(/bob: we talk[^]*bob: about you/)
  },
  'words take along what was overheard before them': async ({ createWorld }) => {
    const world = await createWorld({ steps: () => ({ text: 'noted' }) })
    const session = await world.open()
    await session.submit({ type: 'transcript', inputId: 't', speaker: 'bob', text: 'we talk' })
    await world.time.until(session.send('and you?').answer)
    expect(world.model.requests).toHaveLength(1)
    expect(textsTold(world.model, 'user').join('\n')).toMatch(/bob: we talk[^]*and you\?/)
  },
  'an urgent event steers the running turn, and one without a turn begins one': async ({ createWorld }) => {
    const gate = Promise.withResolvers<string>()
    const world = await createWorld({
      tools: [act(() => gate.promise)],
      steps: [listCalls('act'), { text: 'both' }, { text: 'alone' }],
    })
    const session = await world.open()
    const turn = session.send('go')
    await world.time.settle()
    const event = { type: 'urgent-event', name: 'offer', detail: { price: 3 } } as const
    expect(await session.submit({ ...event, inputId: 'u1' })).toMatchObject({ type: 'accepted' })
    gate.resolve('done')
    expect((await world.time.until(turn.answer)).text).toBe('both')
    expect(textsTold(world.model, 'user').at(-1)).toMatch(/\[Event\] offer[^]*price/)
    await session.submit({ ...event, inputId: 'u2', message: 'again' })
    await world.time.settle()
    expect(textsTold(world.model, 'user').at(-1)).toMatch(/\[Event\] offer[^]*again/)
  },
  'an urgent event that interrupts ends the answer that is spoken': async ({ createWorld }) => {
    const world = await createWorld({ steps: [{ text: 'a long answer', pieceMs: 500 }, { text: 'fire!' }] })
    const session = await world.open()
    const turn = session.send('go')
    await world.time.pass(600)
    await session.submit({ type: 'urgent-event', inputId: 'u', name: 'fire', delivery: 'interrupt' })
    expect((await world.time.until(turn.answer)).outcome).toBe('interrupted')
    // The model notices the abort with its next piece, and only then does the next call start.
    await world.time.pass(500)
    expect(textsTold(world.model, 'assistant')).toEqual(['a '])
    expect(session.phase).toBe('idle')
  },
  'a rewind takes an exchange back and asks it again; another one only takes it back': async ({ createWorld }) => {
    const world = await createWorld({
      steps: [{ text: 'one' }, { text: 'two' }, { text: 'two again' }, { text: 'three' }],
    })
    const session = await world.open()
    await world.time.until(session.send('first').answer)
    await world.time.until(session.send('second').answer)
    const rewind = { type: 'rewind', exchange: 2 } as const
    expect(await session.submit({ ...rewind, inputId: 'r1', again: true })).toMatchObject({ type: 'accepted' })
    await world.time.settle()
    expect(textsTold(world.model, 'user')).toEqual(['first', 'second'])
    expect(textsTold(world.model, 'assistant')).toEqual(['one'])
    // It was asked again, as the third exchange.
    await session.submit({ ...rewind, exchange: 3, inputId: 'r2', again: false })
    await world.time.until(session.send('third').answer)
    expect(textsTold(world.model, 'user')).toEqual(['first', 'third'])
  },
  'a rewind during a turn is refused with a code': async ({ createWorld }) => {
    const world = await createWorld({ steps: [{ text: 'slow', pieceMs: 1000 }] })
    const session = await world.open()
    const turn = session.send('go')
    await world.time.settle()
    const rewind = { type: 'rewind', inputId: 'r', exchange: 1, again: true } as const
    expect(await session.submit(rewind)).toMatchObject({ type: 'refused', code: 'turn_in_progress' })
    expect((await world.time.until(turn.answer)).text).toBe('slow')
  },
  'another model answers from the next step on, and a turn can name its own': async ({ createWorld }) => {
    const create = (id: string) => createScriptedModel({ id, steps: () => ({ text: id }) })
    const models = [create('one/model'), create('two/model')]
    const world = await createWorld({ steps: [], models })
    const session = await world.open()
    expect((await world.time.until(session.send('go').answer)).text).toBe('one/model')
    await session.submit({ type: 'set-model', model: 'two/model' })
    expect((await world.time.until(session.send('go').answer)).text).toBe('two/model')
    expect((await world.time.until(session.send('go', { model: 'one/model' }).answer)).text).toBe('one/model')
  },
  'a session is named, and what a program notes of it is kept; a title that is too long is refused': async ({
    createWorld,
  }) => {
    const world = await createWorld({ steps: [] })
    const session = await world.open()
    expect(await session.describe({ title: 'Trip', meta: { tags: ['a'] } })).toMatchObject({ type: 'accepted' })
    expect(await session.describe({ title: null })).toMatchObject({ type: 'accepted' })
    await expect(session.describe({ title: 'x'.repeat(201) })).rejects.toMatchObject({ code: 'invalid_event' })
    expect(await world.facts('session-described')).toEqual([
      { type: 'session-described', title: 'Trip', meta: { tags: ['a'] } },
      { type: 'session-described', title: null },
    ])
  },
  'settings of an input hold for its turn only': async ({ createWorld }) => {
    const world = await createWorld({ steps: () => ({ text: 'ok' }), settings: { temperature: 0.5 } })
    const session = await world.open()
    await world.time.until(session.send('go', { settings: { temperature: 1 } }).answer)
    await world.time.until(session.send('go').answer)
    expect(world.model.requests.map(({ settings }) => settings.temperature)).toEqual([1, 0.5])
  },
}
