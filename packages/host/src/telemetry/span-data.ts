// A span folded from records, independent of any tracing library. Its key is made of numbers counted by the session's
// log, so a span has the same key in every process.
export type AttributeValue = string | number | boolean | string[]
export type Attributes = Readonly<Record<string, AttributeValue>>

export interface SpanEvent {
  readonly name: string
  /** Milliseconds since 1970, like all times here. */
  readonly atMs: number
  readonly attributes: Attributes
}

/** Data shared by all spans of one turn. */
export interface TurnTrace {
  readonly turn: number
  /** W3C trace context of the caller that started the turn. */
  readonly parent: string | undefined
}

export interface SpanStart {
  /** A key such as `turn/3`, `turn/3/step/2`, `attempt/7` or `call/call_ab_2_0`. */
  readonly key: string
  /** Absent for a turn. */
  readonly parentKey?: string
  readonly trace: TurnTrace
  readonly name: string
  readonly kind: 'internal' | 'client'
  readonly startMs: number
  readonly attributes: Attributes
}

export interface SpanEnd {
  readonly key: string
  readonly endMs: number
  readonly attributes: Attributes
  /** Set on failure. `type` is a code or one word; `message` is content. */
  readonly error?: { readonly type: string; readonly message?: string }
}

export type SpanChange =
  | { readonly type: 'start'; readonly span: SpanStart }
  | { readonly type: 'end'; readonly span: SpanEnd }
  | { readonly type: 'event'; readonly key: string; readonly event: SpanEvent }
  /** Links the span to another trace, by its W3C trace context. */
  | { readonly type: 'link'; readonly key: string; readonly traceparent: string }

export interface SpanFoldOptions {
  readonly session: string
  readonly agent: string
  /** Whether spans include the text of people, models and tools. */
  readonly content: boolean
}

export interface OpenSpan {
  readonly start: SpanStart
  readonly attributes: Record<string, AttributeValue>
}

/** The spans of one session, as each fact's fold writes them. */
export interface SpanWriter {
  readonly init: SpanFoldOptions
  /** Open spans in the order they began, so a parent precedes its children. */
  readonly open: ReadonlyMap<string, OpenSpan>
  /** Span keys by step. A step may outlive its turn. */
  readonly stepKeys: Map<number, string>
  /** Open waits and approvals by call. */
  readonly waits: Map<string, Set<string>>
  readonly usage: { inputTokens: number; outputTokens: number; costMicros: number }
  readonly trace: TurnTrace | undefined
  /** Position of the record being folded. */
  readonly pos: number
  begin(start: Omit<SpanStart, 'startMs' | 'trace'>): void
  /** Adds attributes to set when the span ends. */
  note(key: string, attributes: Attributes): void
  end(key: string, attributes?: Attributes, error?: SpanEnd['error']): void
  tell(key: string, name: string, attributes?: Attributes): void
}
