// Merges the events of a session with those of the sessions below it. A child's events stand between the first and the last event of
// its call. Requests are taken from the root alone, and calls from the session that makes them; the root also has the calls below
// that its clients run.
import type { EventBatch, EventCursor, EventStream, SessionEvent } from '@baton/core/internal'
import { isBatonError, readRequest } from '@baton/core/internal'
import type { PathStep } from '@baton/core/machine'
import { restsAsChild } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import { openEvents } from './reader.ts'
import { openBelow } from './read-child.ts'

export interface TreeReading {
  readonly from: EventCursor | 'start' | 'turn' | 'now'
  readonly onEnd?: (reader: TreeReader) => void
}

type ChildCursor = NonNullable<EventCursor['children']>[number]

/** Errors of one child's log that do not concern the others; the event of its call says that it is lost. */
const IS_LOST: ReadonlySet<string> = new Set(['unknown_session', 'log_damaged', 'log_version_unknown'])

export class TreeReader implements EventStream, AsyncIterator<SessionEvent, undefined> {
  readonly #engine: SessionEngine
  readonly #own: Source
  readonly #children = new Map<string, Source>()
  readonly #onEnd: TreeReading['onEnd']
  /** Events of the session itself that wait until those of children were read. */
  #held: readonly SessionEvent[] = []
  /** The cursor after the last event of the session itself. */
  #reached: EventCursor
  #isOver = false
  /** Set while a caller waits for a source. */
  #change: PromiseWithResolvers<void> | undefined
  /** Events that the iterator took but has not returned. */
  #batch: SessionEvent[] = []
  /** Shared by all callers who wait for the next event. */
  #filling: Promise<void> | undefined

  /** @throws BatonError `invalid_event` */
  constructor(engine: SessionEngine, { from, onEnd }: TreeReading) {
    this.#engine = engine
    this.#onEnd = onEnd
    const { children = [], ...place } = typeof from === 'object' ? from : { pos: 0 }
    this.#own = this.#open(openEvents(engine, { from: typeof from === 'object' ? place : from, tellsLive: true }))
    this.#reached = place
    if (typeof from === 'object') for (const [callId, cursor] of splitByCall(children)) this.#follow(callId, cursor)
    const { children: open, counters } = engine.state()
    // These readers do not see again how they began.
    const isEarlier = ({ began, turn }: (typeof open)[number]): boolean =>
      typeof from === 'object' ? began < from.pos : from === 'turn' && turn < counters.turn
    for (const child of open)
      if (from === 'now' || (isEarlier(child) && !this.#children.has(child.callId)))
        this.#follow(child.callId, from === 'now' ? from : 'start')
  }

  [Symbol.asyncIterator](): AsyncIterator<SessionEvent, undefined> {
    return this
  }

  /** Returns undefined at the end. */
  async nextBatch(): Promise<EventBatch | undefined> {
    while (!this.#isOver) {
      const events = [...this.#takeChildren(), ...this.#takeOwn()]
      const next = events.at(-1)?.cursor
      if (next) return { events, next }
      const sources = [this.#own, ...this.#children.values()]
      const failed = sources.find(({ failure }) => failure)
      if (failed || (this.#own.isOver && this.#held.length === 0)) {
        this.leave()
        if (failed?.failure) throw failed.failure.cause
        return undefined
      }
      // A waiting event of the session's own holds up the later ones.
      for (const source of this.#held.length > 0 ? sources.slice(1) : sources) source.fill()
      await (this.#change ??= Promise.withResolvers()).promise
    }
    return undefined
  }

  async next(): Promise<IteratorResult<SessionEvent, undefined>> {
    for (;;) {
      const value = this.#batch.shift()
      if (value) return { done: false, value }
      if (this.#isOver) return { done: true, value: undefined }
      await (this.#filling ??= this.#fill())
    }
  }

  return(): Promise<IteratorResult<SessionEvent, undefined>> {
    this.leave()
    return Promise.resolve({ done: true, value: undefined })
  }

  /** Ends the reading at once, even while a caller waits for the next event. */
  leave(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#batch = []
    for (const source of [this.#own, ...this.#children.values()]) source.leave()
    this.#wake()
    this.#onEnd?.(this)
  }

  #wake(): void {
    this.#change?.resolve()
    this.#change = undefined
  }

  #open(stream: SourceStream): Source {
    return new Source(stream, () => this.#wake())
  }

  async #fill(): Promise<void> {
    try {
      this.#batch = [...((await this.nextBatch())?.events ?? [])]
    } finally {
      this.#filling = undefined
    }
  }

  #takeChildren(): readonly SessionEvent[] {
    const events: SessionEvent[] = []
    for (const child of this.#children.values())
      for (const event of child.take()) {
        child.reached = event.cursor
        if (isOfChild(event)) events.push({ ...event, cursor: this.#cursor() })
      }
    return events
  }

  /** Takes the session's own events, up to the first that must wait for children. */
  #takeOwn(): readonly SessionEvent[] {
    const events = [...this.#held, ...this.#own.take()]
    const waiting = events.findIndex((event) => this.#waits(event))
    this.#held = waiting < 0 ? [] : events.slice(waiting)
    const told = waiting < 0 ? events : events.slice(0, waiting)
    return told.flatMap((event) => {
      this.#reached = event.cursor
      // The session that makes a call has its events; a client acts on those of the root.
      const isBelow = event.type === 'call' && event.call.path && event.call.runs === 'server'
      return isBelow ? [] : { ...event, cursor: this.#cursor() }
    })
  }

  /** Returns whether an event must wait for unread events of a child. Starts to follow a child at its first event. */
  #waits(event: SessionEvent): boolean {
    if (event.type !== 'call' || !event.call.child) return false
    const { callId, child } = event.call
    const known = this.#children.get(callId)
    if (child.status !== 'ended' && child.status !== 'lost') {
      if (!known) this.#follow(callId, 'start')
      return false
    }
    if (known && !known.isOver) return true
    this.#children.delete(callId)
    return false
  }

  #follow(callId: string, from: TreeReading['from']): void {
    const source = this.#open(new Below(this.#engine, callId, from))
    if (from !== 'now') source.reached = typeof from === 'object' ? from : { pos: 0 }
    this.#children.set(callId, source)
  }

  #cursor(): EventCursor {
    const children = [...this.#children].flatMap(([callId, { reached }]) => (reached ? joinCalls(callId, reached) : []))
    return children.length > 0 ? { ...this.#reached, children } : this.#reached
  }
}

/** Whether an event of a child is taken. The root has the requests of all, and relayed calls are those of a session below. */
function isOfChild(event: SessionEvent): boolean {
  return event.type !== 'live' && !readRequest(event) && !(event.type === 'call' && event.call.path)
}

/** One of the streams that are read together: holds at most one batch. */
class Source {
  readonly #stream: SourceStream
  readonly #wake: () => void
  #events: readonly SessionEvent[] = []
  #isFilling = false
  isOver = false
  failure: { readonly cause: unknown } | undefined
  /** The cursor after its last event. */
  reached: EventCursor | undefined

  /** `wake` is called when there are events, at the end, and after a failure. */
  constructor(stream: SourceStream, wake: () => void) {
    this.#stream = stream
    this.#wake = wake
  }

  fill(): void {
    if (!this.#isFilling && !this.isOver) void this.#fill()
  }

  take(): readonly SessionEvent[] {
    const events = this.#events
    this.#events = []
    return events
  }

  leave(): void {
    this.#events = []
    this.#stream.leave()
  }

  /** Never rejects. */
  async #fill(): Promise<void> {
    this.#isFilling = true
    try {
      const batch = await this.#stream.nextBatch()
      this.#events = batch?.events ?? []
      if (!batch) this.isOver = true
    } catch (cause) {
      this.failure = { cause }
    }
    this.#isFilling = false
    this.#wake()
  }
}

type SourceStream = Pick<EventStream, 'nextBatch' | 'leave'>

interface OpenedBelow {
  readonly engine: SessionEngine
  /** Whether the call has ended, so that its log will have nothing more. */
  readonly hasEnded: boolean
  readonly reader: TreeReader
  readonly step: PathStep
}

/** Events of one child, over all its openings here. */
class Below {
  readonly #caller: SessionEngine
  readonly #callId: string
  #from: TreeReading['from']
  #open: OpenedBelow | undefined
  #isLeft = false

  constructor(caller: SessionEngine, callId: string, from: TreeReading['from']) {
    this.#caller = caller
    this.#callId = callId
    this.#from = from
  }

  /** Returns undefined when the call has ended and all was read. */
  async nextBatch(): Promise<EventBatch | undefined> {
    try {
      while (!this.#isLeft) {
        const open = (this.#open ??= await this.#openReader())
        if (!open) return undefined
        // The reader may have left while this one was opened.
        if (this.#isLeft) open.reader.leave()
        const batch = await open.reader.nextBatch()
        if (batch) {
          this.#from = batch.next
          const events = batch.events.map((event) => ({ ...event, path: [open.step, ...(event.path ?? [])] }))
          return { events, next: batch.next }
        }
        this.#open = undefined
        // Otherwise it has failed, and is opened again.
        if (open.hasEnded || restsAsChild(open.engine.state())) return undefined
      }
    } catch (cause) {
      if (!isBatonError(cause) || !IS_LOST.has(cause.code)) throw cause
    }
    return undefined
  }

  leave(): void {
    this.#isLeft = true
    this.#open?.reader.leave()
  }

  async #openReader(): Promise<OpenedBelow | undefined> {
    const callId = this.#callId
    const opened = await openBelow(this.#caller, callId, () => this.#isLeft)
    if (!opened || this.#isLeft) return undefined
    const { engine } = opened
    const step = { callId, agent: engine.state().agent }
    return { ...opened, step, reader: new TreeReader(engine, { from: this.#from }) }
  }
}

/** Cursors of the children of a session, by their calls. */
function splitByCall(children: readonly ChildCursor[]): ReadonlyMap<string, EventCursor> {
  const cursors = new Map<string, EventCursor>()
  for (const { path, ...place } of children.toSorted((one, other) => one.path.length - other.path.length)) {
    const [callId = '', ...rest] = path
    if (rest.length === 0) cursors.set(callId, place)
    else {
      const above = cursors.get(callId) ?? { pos: 0 }
      cursors.set(callId, { ...above, children: [...(above.children ?? []), { path: rest, ...place }] })
    }
  }
  return cursors
}

function joinCalls(callId: string, { children = [], ...place }: EventCursor): readonly ChildCursor[] {
  return [{ path: [callId], ...place }, ...children.map((one) => ({ ...one, path: [callId, ...one.path] }))]
}
