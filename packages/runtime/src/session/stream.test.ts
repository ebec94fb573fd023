// The stream of one session and its readers: live pieces in their place among the records, whatever order they arrive
// in; slow readers; readers that come, resume and leave at any place.
import type { EventCursor, LiveFrame, SessionEvent } from '@baton/core/internal'
import type { Fact, SessionRecord } from '@baton/core/machine'
import { expect, test } from 'vitest'
import type { EventReader } from './reader.ts'
import { EVENTS_MAX, TEXT_MAX } from './reader.ts'
import { beginAttempt, beginTurn, finishTurn, openStream, write } from './stream.test-kit.ts'

/** All events that a reader has so far, without waiting for more. */
async function readNow(reader: EventReader): Promise<readonly SessionEvent[]> {
  const events: SessionEvent[] = []
  for (let batch = await reader.nextBatch(false); batch; batch = await reader.nextBatch(false))
    events.push(...batch.events)
  return events
}

async function readTexts(reader: EventReader): Promise<readonly (readonly [offset: number, text: string])[]> {
  return (await readNow(reader)).flatMap((event) =>
    event.type === 'text' ? [[event.offset, event.text] as const] : [],
  )
}

const added = (inputId: string): Fact => ({
  type: 'input-accepted',
  inputId,
  body: { type: 'user', parts: [{ type: 'text', text: inputId }] },
  chars: 1,
  heldChars: 1,
  delivery: 'queue',
  ready: true,
})

function listAdded(events: readonly SessionEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'message-added' ? [event.message.id] : []))
}

test('pieces that come before the record that begins their attempt wait for it, however many they are', async () => {
  const { stream, publish, read } = openStream()
  publish(...beginTurn(1))
  const reader = read()
  const count = 50_000
  for (let index = 0; index < count; index++) stream.publishLive(write(1, index, 'x'))
  publish(beginAttempt(1))
  expect((await readNow(reader)).map(({ type }) => type)).toEqual(['step-started', 'text'])
  expect(stream.textOfAttempt(1)).toBe('x'.repeat(count))
})

test('of text that is too much to wait for its record, the rest is dropped, and what comes behind the hole too', async () => {
  const { stream, publish, play, read } = openStream()
  publish(...beginTurn(1))
  const half = 'x'.repeat(3 * 1024 * 1024)
  play(write(1, 0, half), write(1, half.length, half), [beginAttempt(1)], write(1, 2 * half.length, 'end'))
  expect(stream.textOfAttempt(1)).toBe(half)
  expect(await readTexts(read({ from: { pos: 0 } }))).toEqual([[0, half]])
})

test('each attempt has its own room before its record, and a later one waits for its own', () => {
  const { stream, play } = openStream()
  play(beginTurn(1))
  const long = 'x'.repeat(3 * 1024 * 1024)
  for (const attempt of [1, 2]) {
    play(write(attempt, 0, long), write(attempt + 1, 0, 'next'), [beginAttempt(attempt)])
    expect(stream.textOfAttempt(attempt)).toHaveLength(long.length)
  }
})

test('pieces of an attempt that was over before its record came are dropped', async () => {
  const { play, read } = openStream()
  play(beginTurn(1))
  const reader = read()
  play(write(1, 0, 'old'), write(2, 0, 'new'), [beginAttempt(2)])
  expect(await readTexts(reader)).toEqual([[0, 'new']])
})

test('a piece before which another one is missing is told when both have come', async () => {
  const { stream, play, read } = openStream()
  play([...beginTurn(1), beginAttempt(1)])
  const reader = read()
  play(write(1, 6, ' done.'), write(1, 0, 'All is'), write(1, 0, 'All is'), write(1, 6, ' done.'))
  expect(stream.textOfAttempt(1)).toBe('All is done.')
  expect(await readTexts(reader)).toEqual([[0, 'All is done.']])
})

test.each<Fact>([
  { type: 'attempt-superseded', attempt: 1, reason: 'failed' },
  { type: 'attempt-failed', attempt: 1, error: { code: 'model_overloaded', message: 'busy', retryable: true } },
  { type: 'step-salvaged', step: 1, attempt: 1, textChars: 0 },
  { type: 'turn-finished', turn: 1, outcome: 'stopped', text: '' },
])('what an attempt says after $type is told to nobody', async (ended) => {
  const { stream, play, read } = openStream()
  play([...beginTurn(1), beginAttempt(1)])
  const reader = read()
  play({ type: 'server-tool', attempt: 1, name: 'search', status: 'started' }, write(1, 0, 'old'), [ended])
  await readNow(reader)
  play({ type: 'server-tool', attempt: 1, name: 'search', status: 'finished' }, write(1, 3, ' and late'))
  expect(await readNow(reader)).toEqual([])
  expect(stream.textOfAttempt(1)).toBe('')
})

test('a reader that comes while an answer is written has what was said in its place: thoughts first', async () => {
  const { play, read } = openStream()
  const thought: LiveFrame = { type: 'reasoning-delta', attempt: 1, offset: 0, text: 'Hm.' }
  play([...beginTurn(1), beginAttempt(1)], thought, write(1, 0, 'All is'))
  play([{ type: 'attempt-progressed', attempt: 1, offset: 0, text: 'All' }])
  const [whole, later] = [read({ from: { pos: 0 } }), read()]
  play(write(1, 6, ' done.'))
  for (const reader of [whole, later]) {
    const told = (await readNow(reader)).filter(({ type }) => type === 'text' || type === 'reasoning')
    expect(told.map((event) => 'text' in event && event.text).join('|')).toMatch(
      /^Hm\.\|(All\| is done\.|All is done\.)$/,
    )
  }
})

test('a reader that missed records of another host reads them in the log, once; a device learns that it is behind', async () => {
  const { stream, append, fold, publish, read } = openStream()
  const [reader, device] = [read(), read({ delivery: true })]
  publish(added('one'))
  expect(listAdded(await readNow(reader))).toEqual(['one'])
  for (const missed of [append(added('two')), append(added('three'))]) {
    stream.startAfter(missed.pos)
    fold(missed)
  }
  publish(added('four'))
  expect(listAdded(await readNow(reader))).toEqual(['two', 'three', 'four'])
  expect((await readNow(device)).map(({ type }) => type)).toEqual(['message-added', 'behind'])
  expect(await device.nextBatch()).toBeUndefined()
})

test('clients learn that the session was restarted, also from records that this process missed, until they leave', () => {
  const { stream, append, publish } = openStream()
  const told: string[] = []
  const leave = stream.onClientsGone(() => void told.push('one'))
  stream.onClientsGone(() => void told.push('other'))
  publish(added('one'))
  expect(told).toEqual([])
  publish({ type: 'host-restarted', downMs: 0 })
  expect(told).toEqual(['one', 'other'])
  leave()
  stream.startAfter(append({ type: 'host-restarted', downMs: 0 }).pos)
  expect(told).toEqual(['one', 'other', 'other'])
})

test('while a session is opened again a reader waits, and joins when it is open', async () => {
  const { stream, append, fold, publish, read } = openStream()
  publish(added('one'))
  const reader = read()
  const missed = append(added('two'))
  stream.startAfter(missed.pos)
  const told = reader.nextBatch().then(async (batch) => [batch, await reader.nextBatch()])
  await new Promise((resolve) => setImmediate(resolve))
  fold(missed)
  stream.notice()
  await new Promise((resolve) => setImmediate(resolve))
  publish(added('three'))
  expect((await told).map((batch) => listAdded(batch?.events ?? []))).toEqual([['two'], ['three']])
})

test('a reader that is too slow gets everything once: events that it has not read come from the log', async () => {
  const { publish, read } = openStream()
  const ids = Array.from({ length: EVENTS_MAX + 100 }, (_, index) => `i${index}`)
  const [reader, device] = [read(), read({ delivery: true })]
  for (const id of ids.slice(0, 10)) publish(added(id))
  const first = await reader.nextBatch()
  for (const id of ids.slice(10)) publish(added(id))
  expect(listAdded([...(first?.events ?? []), ...(await readNow(reader))])).toEqual(ids)
  expect((await readNow(device)).map(({ type }) => type)).toEqual(['behind'])
})

test('a reader that is too slow for the text of an answer gets it from the log; text that was read makes room', async () => {
  const { play, read } = openStream()
  play([...beginTurn(1), beginAttempt(1)])
  const [slow, fast] = [read({ delivery: true }), read({ delivery: true })]
  const half = 'x'.repeat(TEXT_MAX / 2 + 1)
  for (let count = 0; count < 3; count++) {
    play(write(1, count * half.length, half))
    expect(await readTexts(fast)).toEqual([[count * half.length, half]])
  }
  expect((await readNow(slow)).map(({ type }) => type)).toEqual(['behind'])
})

test('a reader that is too slow at the moment when it has caught up with the others gets everything once', async () => {
  const { play, publish, read } = openStream()
  play([...beginTurn(1), beginAttempt(1)])
  // The first reader comes in the middle of the turn, so only the second one knows all of it.
  const [late, whole] = [read(), read({ from: { pos: 0 } })]
  await readNow(whole)
  const ids = Array.from({ length: EVENTS_MAX }, (_, index) => `i${index}`)
  for (const id of ids) publish(added(id))
  publish(finishTurn(1))
  for (const reader of [late, whole]) {
    const told = await readNow(reader)
    expect(listAdded(told)).toEqual(ids)
    expect(told.at(-1)?.type).toBe('session')
  }
})

test.each([
  ['comes now', undefined],
  ['reads from the start', { pos: 0 }],
])('a reader that %s and is too slow is told once where the past ends', async (_, from) => {
  const { publish, read } = openStream()
  publish(added('old'))
  const reader = read({ from, headPos: 0 })
  if (from) await reader.nextBatch()
  for (let index = 0; index <= EVENTS_MAX; index++) publish(added(`i${index}`))
  const told = await readNow(reader)
  const [first, ...others] = told.flatMap(({ type }, index) => (type === 'live' ? [index] : []))
  expect([first, others]).toEqual([from ? undefined : 0, []])
})

test('a reader that leaves while the session is opened again does not wait for it', async () => {
  const { stream, append, publish, read } = openStream()
  publish(added('one'))
  const missed = append(added('two'))
  const [left, asked] = [read(), read()]
  stream.startAfter(missed.pos)
  const waits = left.nextBatch().then(() => left.nextBatch())
  await new Promise((resolve) => setImmediate(resolve))
  left.leave()
  expect(await waits).toBeUndefined()
  expect(listAdded(await readNow(asked))).toEqual(['two'])
})

test('unread text of a step is joined, that of two calls is not', async () => {
  const { play, read } = openStream()
  play([...beginTurn(1), beginAttempt(1)])
  const reader = read()
  const call = (index: number, offset: number, text: string): LiveFrame => {
    return { type: 'call-delta', attempt: 1, index, name: 'look', offset, text }
  }
  play(write(1, 0, 'a'), write(1, 1, 'b'), call(1, 0, '{"'), call(0, 0, '{}'), call(1, 2, 'a":1}'), call(1, 7, ' '))
  const told = (await readNow(reader)).map((event) => ('text' in event ? event.text : event.type))
  expect(told).toEqual(['ab', '{"', '{}', 'a":1} '])
})

test('whoever goes on from a cursor in the middle of a record is told the rest of it', async () => {
  const { publish, read } = openStream()
  publish(added('one'), added('two'), added('three'))
  publish(added('four'))
  const ids = ['one', 'two', 'three', 'four']
  const whole = await readNow(read({ from: { pos: 0 } }))
  expect(listAdded(whole)).toEqual(ids)
  for (const [index, { cursor }] of whole.entries())
    expect(listAdded(await readNow(read({ from: cursor })))).toEqual(ids.slice(index + 1))
})

const FINISHED: Fact = {
  type: 'step-finished',
  step: 1,
  attempt: 1,
  model: 'm',
  textChars: 12,
  chars: 12,
  usage: {},
  calls: [],
  parts: [{ type: 'text', text: 'All is well.' }],
  finish: 'end',
  interrupted: false,
}

test.each([
  ['is being written', [write(1, 0, 'All is well.')]],
  ['was finished meanwhile', [[FINISHED]]],
  ['is further here than there', [write(1, 0, 'All'), [FINISHED]]],
])('whoever goes on in the middle of a text that %s is told the rest of it, once', async (_, happenings) => {
  const { play, read } = openStream()
  play(beginTurn(1), [beginAttempt(1)])
  const from: EventCursor = { pos: 2, since: 0, attempt: 1, text: 7 }
  const early = read({ from })
  await readNow(early)
  play(...happenings)
  expect(await readTexts(early)).toEqual([[7, 'well.']])
  expect(await readTexts(read({ from }))).toEqual([[7, 'well.']])
})

test('a reader that has read a whole turn knows its usage, also where the first reader came late', async () => {
  const { publish, read } = openStream()
  publish(...beginTurn(1), beginAttempt(1))
  publish({ ...FINISHED, usage: { inputTokens: 5 } })
  const [late, whole] = [read(), read({ from: { pos: 0 } })]
  await readNow(whole)
  publish(finishTurn(1, 'All is well.'))
  const ends = async (reader: EventReader) => (await readNow(reader)).find(({ type }) => type === 'turn-finished')
  expect(await ends(whole)).toMatchObject({ usage: { inputTokens: 5 } })
  expect(await ends(late)).toMatchObject({ text: 'All is well.' })
})

test('a reader that has read a whole turn learns what becomes of its children, also where the first reader came late', async () => {
  const { publish, read } = openStream()
  const call = { callId: 'call_1', name: 'help', arguments: '{}' }
  const proposal = { ...call, argumentsHash: '', effect: 'once', runs: 'child', timeoutMs: 9, parallel: true } as const
  const spent = { tokens: 0, costMicros: 0, rounds: 0, calls: 0 }
  const { callId } = call
  publish(...beginTurn(1), beginAttempt(1))
  publish(
    { ...FINISHED, parts: [{ type: 'call', ...call }], calls: [{ ...proposal, onInterrupt: 'cancel' }] },
    {
      type: 'child-begun',
      callId,
      agent: 'helper',
      depth: 1,
      task: [],
      grant: { depth: 0, sessions: 0 },
      asks: false,
      acts: true,
    },
  )
  publish(
    { type: 'child-ending', callId, reason: 'interrupt', untilMs: 9 },
    { type: 'call-settled', callId, settlement: { type: 'unknown', reason: 'interrupt' }, tellLate: false },
    { type: 'step-closed', step: 1, entry: 2 },
    { type: 'turn-finished', turn: 1, outcome: 'interrupted', text: '' },
  )
  const [late, whole] = [read(), read({ from: { pos: 0 } })]
  await readNow(late)
  await readNow(whole)
  publish({ type: 'child-closed', callId, stop: 'cancelled', spent, did: { calls: [] }, untrusted: [] })
  expect(await readNow(whole)).toMatchObject([{ type: 'call', call: { callId, child: { status: 'ended' } } }])
  publish(...beginTurn(2), beginAttempt(2))
  const kinds = async (reader: EventReader) => (await readNow(reader)).map(({ type }) => type)
  expect(await kinds(late)).toEqual(await kinds(whole))
})

test('after its agent was changed, all readers of a session are told of the new limits and the new window', async () => {
  const { spec, publish, read } = openStream()
  const early = read()
  publish(added('i1'))
  Object.assign(spec, { limits: { turnTokens: 10 }, window: { contextTokens: 100 } })
  const late = read()
  publish(...beginTurn(1), beginAttempt(1))
  publish({ ...FINISHED, usage: { inputTokens: 9 } })
  for (const reader of [early, late, read({ from: { pos: 0 } })]) {
    const told = await readNow(reader)
    expect(told).toContainEqual(expect.objectContaining({ type: 'limit', limit: 'tokens', used: 9, max: 10 }))
    expect(told.find(({ type }) => type === 'step-finished')).toMatchObject({ context: { used: 9, size: 100 } })
  }
})

test.each([
  ['a reader is told what belongs to the newer turn', false, [2]],
  ['a device is told all of it', true, [1, 2]],
])('of a record that ends one turn and begins the next, %s', async (_, delivery, ended) => {
  const { publish, read } = openStream()
  publish(...beginTurn(1))
  publish(finishTurn(1), ...beginTurn(2))
  publish(finishTurn(2))
  const told = await readNow(read({ from: { pos: 1, since: 1 }, delivery }))
  expect(told.flatMap((event) => (event.type === 'turn-finished' ? [event.turn] : []))).toEqual(ended)
})

test('whoever goes on in the record where its turn begins is told nothing of the former turn', async () => {
  const { publish, read } = openStream()
  publish(...beginTurn(1))
  publish(added('i2'), finishTurn(1), ...beginTurn(2))
  const whole = await readNow(read({ from: { pos: 1, since: 1 } }))
  const types = ['message-added', 'message-entered', 'message-added', 'session']
  expect(whole.map(({ type }) => type)).toEqual(types)
  for (const [index, { cursor }] of whole.entries())
    expect((await readNow(read({ from: cursor }))).map(({ type }) => type)).toEqual(types.slice(index + 1))
})

test('a cursor that points back into the middle of a turn is not one of this session, and ends the reading', async () => {
  const { publish, read } = openStream()
  publish(added('first'))
  publish(...beginTurn(1), beginAttempt(1))
  publish(FINISHED)
  publish(finishTurn(1))
  for (const since of [2, 3]) {
    const reader = read({ from: { pos: 3, since } })
    await expect(reader.nextBatch(false)).rejects.toMatchObject({
      code: 'invalid_event',
      message: `no turn began at place ${since}`,
    })
    expect(await reader.nextBatch()).toBeUndefined()
  }
  expect(await readNow(read({ from: { pos: 3, since: 1 } }))).toMatchObject([{ type: 'turn-finished' }, {}])
})

test('whoever goes on in the middle of thoughts is told the rest of them before the text', async () => {
  const { play, read } = openStream()
  const think = (offset: number, text: string): LiveFrame => ({ type: 'reasoning-delta', attempt: 1, offset, text })
  play([...beginTurn(1), beginAttempt(1)], think(0, 'Hm'))
  const { cursor } = (await readNow(read({ from: { pos: 0 } }))).at(-1)!
  play(think(2, ', so.'), write(1, 0, 'All is well.'), [
    { type: 'attempt-progressed', attempt: 1, offset: 0, text: 'All' },
  ])
  const told = await readNow(read({ from: cursor }))
  expect(told.map((event) => 'text' in event && event.text)).toEqual([', so.', 'All', ' is well.'])
})

test('a batch says where to go on, also behind records that tell nothing', async () => {
  const { publish, read } = openStream()
  const reader = read()
  publish(added('one'))
  publish({ type: 'client-detached', connection: 'phone' })
  expect(await reader.nextBatch()).toMatchObject({ events: [{ type: 'message-added' }], next: { pos: 2 } })
})

test('a log that cannot be read ends the reading with the error, and one that ends too early is an error', async () => {
  for (const fails of [true, false]) {
    const ends: number[] = []
    const readLog = () => ({
      [Symbol.asyncIterator]: () => ({
        next: () =>
          fails ? Promise.reject(new Error('the disk is gone')) : Promise.resolve({ done: true, value: undefined }),
      }),
    })
    const { publish, read } = openStream({ readLog: readLog as () => AsyncIterable<SessionRecord> })
    publish(added('one'))
    const reader = read({ from: { pos: 0 }, onEnd: () => ends.push(1) })
    await expect(reader.nextBatch()).rejects.toThrow(fails ? 'the disk is gone' : 'ends before record 0')
    expect(await reader.nextBatch()).toBeUndefined()
    expect(ends).toEqual([1])
  }
})

function openClosingStream() {
  const closed: number[] = []
  const opened = openStream({
    readLog: async function* (fromPos) {
      try {
        yield* opened.log.slice(fromPos)
      } finally {
        closed.push(fromPos)
      }
    },
  })
  for (const id of ['one', 'two', 'three']) opened.publish(added(id))
  return { ...opened, closed }
}

test('whoever reads one record closes the log', async () => {
  const { stream, closed } = openClosingStream()
  expect(await stream.recordAt(1)).toMatchObject({ pos: 1, facts: [added('two')] })
  expect(await stream.recordAt(3)).toBeUndefined()
  expect(closed).toEqual([1])
})

test('a reader that leaves closes the log that it reads, and is told nothing more', async () => {
  const { closed, read } = openClosingStream()
  const reader = read({ from: { pos: 0 } })
  expect(await reader.nextBatch()).toBeDefined()
  reader.leave()
  expect(await reader.nextBatch()).toBeUndefined()
  await new Promise((resolve) => setImmediate(resolve))
  expect(closed).toEqual([0])
})

test('at the end readers get what waits for them, also those that still read the log, and then the end', async () => {
  const { stream, publish, read } = openStream()
  publish(added('one'))
  const [behind, joined, idle] = [read({ from: { pos: 0 } }), read(), read()]
  publish(added('two'))
  await readNow(idle)
  const waits = idle.nextBatch()
  stream.end()
  expect(listAdded(await readNow(behind))).toEqual(['one', 'two'])
  expect(listAdded(await readNow(joined))).toEqual(['two'])
  expect(await waits).toBeUndefined()
  for (const reader of [behind, joined, read()]) expect(await reader.nextBatch()).toBeUndefined()
})

test('an answer that ends inside of an emoji keeps all of it', async () => {
  const { play, read } = openStream()
  play([...beginTurn(1), beginAttempt(1)])
  const reader = read()
  play(
    [{ type: 'attempt-progressed', attempt: 1, offset: 0, text: 'a😀b' }],
    [{ type: 'step-salvaged', step: 1, attempt: 1, textChars: 2 }],
  )
  const texts = (await readNow(reader)).flatMap((event) => ('text' in event ? [String(event.text)] : []))
  expect(texts.every((text) => text.isWellFormed())).toBe(true)
})
