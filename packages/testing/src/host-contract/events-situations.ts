// Session events of a real session: a reader resumes from any event, messages and turns can be read again, and a
// session's current state.
import type { EventCursor, EventsOptions, Session, SessionEvent, Turn } from '@baton/core/internal'
import { BatonError, isBatonError } from '@baton/core/internal'
import { expect } from 'vitest'
import { act, CALL, createClientTool, listCalls } from './situation-parts.ts'
import type { Situations } from './situation.ts'
import { createStreamingModel, SAID } from './streaming-model.ts'

async function readUntilEnd(session: Session, options: EventsOptions): Promise<readonly SessionEvent[]> {
  const events: SessionEvent[] = []
  for await (const event of session.events(options)) {
    events.push(event)
    if (event.type === 'turn-finished') break
  }
  return events
}

/** Joins texts by owner; throws on a gap or a repeat. */
function joinTexts(events: readonly SessionEvent[]): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {}
  for (const event of events) {
    if (event.type !== 'text' && event.type !== 'reasoning' && event.type !== 'call-writing') continue
    const key = event.type === 'call-writing' ? event.callId : `${event.type} ${event.message} ${event.step}`
    const known = texts[key] ?? ''
    if (event.offset !== known.length) throw new Error(`${key}: ${event.offset} after ${known.length}`)
    texts[key] = known + event.text
  }
  return texts
}

function listOthers(events: readonly SessionEvent[]): readonly object[] {
  const texts = new Set(['text', 'reasoning', 'call-writing', 'live'])
  return events.filter(({ type }) => !texts.has(type)).map((event) => ({ ...event, cursor: undefined }))
}

export const EVENT_SITUATIONS: Situations = {
  'a reader that was cut off after any event goes on with what it missed, also in the midst of a text': async ({
    createWorld,
  }) => {
    const held: { pause: () => Promise<void> } = { pause: async () => {} }
    const model = createStreamingModel(() => held.pause())
    const world = await createWorld({ steps: [], models: model, tools: [act(() => 'seen')] })
    held.pause = () => world.time.wait(50)
    const session = await world.open()
    const whole = readUntilEnd(session, { from: 'now' })
    const turn = session.send('go')
    // Readers that leave after each moment of the answer, and return while it is being written or later.
    const readings: Promise<readonly SessionEvent[]>[] = []
    for (let moment = 1; moment < SAID.length; moment++) {
      await world.time.pass(50)
      const early: SessionEvent[] = []
      let next: EventCursor = { pos: 0 }
      const stream = session.events({ from: 'turn' })
      // The text so far follows the past, and the reader leaves in the middle of it.
      while (!early.some(({ type }) => type === 'reasoning')) {
        const batch = await stream.nextBatch()
        if (!batch) break
        early.push(...batch.events)
        next = batch.next
      }
      stream.leave()
      readings.push(readUntilEnd(session, { from: next }).then((rest) => [...early, ...rest]))
    }
    await world.time.until(turn.answer)
    const all = await world.time.until(whole)
    expect(joinTexts(all)).toEqual({
      'reasoning t1 1': 'Let me think.',
      'text t1 1': 'I look at it.',
      'text t1 2': 'done',
      [CALL]: '{"a":1}',
      [CALL.replace(/0$/, '1')]: '{"b":2}',
    })
    const own = listOthers(all)
    for (const reading of readings) {
      const events = await world.time.until(reading)
      expect(joinTexts(events)).toMatchObject({ 'reasoning t1 1': 'Let me think.', 'text t1 1': 'I look at it.' })
      // Starts at the record that began the turn; the input precedes it.
      const first = listOthers(events)
      expect(own.slice(-first.length)).toEqual(first.slice(-own.length))
    }
    // After everything has ended, reading can resume from each past event.
    const past = await readUntilEnd(session, { from: 'start' })
    for (const [index, { cursor }] of past.slice(0, -1).entries()) {
      const rest = await readUntilEnd(session, { from: cursor })
      expect(rest.filter(({ type }) => type !== 'live')).toEqual(
        past.slice(index + 1).filter(({ type }) => type !== 'live'),
      )
    }
  },
  'the conversation is read in pages, and without what was said in vain': async ({ createWorld }) => {
    const error = new BatonError({ code: 'model_overloaded', message: 'busy', retryable: true })
    const world = await createWorld({
      tools: [act(() => ({ seen: true }))],
      steps: [
        { text: 'Half of', error },
        { text: 'I look.', ...listCalls('act') },
        { text: 'Seen.' },
        { text: 'Bye.' },
      ],
    })
    const session = await world.open()
    await world.time.until(session.send('look').answer)
    await world.time.until(session.send('bye').answer)
    const { messages, more, next } = await session.messages()
    expect(more).toBe(false)
    expect(messages).toMatchObject([
      { role: 'user', parts: [{ text: 'look' }], waits: false, exchange: 1 },
      {
        role: 'assistant',
        id: 't1',
        stop: 'end',
        steps: [
          {
            text: 'I look.',
            calls: [{ name: 'act', status: 'settled', result: { type: 'ok', value: { seen: true } } }],
          },
          { text: 'Seen.', calls: [] },
        ],
      },
      { role: 'user', parts: [{ text: 'bye' }] },
      { role: 'assistant', id: 't2', steps: [{ text: 'Bye.' }] },
    ])
    const last = await session.messages({ limit: 1 })
    expect(last).toMatchObject({ messages: [{ id: 't2' }], more: true })
    const before = await session.messages({ before: 't2', limit: 2 })
    expect(before.messages.map(({ id }) => id)).toEqual(['t1', messages[2]?.id])
    await expect(session.messages({ before: 'nobody' })).rejects.toMatchObject({ code: 'invalid_option' })
    await expect(session.messages({ limit: 1000 })).rejects.toThrow('must be from 1 to 200')
    expect(next).toEqual((await session.info()).head)
  },
  'a turn is followed again by the id of its input, while it runs and when it is over': async ({ createWorld }) => {
    const gate = Promise.withResolvers<string>()
    const world = await createWorld({ tools: [act(() => gate.promise)], steps: [listCalls('act'), { text: 'done' }] })
    const session = await world.open()
    const first = session.send('go', { inputId: 'mine' })
    await world.time.settle()
    const again = session.turn('mine')
    gate.resolve('x')
    const answers = [await world.time.until(first.answer), await world.time.until(again.answer)]
    answers.push(await world.time.until(session.turn('mine').answer))
    expect(answers).toEqual(answers.map(() => answers[0]))
    const types = async (turn: AsyncIterable<SessionEvent>): Promise<string[]> => {
      const seen: string[] = []
      for await (const { type } of turn) if (type !== 'live') seen.push(type)
      return seen
    }
    expect(await types(again)).toEqual(await types(first))
    await expect(world.time.until(session.turn('nobody’s').answer)).rejects.toMatchObject({ code: 'unknown_input' })
  },
  'a session tells what it is and what it waits for': async ({ createWorld }) => {
    const world = await createWorld({ tools: [createClientTool('look')], steps: [listCalls('look')] })
    const session = await world.open()
    expect(await session.info()).toMatchObject({ activity: 'idle', queued: [], approvals: [], questions: [] })
    const turn = session.send('go')
    session.send('and then', { inputId: 'later' }).answer.catch(() => {})
    turn.answer.catch(() => {})
    await world.time.settle()
    await session.describe({ title: 'A look', meta: { place: 'here' } })
    const info = await session.info()
    expect(info).toMatchObject({
      id: session.id,
      activity: 'waiting',
      title: 'A look',
      meta: { place: 'here' },
      queued: [{ inputId: 'later', delivery: 'queue' }],
    })
    expect(info.models).toContain(info.model)
    expect(info.context.used).toBeGreaterThan(0)
    await session.submit({ type: 'stop' })
    expect((await session.info()).activity).toBe('stopped')
  },
  'a place that a session has not reached is refused, and one of another shape': async ({ createWorld }) => {
    const world = await createWorld({ steps: [] })
    const session = await world.open()
    expect(() => session.events({ from: { pos: 1000 } })).toThrow('has no place 1000')
    expect(() => session.events({ from: { pos: -1 } })).toThrow('pos')
    expect(() => session.events({ from: 'yesterday' as never })).toThrow('"start", "turn" or "now"')
    const controller = new AbortController()
    const read = readUntilEnd(session, { from: 'start', signal: controller.signal })
    await world.time.settle()
    controller.abort()
    expect((await world.time.until(read)).map(({ type }) => type)).toContain('live')
  },
  'a turn that fails tells its readers its end before its error, and one whose input is taken back its error': async ({
    createWorld,
  }) => {
    const error = new BatonError({ code: 'model_auth_failed', message: 'no' })
    const world = await createWorld({ steps: [{ error }, { text: 'late', pieceMs: 60_000 }] })
    const session = await world.open()
    const failed = session.send('go')
    const read = await world.time.until(readToError(failed))
    expect([read.types.at(-1), read.error?.code]).toEqual(['turn-finished', 'model_auth_failed'])
    session.send('wait').answer.catch(() => {})
    const queued = session.send('next', { inputId: 'next', delivery: 'queue' })
    const reading = readToError(queued)
    await world.time.settle()
    await session.withdraw('next')
    const withdrawn = await world.time.until(reading)
    expect([withdrawn.types, withdrawn.error?.code]).toEqual([['message-added'], 'cancelled'])
  },
  'before its first turn, a reader from the newest turn gets only what comes from now on': async ({ createWorld }) => {
    const world = await createWorld({ steps: [{ text: 'hello' }] })
    const session = await world.open()
    await session.describe({ title: 'Old' })
    const readings = (['turn', 'now'] as const).map((from) => readUntilEnd(session, { from }))
    await world.time.until(session.send('go').answer)
    const [fromTurn, fromNow] = await world.time.until(Promise.all(readings))
    expect(fromTurn?.map(({ type }) => type)).toEqual(fromNow?.map(({ type }) => type))
  },
  'the events alone of a turn that was refused end with its error, and its answer troubles nobody': async ({
    createWorld,
  }) => {
    const world = await createWorld({ steps: [] })
    const session = await world.open()
    await session.close()
    const read = await readToError(session.send('too late'))
    expect([read.types, read.error?.code]).toEqual([[], 'session_closed'])
  },
}

/** Reads only a turn's events, until they fail. */
async function readToError(turn: Turn): Promise<{ readonly types: readonly string[]; readonly error?: BatonError }> {
  const types: string[] = []
  try {
    for await (const event of turn) types.push(event.type)
    return { types }
  } catch (cause) {
    if (!isBatonError(cause)) throw cause
    return { types, error: cause }
  }
}
