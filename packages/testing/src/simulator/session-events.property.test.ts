// Session events over random logs: a reader that leaves after any event and returns at any later moment has read the
// same as one that stayed. No event is sent twice or left out.
import type { EventCursor, LiveFrame, SessionEvent } from '@baton/core/internal'
import { Ajv2020 } from 'ajv/dist/2020.js'
import {
  Conversation,
  readSince,
  readStart,
  readText,
  SESSION_EVENT_SCHEMA,
  SessionProjection,
} from '@baton/core/internal'
import type { Fact, History, Limits, SessionRecord, State } from '@baton/core/machine'
import type { Random } from '@baton/core/testing'
import { applyRecord, createHistory, initialState } from '@baton/core/machine'
import { createRandom, explore } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { chooseCount } from '../components/depth.ts'

const SEEDS = chooseCount({ quick: 20, landing: 60, deep: 800 })
const CUTS = chooseCount({ quick: 12, deep: 40 })

type Item =
  { readonly type: 'record'; readonly record: SessionRecord } | { readonly type: 'live'; readonly frame: LiveFrame }

test(`past and live are the whole, wherever a reader was cut off (${SEEDS} logs, ${CUTS} cuts of each)`, () => {
  const counts = { events: 0, cuts: 0, pieces: 0 }
  for (let seed = 1; seed <= SEEDS; seed++) {
    const world = exploreSession(seed)
    const random = createRandom(seed)
    const items = addLive(world.records, random)
    const delivery = seed % 2 === 0
    const whole = readWhole(items, delivery)
    counts.events += whole.events.length
    counts.pieces += items.length - world.records.length
    checkTold(whole.events)
    for (let cut = 0; cut < CUTS; cut++) {
      const index = random.below(whole.events.length)
      const event = whole.events[index]
      if (!event) continue
      // Half of the time it returns while something is being written.
      const from = whole.places[index] ?? 0
      const backAt = from + 1 + random.below(random.chance(0.5) ? 3 : items.length - from)
      const seen = [...whole.events.slice(0, index + 1), ...resume(items, { cursor: event.cursor, backAt, delivery })]
      checkTold(seen)
      expect({ seed, index, backAt, events: normalise(seen) }).toEqual({
        seed,
        index,
        backAt,
        events: normalise(whole.events),
      })
      counts.cuts += 1
    }
  }
  process.stdout.write(
    `session events: ${SEEDS} logs, ${counts.events} events, ${counts.pieces} live pieces, ${counts.cuts} cuts\n`,
  )
})

test('a projection that begins at a state tells the same as one that has read the log', () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { records, limits } = exploreSession(seed)
    const random = createRandom(seed)
    const whole = new SessionProjection({ limits: () => limits })
    const told = records.map((record) => whole.takeRecord(record).read())
    const from = 1 + random.below(records.length - 1)
    let state = initialState('explored')
    const history = createHistory()
    for (const record of records.slice(0, from)) {
      state = applyRecord(state, record)
      history.fold(record)
    }
    const late = new SessionProjection({ limits: () => limits, start: readStart(state, history) })
    // Earlier events about a turn's usage are not known; the text of its step comes from the beginning.
    const before = told.slice(0, from).flat()
    const begun = before.findLastIndex(({ type }) => ['step-started', 'step-finished', 'step-reset'].includes(type))
    const isOpen = before[begun]?.type === 'step-started'
    const written = isOpen ? before.slice(begun).filter(({ type }) => type === 'text') : []
    const sum = (events: readonly SessionEvent[]): readonly object[] =>
      normalise(events.filter(({ type }) => type !== 'limit')).map((event) =>
        'usage' in event && 'turn' in event ? { ...event, usage: {} } : event,
      )
    const lateEvents = records.slice(from).flatMap((record) => late.takeRecord(record).read())
    expect({ seed, from, events: sum(lateEvents) }).toEqual({
      seed,
      from,
      events: sum([...written, ...told.slice(from).flat()]),
    })
  }
})

test('the conversation that events make has the texts and results of the log', () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const world = exploreSession(seed)
    const conversation = new Conversation()
    for (const event of readWhole(world.records.map((record) => ({ type: 'record', record }))).events)
      conversation.take(event)
    const messages = conversation.messages()
    const shown = messages.flatMap((message) => (message.role === 'assistant' ? message.steps : []))
    const calls = new Map(shown.flatMap((step) => step.calls).map((call) => [call.callId, call]))
    // The model's next request; texts of steps dropped from the window are still shown.
    const told = world.history.entries().flatMap((entry) => entry.messages)
    const said = told.flatMap((message) => (message.role === 'assistant' ? [readText(message.parts)] : []))
    const results = told.flatMap((message) => (message.role === 'tool' ? message.parts : []))
    // An answer that was not accepted is not shown; the model still reads it.
    const facts = world.records.flatMap((record) => record.facts)
    const refused = new Set(facts.flatMap((fact) => (fact.type === 'output-refused' ? [fact.step] : [])))
    const takenBack = facts.flatMap((fact) =>
      fact.type === 'step-finished' && refused.has(fact.step) ? [readText(fact.parts)] : [],
    )
    const unread = said.filter(
      (text) => text.trim() !== '' && !takenBack.includes(text) && !shown.some((step) => step.text === text),
    )
    const refusedCalls = facts.flatMap((fact) =>
      fact.type === 'step-finished' && refused.has(fact.step) ? fact.calls.map(({ callId }) => callId) : [],
    )
    const wrong = results.filter(({ callId, isError }) => {
      const call = calls.get(callId)
      if (refusedCalls.includes(callId)) return call !== undefined // taken back with its step
      if (call?.task) return isError // the model has its receipt
      // For the model, a tool that continues in the background is not an error.
      const failed = call?.result?.type !== 'ok' && !(call?.result?.type === 'cancelled' && call.result.detached)
      return call?.status !== 'settled' || failed !== isError
    })
    const waiting = messages.filter((message) => message.role === 'user' && message.waits)
    const open = messages.filter((message) => message.role === 'assistant' && message.stop === undefined)
    expect({ seed, unread, wrong, waiting: waiting.length, open }).toEqual({
      seed,
      unread: [],
      wrong: [],
      waiting: world.state.queue.length,
      open: [],
    })
  }
})

test('every event is what its JSON Schema says, and every kind of event is told', () => {
  const validate = new Ajv2020({ strict: false, discriminator: false }).compile(SESSION_EVENT_SCHEMA)
  const kinds = new Set<string>()
  const wrong: unknown[] = []
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { records } = exploreSession(seed)
    const { events } = readWhole(addLive(records, createRandom(seed)), true)
    for (const event of events) {
      kinds.add(event.type)
      if (!validate(JSON.parse(JSON.stringify(event)))) wrong.push({ seed, event, errors: validate.errors })
    }
  }
  expect(wrong.slice(0, 3)).toEqual([])
  const named = (
    SESSION_EVENT_SCHEMA['oneOf'] as readonly { readonly properties: { readonly type: { readonly const: string } } }[]
  ) // as written
    .map(({ properties }) => properties.type.const)
  // Exploration has no live calls, no sources, no limits, no children and no deciders.
  const others = [
    'call-writing',
    'server-tool',
    'sources',
    'call-progress',
    'live',
    'limit',
    'content-left-out',
    'behind',
    'request-withdrawn',
    'approval-given',
  ]
  expect(named.filter((kind) => !kinds.has(kind) && !others.includes(kind))).toEqual([])
})

const DELIVERY = ['turn-started', 'answer-spoken', 'interrupted', 'call-offered', 'result-ignored', 'clients-gone']

test('a reader that delivers is told what others are, with its place, and what they are not', () => {
  const counts = { more: 0, placed: 0 }
  const withoutPlace = (event: SessionEvent): object => ({ ...event, cursor: undefined, at: undefined })
  for (let seed = 1; seed <= SEEDS; seed++) {
    const items = addLive(exploreSession(seed).records, createRandom(seed))
    const plain = readWhole(items)
    const { events, places } = readWhole(items, true)
    const others = events.filter(({ type }) => !DELIVERY.includes(type))
    expect({ seed, events: others.map(withoutPlace) }).toEqual({ seed, events: plain.events.map(withoutPlace) })
    expect(plain.events.some((event) => 'at' in event || DELIVERY.includes(event.type))).toBe(false)
    const misplaced = events.filter(({ type, at }, index) => {
      const item = items[places[index] ?? -1]
      if (at === undefined) return DELIVERY.includes(type)
      return item?.type !== 'record' || item.record.pos !== at.pos || item.record.nowMs !== at.nowMs
    })
    expect({ seed, misplaced }).toEqual({ seed, misplaced: [] })
    counts.placed += events.filter(({ at }) => at !== undefined).length
    counts.more += events.length - others.length
  }
  process.stdout.write(`delivery: ${counts.more} events more, ${counts.placed} with their places\n`)
  expect(counts.more).toBeGreaterThan(SEEDS)
})

test('nothing that binds an approval, and no fact of a host, gets out', () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const world = exploreSession(seed)
    const { events } = readWhole(world.records.map((record) => ({ type: 'record', record })))
    const text = JSON.stringify(events)
    expect(text).not.toMatch(/argumentsHash|tokenHash|specHash/)
  }
})

interface Explored {
  readonly records: readonly SessionRecord[]
  readonly state: State
  readonly history: History
  readonly limits: Limits
}

/** Exploration invents progress that no answer continues from, which no model does. */
function exploreSession(seed: number): Explored {
  const { world } = explore({ seed, inputs: 30 })
  const facts = world.records.flatMap((record) => record.facts)
  const isTrue = (fact: Fact): boolean => {
    if (fact.type !== 'attempt-progressed') return true
    const own = facts.filter((other) => 'attempt' in other && other.attempt === fact.attempt)
    const finished = own.find((other) => other.type === 'step-finished')
    return finished?.type !== 'step-finished' || readText(finished.parts).startsWith(joinProgress(own))
  }
  return {
    ...world,
    limits: world.spec.limits,
    records: world.records.map((record) => ({ ...record, facts: record.facts.filter(isTrue) })),
  }
}

function joinProgress(facts: readonly Fact[]): string {
  let text = ''
  for (const fact of facts) if (fact.type === 'attempt-progressed') text = text.slice(0, fact.offset) + fact.text
  return text
}

/** Text of each attempt, as its log ends it; longer if it was cut off or is void. */
function addLive(records: readonly SessionRecord[], random: Random): readonly Item[] {
  const facts = records.flatMap((record) => record.facts)
  const items: Item[] = []
  let waiting: LiveFrame[] = []
  for (const record of records) {
    // Pieces precede the record that ends their attempt, or are dropped.
    while (waiting.length > 0 && random.chance(0.7)) items.push({ type: 'live', frame: waiting.shift()! })
    if (record.facts.some(endsAttempt)) {
      if (random.chance(0.5)) for (const frame of waiting) items.push({ type: 'live', frame })
      waiting = []
    }
    items.push({ type: 'record', record })
    for (const fact of record.facts)
      if (fact.type === 'model-started') waiting = cutIntoPieces(fact.attempt, facts, random)
  }
  return items
}

function endsAttempt(fact: Fact): boolean {
  return ['step-finished', 'step-salvaged', 'attempt-superseded', 'attempt-failed', 'turn-finished'].includes(fact.type)
}

function cutIntoPieces(attempt: number, facts: readonly Fact[], random: Random): LiveFrame[] {
  const own = facts.filter((fact) => 'attempt' in fact && fact.attempt === attempt)
  const finished = own.find((fact) => fact.type === 'step-finished')
  const progress = joinProgress(own)
  const final = finished?.type === 'step-finished' ? readText(finished.parts) : ''
  const isWhole = finished?.type === 'step-finished' && !finished.interrupted
  const said = isWhole ? final : (progress.length > final.length ? progress : final) + 'and more of it'
  const thoughts = isWhole
    ? finished.parts.map((part) => (part.type === 'reasoning' ? part.text : '')).join('')
    : 'a thought'
  const frames: LiveFrame[] = []
  const push = (type: 'text-delta' | 'reasoning-delta', all: string): void => {
    for (let offset = 0; offset < all.length;) {
      const length = 1 + random.below(Math.max(1, Math.ceil(all.length / 3)))
      frames.push({ type, attempt, offset, text: all.slice(offset, offset + length) })
      // A piece may come twice, as happens when a reader was too slow.
      if (random.chance(0.1)) frames.push({ type, attempt, offset, text: all.slice(offset, offset + length) })
      offset += length
    }
  }
  push('reasoning-delta', thoughts)
  push('text-delta', said)
  return frames
}

interface Reading {
  readonly events: readonly SessionEvent[]
  /** The item that each event came from. */
  readonly places: readonly number[]
}

function readWhole(items: readonly Item[], delivery = false): Reading {
  const projection = new SessionProjection()
  const events: SessionEvent[] = []
  const places: number[] = []
  for (const [place, item] of items.entries()) {
    const told =
      item.type === 'record' ? projection.takeRecord(item.record).read(delivery) : projection.takeLive(item.frame)
    for (const event of told === undefined ? [] : 'type' in told ? [told] : told) {
      events.push(event)
      places.push(place)
    }
  }
  return { events, places }
}

/** Like a session: records up to `backAt` come from the log, then what has been written so far, then live events. */
function resume(
  items: readonly Item[],
  { cursor, backAt, delivery }: { readonly cursor: EventCursor; readonly backAt: number; readonly delivery: boolean },
): readonly SessionEvent[] {
  const birth = items.flatMap((item) => (item.type === 'record' ? item.record.facts : []))[0]
  const projection = new SessionProjection({
    birth: birth?.type === 'session-opened' ? birth.birth : '',
  })
  const events: SessionEvent[] = []
  let written: { readonly attempt: number; text: string; reasoning: string } | undefined
  let isResumed = false
  const history = createHistory()
  for (const item of items.slice(0, backAt)) if (item.type === 'record') history.fold(item.record)
  const since = readSince(cursor, history) ?? 0
  const takeUp = (): void => {
    if (!isResumed) projection.resume(cursor)
    isResumed = true
  }
  for (const [place, item] of items.entries()) {
    if (item.type === 'record') {
      const { record } = item
      if (record.pos >= cursor.pos) takeUp()
      if (record.pos >= since) {
        const told = projection.takeRecord(record).read(delivery)
        if (record.pos >= cursor.pos) events.push(...told.slice(record.pos === cursor.pos ? (cursor.read ?? 0) : 0))
      }
      for (const fact of record.facts)
        if (fact.type === 'model-started') written = { attempt: fact.attempt, text: '', reasoning: '' }
        else if (endsAttempt(fact)) written = undefined
    } else if (place < backAt) {
      const { frame } = item
      if (frame.type === 'text-delta' && written?.attempt === frame.attempt)
        written.text =
          written.text.slice(0, frame.offset) + frame.text + written.text.slice(frame.offset + frame.text.length)
      if (frame.type === 'reasoning-delta' && written?.attempt === frame.attempt)
        written.reasoning =
          written.reasoning.slice(0, frame.offset) +
          frame.text +
          written.reasoning.slice(frame.offset + frame.text.length)
    } else {
      const event = projection.takeLive(item.frame)
      if (event) events.push(event)
    }
    if (place === backAt - 1) {
      takeUp()
      if (written) {
        const { attempt, text, reasoning } = written
        for (const frame of [
          { type: 'reasoning-delta', attempt, offset: 0, text: reasoning },
          { type: 'text-delta', attempt, offset: 0, text },
        ] as const) {
          const event = projection.takeLive(frame)
          if (event) events.push(event)
        }
      }
    }
  }
  return events
}

/** Each piece of text follows the previous one. */
function checkTold(events: readonly SessionEvent[]): void {
  const told = new Map<string, number>()
  for (const event of events) {
    if (event.type === 'step-started') for (const type of ['text', 'reasoning']) told.set(`${type} ${event.step}`, 0)
    if (event.type !== 'text' && event.type !== 'reasoning') continue
    const key = `${event.type} ${event.step}`
    expect({ key, offset: event.offset }).toEqual({ key, offset: told.get(key) })
    told.set(key, event.offset + event.text.length)
  }
}

/** Moves texts to the end of their step; leaves out void and cut-off text. */
function normalise(events: readonly SessionEvent[]): readonly object[] {
  const texts = new Map<number, { text: string; reasoning: string }>()
  const rest: object[] = []
  for (const { cursor: _, ...event } of events) {
    if (event.type === 'text' || event.type === 'reasoning') {
      const said = texts.get(event.step) ?? { text: '', reasoning: '' }
      said[event.type] += event.text
      texts.set(event.step, said)
    } else if (event.type === 'step-reset') {
      texts.delete(event.step)
      // An interrupt voids what only connected readers have seen.
      if (event.reason !== 'interrupted') rest.push(event)
    } else if (event.type === 'text-cut' && texts.has(event.step)) {
      const said = texts.get(event.step)
      if (said) said.text = said.text.slice(0, event.keepChars)
    } else if (event.type === 'step-finished') {
      const { text = '', reasoning = '' } = texts.get(event.step) ?? {}
      texts.delete(event.step)
      rest.push({ ...event, text, ...(!event.interrupted && { reasoning }) })
    } else rest.push(event)
  }
  return rest
}
