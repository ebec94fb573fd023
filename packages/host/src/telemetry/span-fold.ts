// Folds the records of one session into spans, following OpenTelemetry's GenAI conventions (semantic-conventions 1.38,
// gen-ai-agent-spans and gen-ai-spans, seen 2026-11). Pure: it uses no tracing library or clock, and only ids from the
// log.
import type { Fact, FactOf, SessionRecord } from '@baton/core/machine'
import { foldCall } from './fold-call.ts'
import { foldModel } from './fold-model.ts'
import { describeInputs } from './span-data.ts'
import type {
  Attributes,
  OpenSpan,
  SpanChange,
  SpanEnd,
  SpanFoldOptions,
  SpanStart,
  SpanWriter,
  TurnTrace,
} from './span-data.ts'

/** Waiting inputs to remember; the oldest are forgotten first. */
const WAITING_MAX = 1000

export class SpanFold implements SpanWriter {
  readonly init: SpanFoldOptions
  readonly open = new Map<string, OpenSpan>()
  readonly stepKeys = new Map<number, string>()
  readonly waits = new Map<string, Set<string>>()
  readonly usage = { inputTokens: 0, outputTokens: 0, costMicros: 0 }
  trace: TurnTrace | undefined
  nowMs = 0
  pos = -1
  /** Whether an input entered that was accepted before the first folded record. */
  missesInputs = false
  #agent: string
  #changes: SpanChange[] = []
  /** A turn whose inputs have not entered yet: they determine its trace. */
  #begun: FactOf<'turn-started'> | undefined
  readonly #waiting = new Map<string, FactOf<'input-accepted'>>()

  constructor(init: SpanFoldOptions) {
    this.init = init
    this.#agent = init.agent
  }

  /** The spans begun and ended by the record, in order. */
  fold(record: SessionRecord): readonly SpanChange[] {
    this.#changes = []
    this.pos = record.pos
    this.nowMs = record.wallMs ?? record.nowMs
    for (const fact of record.facts) {
      this.#foldTurn(fact)
      foldModel(this, fact)
      foldCall(this, fact)
    }
    return this.#changes
  }

  begin(start: Omit<SpanStart, 'startMs' | 'trace'>): void {
    const { trace } = this
    if (!trace || this.open.has(start.key)) return
    const span = { ...start, trace, startMs: this.nowMs }
    this.open.set(start.key, { start: span, attributes: {} })
    this.#changes.push({ type: 'start', span })
  }

  note(key: string, attributes: Attributes): void {
    const span = this.open.get(key)
    if (span) Object.assign(span.attributes, attributes)
  }

  end(key: string, attributes: Attributes = {}, error?: SpanEnd['error']): void {
    const span = this.open.get(key)
    if (!span) return
    this.open.delete(key)
    // A clock may be set back; a span must not end before it began.
    const endMs = Math.max(span.start.startMs, this.nowMs)
    const all = { ...span.attributes, ...attributes, ...(error && { 'error.type': error.type }) }
    this.#changes.push({ type: 'end', span: { key, endMs, attributes: all, ...(error && { error }) } })
  }

  tell(key: string, name: string, attributes: Attributes = {}): void {
    if (this.open.has(key)) this.#changes.push({ type: 'event', key, event: { name, atMs: this.nowMs, attributes } })
  }

  #foldTurn(fact: Fact): void {
    switch (fact.type) {
      case 'session-opened':
        this.#agent = fact.agent
        return
      case 'agent-changed':
        this.#agent = fact.agent ?? this.#agent
        return
      case 'input-accepted': {
        const [oldest] = this.#waiting.keys()
        if (this.#waiting.size >= WAITING_MAX && oldest !== undefined) this.#waiting.delete(oldest)
        this.#waiting.set(fact.inputId, fact)
        return
      }
      case 'turn-started':
        this.trace = { turn: fact.turn, parent: undefined }
        this.#begun = fact
        return
      case 'inputs-entered':
        this.#enter(fact)
        return
      case 'interrupt-accepted':
        if (this.trace) this.tell(`turn/${this.trace.turn}`, 'baton.interrupted', { 'baton.reason': fact.reason })
        return
      case 'host-restarted':
        if (this.trace) this.tell(`turn/${this.trace.turn}`, 'baton.host_restarted', { 'baton.down_ms': fact.downMs })
        return
      case 'turn-finished':
        this.#finishTurn(fact)
        return
      default:
    }
  }

  #enter({ entries }: FactOf<'inputs-entered'>): void {
    const ids = entries.flatMap(({ inputs }) => inputs)
    const inputs = ids.flatMap((id) => this.#waiting.get(id) ?? [])
    if (inputs.length < ids.length) this.missesInputs = true
    for (const id of ids) this.#waiting.delete(id)
    const parents = inputs.flatMap(({ traceparent }) => traceparent ?? [])
    const begun = this.#begun
    this.#begun = undefined
    if (begun) {
      const parent = parents.shift()
      this.trace = { turn: begun.turn, parent }
      Object.assign(this.usage, { inputTokens: 0, outputTokens: 0, costMicros: 0 })
      const [model = ''] = begun.models
      this.begin({
        key: `turn/${begun.turn}`,
        name: `invoke_agent ${this.#agent}`,
        kind: 'internal',
        attributes: {
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.agent.name': this.#agent,
          'gen_ai.conversation.id': this.init.session,
          'gen_ai.request.model': model,
          'baton.turn': begun.turn,
        },
      })
    }
    if (!this.trace) return
    const key = `turn/${this.trace.turn}`
    for (const traceparent of parents) this.#changes.push({ type: 'link', key, traceparent })
    if (this.init.content && begun && inputs.length > 0) this.note(key, describeInputs(inputs))
  }

  #finishTurn({ turn, outcome, error }: FactOf<'turn-finished'>): void {
    const { inputTokens, outputTokens, costMicros } = this.usage
    const failed = error && { type: error.code, message: error.message }
    const key = `turn/${turn}`
    // An open attempt was cut off by this end. A step with open calls continues without its turn.
    for (const { start } of [...this.open.values()].reverse()) {
      if (start.trace.turn !== turn) continue
      if (start.key.startsWith('attempt/'))
        this.end(start.key, { 'baton.outcome': failed ? 'failed' : 'cancelled' }, failed)
      else if (start.key.startsWith(`${key}/step/`) && !this.#hasCalls(start.key)) this.end(start.key, {}, failed)
    }
    for (const [step, stepKey] of this.stepKeys) if (!this.open.has(stepKey)) this.stepKeys.delete(step)
    this.end(
      key,
      {
        'baton.outcome': outcome,
        'gen_ai.usage.input_tokens': inputTokens,
        'gen_ai.usage.output_tokens': outputTokens,
        ...(costMicros > 0 && { 'baton.cost_usd': costMicros / 1_000_000 }),
      },
      failed,
    )
  }

  #hasCalls(stepKey: string): boolean {
    return [...this.open.values()].some(({ start }) => start.parentKey === stepKey && start.key.startsWith('call/'))
  }
}
