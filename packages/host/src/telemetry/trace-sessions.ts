// OpenTelemetry tracing: starts and ends the spans folded from records with the program's own tracer. A span begun by
// an earlier process is started again under the same ids, and only the process that commits a span's end ends it.
import type { Context, Span, SpanContext, Tracer } from '@opentelemetry/api'
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Logger } from '@baton/core'
import { BatonError } from '@baton/core'
import type { SessionRecord } from '@baton/core/machine'
import type { ObservedSession, SessionObserver } from '../observer.ts'
import type { SpanChange, SpanEnd, SpanStart, TurnTrace, LogName, SpanIds } from './span-data.ts'
import { SpanFold } from './span-fold.ts'
import { deriveSpanId, deriveTraceId, readTraceparent } from './span-data.ts'

/** Options of `traceSessions`. */
export interface TracingOptions {
  /** A tracer of a provider whose `idGenerator` is `ids`. */
  readonly tracer: Tracer
  readonly ids: SpanIds
  /** Whether spans include messages, arguments, results and error texts. Default: false. */
  readonly content?: boolean
  /** Logs when earlier spans could not be continued. */
  readonly log?: Logger
}

/** Traces sessions with OpenTelemetry: `createHost({ observers: [tracing] })`. */
export interface Tracing extends SessionObserver {
  /**
   * Resolves when the tracer has everything committed so far; await it before shutting down the provider. Never
   * rejects.
   */
  settled(): Promise<void>
}

/** Records of one session that may wait while its log is read; beyond this, the log is read again. */
const WAITING_MAX = 10_000

/**
 * Traces every session of a host: `createHost({ observers: [traceSessions({ tracer, ids })] })`.
 * @throws BatonError `invalid_option` when the tracer's provider does not use `ids`
 */
export function traceSessions(options: TracingOptions): Tracing {
  checkIds(options)
  const sessions = new Map<string, SessionTracer>()
  const loads = new Set<Promise<void>>() // also of sessions that have closed
  const noteLoad = (load: Promise<void>): void => {
    loads.add(load)
    void load.then(() => loads.delete(load))
  }
  return {
    onRecord: (record, session) => {
      const known = sessions.get(session.id)
      // A log that starts over belongs to another session of the same name.
      const tracer = known && record.pos > 0 ? known : new SessionTracer(options, session, noteLoad)
      if (tracer !== known) sessions.set(session.id, tracer)
      tracer.take(record)
    },
    onClose: ({ id }) => void sessions.delete(id),
    settled: async () => {
      while (loads.size > 0) await Promise.all(loads)
    },
  }
}

/** A tracer that records nothing has no ids, so there is nothing to check. */
function checkIds({ tracer, ids }: TracingOptions): void {
  const wanted = { traceId: 'ba'.repeat(16), spanId: 'ba'.repeat(8) }
  const probe = ids.use(wanted, () => tracer.startSpan('baton.probe', { root: true }, ROOT_CONTEXT)).spanContext()
  if (trace.isSpanContextValid(probe) && probe.spanId !== wanted.spanId)
    throw new BatonError({
      code: 'invalid_option',
      message: 'the tracer generates its own span ids, so spans could not continue after a restart',
      hint: 'Create the tracer provider with `idGenerator: ids`, the same `ids` that traceSessions gets.',
    })
}

class SessionTracer {
  /** Whether records of earlier processes are being read from the log. */
  #isLoading = false
  readonly #options: TracingOptions
  readonly #session: ObservedSession
  readonly #noteLoad: (load: Promise<void>) => void
  readonly #name: LogName
  #fold: SpanFold
  readonly #spans = new Map<string, Span>()
  #waiting: SessionRecord[] = []
  /** Position of the newest record passed to the tracer. */
  #toldPos = -1
  #epoch = -1

  constructor(options: TracingOptions, session: ObservedSession, noteLoad: (load: Promise<void>) => void) {
    const { birth } = session.state()
    this.#options = options
    this.#session = session
    this.#noteLoad = noteLoad
    this.#name = { session: session.id, birth }
    this.#fold = this.#createFold()
  }

  take(record: SessionRecord): void {
    if (this.#isLoading) {
      if (this.#waiting.length < WAITING_MAX) this.#waiting.push(record)
      return
    }
    if (record.pos !== this.#fold.pos + 1) {
      this.#waiting = [record]
      this.#isLoading = true
      this.#noteLoad(this.#load(record))
      return
    }
    this.#epoch = record.epoch
    this.#toldPos = record.pos
    for (const change of this.#fold.fold(record)) this.#apply(change)
  }

  /**
   * Reads the log from the start of the newest turn, or from the beginning if one of its inputs was accepted earlier.
   * Never rejects.
   */
  async #load(first: SessionRecord): Promise<void> {
    const turn = this.#session.lastTurn()
    try {
      await this.#read(Math.min(turn?.pos ?? first.pos, first.pos), first)
      if (this.#fold.missesInputs) await this.#read(0, first)
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      this.#options.log?.warn('earlier spans are lost because the log could not be read', {
        session: this.#session.id,
        cause: why,
      })
      this.#fold = this.#createFold()
      this.#fold.pos = first.pos - 1
    }
    this.#goOn()
    this.#isLoading = false
    const waiting = this.#waiting
    this.#waiting = []
    for (const record of waiting) this.take(record)
  }

  async #read(fromPos: number, { pos: untilPos }: SessionRecord): Promise<void> {
    this.#fold = this.#createFold()
    this.#fold.pos = untilPos - 1
    for await (const record of this.#session.read(fromPos)) {
      if (record.pos >= untilPos) return
      // Records this process committed without noticing, for example when a store fails after storing them.
      const isUntold = record.epoch === this.#epoch && record.pos > this.#toldPos
      const changes = this.#fold.fold(record)
      if (!isUntold) continue
      this.#toldPos = record.pos
      for (const change of changes) this.#apply(change)
    }
  }

  /** Starts spans that are open in the log; spans that others ended are dropped. */
  #goOn(): void {
    for (const key of this.#spans.keys()) if (!this.#fold.open.has(key)) this.#spans.delete(key)
    for (const { start } of this.#fold.open.values()) if (!this.#spans.has(start.key)) this.#start(start)
  }

  #createFold(): SpanFold {
    const { agent } = this.#session.state()
    return new SpanFold({ session: this.#session.id, agent, content: this.#options.content === true })
  }

  #apply(change: SpanChange): void {
    if (change.type === 'start') this.#start(change.span)
    else if (change.type === 'end') this.#end(change.span)
    else if (change.type === 'event')
      this.#spans.get(change.key)?.addEvent(change.event.name, change.event.attributes, change.event.atMs)
    else this.#spans.get(change.key)?.addLink({ context: toContext(change.traceparent) })
  }

  #start(start: SpanStart): void {
    const { key, parentKey, name, kind, startMs, attributes } = start
    const ids = { traceId: this.#findTraceId(start.trace), spanId: deriveSpanId(this.#name, key) }
    const options = {
      kind: kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL,
      startTime: startMs,
      attributes: { ...attributes },
    }
    const context = this.#findParent(start.trace, parentKey)
    this.#spans.set(
      key,
      this.#options.ids.use(ids, () => this.#options.tracer.startSpan(name, options, context)),
    )
  }

  #end({ key, endMs, attributes, error }: SpanEnd): void {
    const span = this.#spans.get(key)
    if (!span) return
    this.#spans.delete(key)
    span.setAttributes({ ...attributes })
    const message = this.#options.content ? (error?.message ?? error?.type) : error?.type
    if (error) span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) })
    span.end(endMs)
  }

  #findTraceId({ parent, turn }: TurnTrace): string {
    return parent === undefined ? deriveTraceId(this.#name, turn) : readTraceparent(parent).traceId
  }

  #findParent(turn: TurnTrace, parentKey: string | undefined): Context {
    if (parentKey === undefined)
      return turn.parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, toContext(turn.parent))
    const open = this.#spans.get(parentKey)
    if (open) return trace.setSpan(ROOT_CONTEXT, open)
    const ids = { traceId: this.#findTraceId(turn), spanId: deriveSpanId(this.#name, parentKey) }
    return trace.setSpanContext(ROOT_CONTEXT, { ...ids, traceFlags: 1 })
  }
}

function toContext(traceparent: string): SpanContext {
  return { ...readTraceparent(traceparent), isRemote: true }
}
