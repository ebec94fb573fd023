// Turns over a reading of events: the readers of turns that never begin, and of turns that lost frames.
import type { AssistantPart, Refused } from '@baton/core/internal'
import type { Fact } from '@baton/core/machine'
import { expect, test } from 'vitest'
import type { OutputReader } from '../work/output.ts'
import type { Happening } from './stream.test-kit.ts'
import { beginAttempt, beginTurn, finishTurn, openStream, write } from './stream.test-kit.ts'
import { followTurn, refuseTurn } from './turn.ts'

const accepted = Promise.resolve([{ type: 'accepted', pos: 1 } as const])

test.each([
  [
    'refused',
    () => Promise.resolve<Refused[]>([{ type: 'refused', code: 'queue_full', message: 'full' }]),
    'queue_full',
  ],
  ['not answered, because its session died', () => Promise.reject(Object.assign(new Error(), { code: 'x' })), 'x'],
])('the reader of an input that is %s ends', async (_, accepted, code) => {
  const ends: number[] = []
  const events = openStream().read({ onEnd: () => ends.push(1) })
  const turn = followTurn({ inputId: 'i', reading: { events, output: undefined }, accepted: accepted() })
  await expect(turn.answer).rejects.toMatchObject({ code })
  expect(ends).toEqual([1])
})

test('a turn that missed records reads them in the log and is answered, and no text is told twice', async () => {
  const { stream, append, fold, play, read } = openStream()
  const turn = followTurn({ inputId: 'i', reading: { events: read(), output: undefined }, accepted })
  play([...beginTurn(1, 'i'), beginAttempt(1)], write(1, 0, 'found '))
  await new Promise((resolve) => setImmediate(resolve))
  // Another host had the session for a while.
  const missed = append({ type: 'attempt-progressed', attempt: 1, offset: 0, text: 'found again' })
  stream.startAfter(missed.pos)
  fold(missed)
  await new Promise((resolve) => setImmediate(resolve)) // it joins again
  play(write(1, 11, ' and on'), [finishTurn(1, 'found again and on')])
  expect((await turn.answer).text).toBe('found again and on')
  let told = ''
  for await (const event of turn) if (event.type === 'text') told += event.text
  expect(told).toBe('found again and on')
})

test('a loop over a turn that was refused throws what was refused, as its answer does', async () => {
  const turn = refuseTurn('i', { code: 'unknown_model', message: 'no model is named so' })
  await expect(turn.answer).rejects.toMatchObject({ code: 'unknown_model' })
  await expect(turn[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'unknown_model' })
})

test('what the turn before it cited, forgot and reached is not of the turn that waited', async () => {
  const { publish, read } = openStream()
  const turn = followTurn({ inputId: 'i', reading: { events: read(), output: undefined }, accepted })
  const source = { type: 'source', id: 'source-1', url: 'https://a.example', title: 'A' } as const
  const play = (at: number, inputId: string, parts: readonly AssistantPart[], finish: 'end' | 'max-tokens'): void => {
    const step = { step: at, attempt: at, model: 'm', textChars: 0, chars: 0 }
    for (const fact of beginTurn(at, inputId)) publish(fact)
    if (at === 1) publish({ type: 'window-moved', fromEntry: 1 })
    publish(beginAttempt(at, at))
    publish({ type: 'step-finished', ...step, parts, calls: [], finish, usage: {}, interrupted: false })
    publish(finishTurn(at, `answer ${at}`))
  }
  play(1, 'other', [source], 'max-tokens')
  play(2, 'i', [], 'end')
  expect(await turn.answer).toMatchObject({ text: 'answer 2', stop: 'end', sources: [], limits: [], forgotten: false })
  const told: string[] = []
  for await (const event of turn) told.push(event.type)
  expect(told[0]).toBe('message-entered')
  expect(told.filter((type) => type === 'turn-finished')).toHaveLength(1)
})

const OUTPUT: OutputReader = {
  check: () => Promise.resolve({ issue: null }),
  read: () => Promise.resolve('its value'),
}

/** Plays a turn with an output schema. */
async function playTurn(...happenings: readonly Happening[]) {
  const { play, read } = openStream()
  const turn = followTurn({ inputId: 'i', reading: { events: read(), output: OUTPUT }, accepted })
  play(beginTurn(1, 'i'), ...happenings, [finishTurn(1, 'done')])
  await turn.answer
  return turn
}

test('of a turn that nobody has read yet, each call keeps its newest progress', async () => {
  const progress = (callId: string, note: number): Happening => ({ type: 'tool-progress', callId, note })
  const turn = await playTurn(progress('one', 1), progress('two', 1), progress('one', 2))
  const told: unknown[] = []
  for await (const event of turn) if (event.type === 'call-progress') told.push([event.callId, event.note])
  expect(told).toEqual([
    ['two', 1],
    ['one', 2],
  ])
})

test('of a turn that nobody has read yet, each call keeps its newest view, however often its clients come and go', async () => {
  const ids = ['call_1_0', 'call_1_1']
  const step = { step: 1, attempt: 1, model: 'm', textChars: 0, chars: 0 }
  const proposal = { name: 'look', runs: 'client', effect: 'pure', timeoutMs: 1, parallel: true } as const
  const calls = ids.map((callId) => ({ ...proposal, callId, onInterrupt: 'cancel', argumentsHash: '' }) as const)
  const parts = ids.map((callId) => ({ type: 'call', callId, name: 'look', arguments: '{}' }) as const)
  const facts: Fact[] = [
    beginAttempt(1),
    { type: 'step-finished', ...step, parts, calls, finish: 'tool-calls', usage: {}, interrupted: false },
  ]
  for (let offer = 1; offer <= 1500; offer += 1)
    facts.push({ type: 'call-offered', callId: ids[offer < 3 ? 0 : 1] ?? '', connection: `client ${offer}`, offer })
  const turn = await playTurn(...facts.map((fact) => [fact]))
  const holders = new Map<string, unknown>()
  let views = 0
  for await (const event of turn)
    if (event.type === 'call') {
      views += 1
      holders.set(event.call.callId, event.call.holder)
    }
  expect(Object.fromEntries(holders)).toEqual({ call_1_0: 'client 2', call_1_1: 'client 1500' })
  expect(views).toBeLessThan(1500)
})

test('a value is read anew where the model writes it once more, also if it is shorter then', async () => {
  const again: Fact = { type: 'attempt-superseded', attempt: 1, reason: 'failed' }
  const turn = await playTurn(
    [beginAttempt(1)],
    write(1, 0, `{"note":"${'a long note '.repeat(5)}`),
    [again],
    [beginAttempt(2)],
    write(2, 0, '{"note":"a short one'),
  )
  const told: unknown[] = []
  for await (const event of turn) if (event.type === 'text') told.push(event.partial)
  expect(told).toEqual([{ note: 'a long note '.repeat(5) }, { note: 'a short one' }])
})

test('of a turn that nobody has read yet, what is written of two calls is not joined', async () => {
  const call = (index: number, offset: number, text: string): Happening => {
    return { type: 'call-delta', attempt: 1, index, name: 'look', offset, text }
  }
  const turn = await playTurn([beginAttempt(1)], call(1, 0, '{"'), call(0, 0, '{}'), call(1, 2, 'a":1}'))
  const told = new Map<string, string>()
  for await (const event of turn)
    if (event.type === 'call-writing') told.set(event.callId, (told.get(event.callId) ?? '') + event.text)
  expect(Object.fromEntries(told)).toEqual({ call_1_0: '{}', call_1_1: '{"a":1}' })
})

test('a loop that was left gets nothing more, and another one gets the rest', async () => {
  const turn = await playTurn({ type: 'tool-progress', callId: 'one', note: 1 })
  const left = turn[Symbol.asyncIterator]()
  expect(await left.next()).toMatchObject({ done: false })
  await left.return?.()
  expect(await left.next()).toEqual({ done: true, value: undefined })
  const told: string[] = []
  for await (const event of turn) told.push(event.type)
  expect(told.at(-1)).toBe('turn-finished')
})

test('text that was joined because nobody read it has the place behind all of it', async () => {
  const { play, read } = openStream()
  const turn = followTurn({ inputId: 'i', reading: { events: read(), output: undefined }, accepted })
  play(beginTurn(1, 'i'), [beginAttempt(1)])
  for (const [index, said] of ['All', ' is', ' well.'].entries()) {
    await new Promise((resolve) => setImmediate(resolve)) // each piece is read separately
    play(write(1, index * 3, said))
  }
  play([finishTurn(1)])
  await turn.answer
  const told: unknown[] = []
  for await (const event of turn) if (event.type === 'text') told.push([event.text, event.cursor.text])
  expect(told).toEqual([['All is well.', 12]])
})

test('a turn that is read like the result of another library says what to write, to JavaScript and to the compiler', async () => {
  const turn = refuseTurn('i', { code: 'unknown_model', message: 'no model is named so' })
  const read = (name: string): unknown => Reflect.get(turn, name)
  for (const name of ['text', 'output', 'object', 'usage', 'sources', 'finishReason'])
    expect(() => read(name)).toThrow(
      expect.objectContaining({ code: 'invalid_option', hint: expect.stringContaining('.answer).') as string }),
    )
  for (const name of ['textStream', 'fullStream', 'toolCalls', 'toolResults', 'steps'])
    expect(() => read(name)).toThrow(
      expect.objectContaining({ code: 'invalid_option', hint: expect.stringContaining('for await (') as string }),
    )
  // @ts-expect-error a turn has no text; its answer has
  expect(() => turn.text).toThrow('a turn has no "text"')
  // @ts-expect-error a turn is its own stream
  expect(() => turn.textStream).toThrow('a turn has no "textStream"')
  expect({ ...turn }).toEqual({ id: 'i', answer: turn.answer, [Symbol.asyncIterator]: turn[Symbol.asyncIterator] })
  expect(await Promise.resolve(turn)).toBe(turn) // as with `await session.send(…)`
})
