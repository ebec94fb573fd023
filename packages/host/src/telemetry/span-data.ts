// A span as it is folded from records, before any tracing library sees it. Its key is made of numbers that the session's log
// counts, so the same span has the same key in every process.
export type AttributeValue = string | number | boolean | string[]
export type Attributes = Readonly<Record<string, AttributeValue>>

export interface SpanEvent {
  readonly name: string
  /** Milliseconds since 1970, as all times here. */
  readonly atMs: number
  readonly attributes: Attributes
}

/** Data that all spans of one turn share. */
export interface TurnTrace {
  readonly turn: number
  /** W3C trace context of who asked for the turn. */
  readonly parent: string | undefined
}

export interface SpanStart {
  /** `turn/3`, `turn/3/step/2`, `attempt/7`, `call/call_ab_2_0`. */
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
  /** Present: it went wrong. `type` is a code or one word; `message` is content. */
  readonly error?: { readonly type: string; readonly message?: string }
}

export type SpanChange =
  | { readonly type: 'start'; readonly span: SpanStart }
  | { readonly type: 'end'; readonly span: SpanEnd }
  | { readonly type: 'event'; readonly key: string; readonly event: SpanEvent }
  /** Another trace has a part in this span: its W3C trace context. */
  | { readonly type: 'link'; readonly key: string; readonly traceparent: string }
