// Readers of one session over random logs and live pieces. Each gets every event once and in order, at any place,
// moment and pace.
import type { EventCursor, SessionEvent } from '@baton/core/internal'
import { SessionProjection } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import { applyRecord, createHistory, initialState } from '@baton/core/machine'
import type { Random } from '@baton/core/testing'
import { createRandom } from '@baton/core/testing'
import { chooseCount } from '@baton/testing/depth'
import { expect, test } from 'vitest'
import type { SessionWorld } from '../catalog/catalog.ts'
import type { ReadingOptions } from './reader.ts'
import { EventReader } from './reader.ts'
import type { Item } from './stream-logs.test-kit.ts'
import { addPieces, exploreLog } from './stream-logs.test-kit.ts'
import { SessionStream } from './stream.ts'

const LOGS = chooseCount({ quick: 30, deep: 1000 })
const READERS = 20

test(`every reader gets every event once and in order (${LOGS} logs, ${READERS} readers of each)`, async () => {
  const counts = { events: 0, live: 0, behind: 0, returns: 0, cut: 0 }
  for (let seed = 1; seed <= LOGS; seed++) {
    const play = new Play(seed)
    await play.run()
    for (const [index, follower] of play.followers.entries()) {
      const told = follower.told.filter(({ type }) => type !== 'live')
      checkOffsets(told, `seed ${seed}, reader ${index} (${follower.name})`)
      checkLive(follower)
      const isBehind = told.at(-1)?.type === 'behind'
      const expected = normalise(follower.expected, follower)
      const events = normalise(told, follower)
      // A device that is behind, and a reader whose consumer throws, have read the beginning.
      const end = isBehind || follower.isCut ? events.length : expected.length
      expect({ seed, index, name: follower.name, ended: follower.hasEnded, events }).toEqual({
        seed,
        index,
        name: follower.name,
        ended: true,
        events: expected.slice(0, end),
      })
      expect({ seed, index, isBehind: isBehind && !follower.mayMiss }).toEqual({ seed, index, isBehind: false })
      counts.events += told.length
      counts.live += told.length - events.length
      counts.behind += isBehind ? 1 : 0
      counts.returns += follower.returns
      counts.cut += follower.isCut ? 1 : 0
    }
  }
  process.stdout.write(`readers: ${JSON.stringify(counts)}\n`)
})

interface Follower {
  readonly name: string
  readonly delivery: boolean
  readonly told: SessionEvent[]
  readonly expected: readonly SessionEvent[]
  /** It began in the middle of a turn, so that it does not know the turn's usage and limits. */
  readonly isLate: boolean
  /** The record of the turn where it begins: it does not know what the session did before. */
  readonly since: number | undefined
  readonly headPos: number | undefined
  mayMiss: boolean
  hasEnded: boolean
  isCut: boolean
  returns: number
}

/** One log, played to its readers. */
class Play {
  readonly followers: Follower[] = []
  readonly #random: Random
  readonly #items: readonly Item[]
  readonly #log: SessionRecord[] = []
  readonly #openStream: () => SessionStream
  #stream: SessionStream
  readonly #oracles: readonly (readonly (readonly SessionEvent[])[])[]
  readonly #gates = new Set<() => void>()
  readonly #running: Promise<void>[] = []
  #state = initialState('explored')
  readonly #history = createHistory()
  #isOver = false

  constructor(seed: number) {
    this.#random = createRandom(seed)
    const { records, spec } = exploreLog(seed)
    this.#items = addPieces(records, this.#random)
    this.#oracles = [false, true].map((delivery) => {
      const oracle = new SessionProjection({
        limits: () => spec.limits,
        contextTokens: () => spec.window.contextTokens,
      })
      return records.map((record) => oracle.takeRecord(record).read(delivery))
    })
    this.#openStream = () =>
      new SessionStream({
        session: 'explored',
        world: () => ({ spec }) as unknown as SessionWorld, // only what projections read
        state: () => this.#state,
        history: () => this.#history,
        readLog: (fromPos) => this.#readLog(fromPos),
      })
    this.#stream = this.#openStream()
  }

  async run(): Promise<void> {
    const random = this.#random
    const births = Array.from({ length: READERS }, () => random.below(this.#items.length)).sort((a, b) => a - b)
    for (let index = 0; index < this.#items.length;) {
      while (births[0] !== undefined && births[0] <= index) {
        births.shift()
        this.#follow()
      }
      if (random.chance(0.01)) this.#restart()
      index = random.chance(0.04) ? await this.#playElsewhere(index) : this.#playHere(index)
      await this.#pass()
    }
    for (const _ of births) this.#follow()
    if (random.chance(0.5)) await this.#pass()
    this.#isOver = true
    this.#stream.end()
    for (let rounds = 0; rounds < 50; rounds++) await this.#open(1)
  }

  /** Ends the process. Readers resume with text that the log does not have. */
  #restart(): void {
    this.#stream.end()
    this.#stream = this.#openStream()
    this.#stream.startAfter(this.#state.pos)
  }

  #playHere(index: number): number {
    const item = this.#items[index]
    if (item?.type === 'live') this.#stream.publishLive(item.frame)
    else if (item) {
      this.#log.push(item.record)
      this.#fold(item.record)
      this.#stream.publishRecord(item.record)
    }
    return index + 1
  }

  /** Another host appends some records; then the session is opened again, and publishes those behind its snapshot. */
  async #playElsewhere(index: number): Promise<number> {
    const end = Math.min(this.#items.length, index + 1 + this.#random.below(8))
    const records = this.#items.slice(index, end).flatMap((item) => (item.type === 'record' ? [item.record] : []))
    this.#log.push(...records)
    const snapshot = records[this.#random.below(records.length + 1) - 1]
    if (snapshot) {
      this.#stream.startAfter(snapshot.pos)
      for (const follower of this.followers) follower.mayMiss = true
    }
    await this.#pass()
    if (this.#random.chance(0.3)) this.#follow()
    for (const record of records) this.#stream.publishRecord(record)
    await this.#pass()
    if (this.#random.chance(0.3)) this.#follow()
    for (const record of records) this.#fold(record)
    this.#stream.notice()
    return end
  }

  #fold(record: SessionRecord): void {
    this.#state = applyRecord(this.#state, record)
    this.#history.fold(record)
  }

  async *#readLog(fromPos: number): AsyncGenerator<SessionRecord> {
    for (let pos = fromPos; pos < this.#log.length; pos++) {
      await tick(this.#random.below(4))
      const record = this.#log[pos]
      if (record) yield record
    }
  }

  async #pass(): Promise<void> {
    await tick(this.#random.below(6))
    if (this.#random.chance(0.3)) await this.#open(0.3)
  }

  /** Lets some of the slow readers continue, and all others catch up. */
  async #open(share: number): Promise<void> {
    for (const open of this.#gates)
      if (this.#random.chance(share)) {
        this.#gates.delete(open)
        open()
      }
    await new Promise<void>((resolve) => void setImmediate(resolve))
  }

  #follow(): void {
    const random = this.#random
    const delivery = random.chance(0.3)
    const isSlow = random.chance(0.5)
    const begin = this.#chooseBegin(delivery)
    const tellsLive = random.chance(0.5) && begin.prefix.length === 0
    const headPos = tellsLive ? this.#state.pos : undefined
    const bounds = isSlow ? { eventsMax: 1 + random.below(6), textMax: 1 + random.below(30) } : {}
    const options = { delivery, ...bounds }
    const follower: Follower = {
      name: `${begin.name}${delivery ? ', a device' : ''}${isSlow ? ', slow' : ''}`,
      delivery,
      told: [...begin.prefix],
      expected: begin.expected,
      isLate: begin.isLate,
      since: begin.since,
      headPos,
      mayMiss: isSlow,
      hasEnded: false,
      isCut: false,
      returns: 0,
    }
    this.followers.push(follower)
    const reader = new EventReader(this.#stream, { ...options, from: begin.from, headPos })
    const isTurn = !delivery && random.chance(0.2)
    const read = isTurn
      ? this.#drain(follower, reader)
      : this.#read(follower, { reader, options, isSlow, next: begin.from })
    this.#running.push(read)
  }

  async #drain(follower: Follower, reader: EventReader): Promise<void> {
    const stream = this.#stream
    if (this.#random.chance(0.5)) await this.#wait()
    const failure = new Error('the consumer throws')
    const throwsAt = this.#random.chance(0.3) ? follower.told.length + this.#random.below(30) : Infinity
    try {
      await reader.drain((events) => {
        for (const event of events) {
          if (follower.told.length >= throwsAt) throw failure
          follower.told.push(event)
        }
        return false
      })
      follower.isCut = stream !== this.#stream
      follower.hasEnded = true
    } catch (cause) {
      follower.hasEnded = follower.isCut = cause === failure
    }
  }

  async #read(
    follower: Follower,
    init: {
      readonly reader: EventReader
      readonly options: ReadingOptions
      readonly isSlow: boolean
      readonly next: EventCursor | undefined
    },
  ): Promise<void> {
    const { options, isSlow } = init
    let { reader, next } = init
    let stream = this.#stream
    for (;;) {
      if (isSlow && !this.#isOver) await this.#wait()
      const batch = await reader.nextBatch()
      if (!batch) {
        if (stream === this.#stream || follower.told.at(-1)?.type === 'behind') break
        stream = this.#stream
        follower.isCut = next === undefined || follower.headPos !== undefined
        if (follower.isCut) break
        reader = new EventReader(stream, { ...options, from: next })
        continue
      }
      next = batch.next
      follower.told.push(...batch.events)
      if (follower.headPos !== undefined || batch.events.at(-1)?.type === 'behind' || !this.#random.chance(0.1))
        continue
      // It leaves after one of the events, and returns with its cursor.
      const left = this.#random.below(batch.events.length)
      follower.told.length -= left
      const from = left === 0 && this.#random.chance(0.5) ? batch.next : follower.told.at(-1)?.cursor
      follower.returns += 1
      reader.leave()
      if (this.#random.chance(0.5)) await this.#wait()
      next = from
      stream = this.#stream
      reader = new EventReader(stream, { ...options, from })
    }
    follower.hasEnded = true
  }

  /** Until a later moment of the play. */
  #wait(): Promise<void> {
    return this.#isOver ? Promise.resolve() : new Promise((resolve) => void this.#gates.add(resolve))
  }

  #chooseBegin(delivery: boolean): Begin {
    const records = this.#oracles[delivery ? 1 : 0] ?? []
    const whole = { from: { pos: 0 }, prefix: [], expected: records.flat(), isLate: false }
    const since = this.#history.lastTurn()?.pos
    const others = this.followers.filter((other) => other.delivery === delivery)
    const other = others[this.#random.below(others.length)]
    const kind = this.#random.below(4)
    if (kind === 0 && other) {
      const index = this.#random.below(other.told.length)
      const last = other.told[index]
      if (last && last.type !== 'behind') {
        const { expected, isLate, since } = other
        const prefix = other.told.slice(0, index + 1).filter(({ type }) => type !== 'live')
        const name = `cursor ${JSON.stringify(last.cursor)} of ${other.name}`
        return { name, from: last.cursor, prefix, expected, isLate, since }
      }
    }
    // A device that begins at a turn receives the end of the former turn, which it has not read.
    if (kind === 1 && since !== undefined && !delivery) {
      const [first = [], ...later] = records.slice(since)
      const expected = [...dropFormerTurn(first), ...later.flat()]
      return { ...whole, name: `turn at ${since}`, from: { pos: since, since }, expected, since }
    }
    const { pos } = this.#state
    if (kind === 3 || this.#stream.nextPos !== pos + 1) return { ...whole, name: 'start' }
    const before = records.slice(0, pos + 1).flat()
    const begun = before.findLastIndex(({ type }) => ['step-started', 'step-finished', 'step-reset'].includes(type))
    const isOpen = before[begun]?.type === 'step-started'
    const written = isOpen ? before.slice(begun).filter(({ type }) => type === 'text') : []
    const expected = [...written, ...records.slice(pos + 1).flat()]
    return { name: `now at ${pos + 1}`, from: undefined, prefix: [], expected, isLate: true }
  }
}

interface Begin {
  readonly name: string
  readonly from: EventCursor | undefined
  /** Events read before. */
  readonly prefix: readonly SessionEvent[]
  readonly expected: readonly SessionEvent[]
  readonly isLate: boolean
  readonly since?: number | undefined
}

async function tick(count: number): Promise<void> {
  for (let left = count; left > 0; left--) await Promise.resolve()
}

const OF_STEPS = new Set<string>(['call', 'step-closed', 'step-reset', 'text-cut', 'output-refused'])

/** A queued message begins its turn in the record that ends the turn before, and the steps of that. */
function dropFormerTurn(events: readonly SessionEvent[]): readonly SessionEvent[] {
  const begun = events.findLastIndex((event) => event.type === 'message-added' && event.message.role === 'assistant')
  const former = events.slice(0, begun).findLastIndex(({ type }) => type === 'turn-finished')
  return events.filter((event, index) => {
    if (index >= begun) return true
    const isQuestion = event.type === 'message-added' && event.message.role === 'user'
    return (index > former || isQuestion) && !OF_STEPS.has(event.type)
  })
}

/** Each piece of a text, of thoughts and of an input follows the one before. */
function checkOffsets(events: readonly SessionEvent[], name: string): void {
  const told = new Map<string, number>()
  for (const event of events) {
    if (event.type === 'step-started') told.clear()
    if (event.type === 'text-cut') told.set(`text ${event.step}`, event.keepChars)
    if (event.type !== 'text' && event.type !== 'reasoning' && event.type !== 'call-writing') continue
    const key = event.type === 'call-writing' ? event.callId : `${event.type} ${event.step}`
    expect({ name, key, offset: event.offset }).toEqual({ name, key, offset: told.get(key) ?? 0 })
    told.set(key, event.offset + event.text.length)
  }
}

/** Expects `live` once, after the records of the past. */
function checkLive({ name, told, headPos, isCut }: Follower): void {
  const places = told.flatMap(({ type }, index) => (type === 'live' ? [index] : []))
  const isBehind = told.at(-1)?.type === 'behind'
  const isUntold = places.length === 0 && (isCut || isBehind)
  const count = headPos === undefined || isUntold ? 0 : 1
  const pastEnd = headPos ?? Infinity
  const [place = told.length] = places
  const early = told.slice(place + 1).filter(({ cursor }) => cursor.pos <= pastEnd)
  const late = told.slice(0, place).filter(({ cursor }) => cursor.pos > pastEnd + 1)
  expect({ name, count: places.length, early, late }).toEqual({ name, count, early: [], late: [] })
}

const LIVE_ONLY = new Set<string>(['live', 'behind', 'call-writing', 'call-progress', 'server-tool'])

/** Moves texts to the end of their step, and removes void and cut text. */
function normalise(events: readonly SessionEvent[], { isLate, since }: Follower): readonly object[] {
  const texts = new Map<number, { text: string; reasoning: string }>()
  const rest: object[] = []
  for (const { cursor, ...event } of events) {
    const isFirst = cursor.pos === since || (cursor.pos === Number(since) + 1 && cursor.read === undefined)
    if (isFirst && event.type === 'session' && event.activity) continue
    // The record that begins a turn has only calls of former turns; readers get the calls that outlived their turns.
    if (cursor.pos === since && event.type === 'call') continue
    if (LIVE_ONLY.has(event.type) || (isLate && event.type === 'limit')) continue
    if (event.type === 'text' || event.type === 'reasoning') {
      const said = texts.get(event.step) ?? { text: '', reasoning: '' }
      said[event.type] += event.text
      texts.set(event.step, said)
    } else if (event.type === 'step-reset') {
      texts.delete(event.step)
      rest.push(event)
    } else if (event.type === 'text-cut' && texts.has(event.step)) {
      const said = texts.get(event.step)
      if (said) said.text = said.text.slice(0, event.keepChars)
    } else if (event.type === 'step-finished') {
      const { text = '', reasoning = '' } = texts.get(event.step) ?? {}
      texts.delete(event.step)
      rest.push({ ...event, text, ...(!event.interrupted && { reasoning }) })
    } else rest.push(isLate && event.type === 'turn-finished' ? { ...event, usage: {} } : event)
  }
  return rest
}
