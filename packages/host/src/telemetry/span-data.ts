// A span folded from records, independent of any tracing library. Its key is made of numbers counted by the session's
// log, so a span has the same key in every process, and the same id, which is a hash of its name there. Content of people,
// models and tools is optional, in the shapes of the GenAI conventions (gen-ai-input-messages.json,
// gen-ai-output-messages.json).
import type { AssistantPart, FinishReason, StoredPart } from '@baton/core/internal'
import type { FactOf, InputBody, Settlement } from '@baton/core/machine'
import { hash, randomBytes } from 'node:crypto'

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

/** Maximum UTF-16 units of an attribute; longer ones are cut. */
const CONTENT_CHARS = 16_384

export function describeInputs(inputs: readonly FactOf<'input-accepted'>[]): Attributes {
  const messages = inputs.map(({ body }) => ({ role: 'user', parts: listParts(body) }))
  return { 'gen_ai.input.messages': cut(JSON.stringify(messages)) }
}

function listParts(body: InputBody): readonly object[] {
  if (body.type === 'transcript') return [{ type: 'text', content: `${body.speaker}: ${body.text}` }]
  if (body.type === 'task') return [{ type: 'text', content: `${body.name}: ${body.text}` }]
  if (body.type === 'urgent') return [{ type: 'text', content: `${body.name}: ${body.message ?? ''}` }]
  return body.parts.map(describePart)
}

/** Leaves out the bytes of images and files. */
function describePart(part: StoredPart): object {
  return part.type === 'text' ? { type: 'text', content: part.text } : { type: part.type, mime_type: part.mediaType }
}

export function describeAnswer(parts: readonly AssistantPart[], finish: FinishReason): Attributes {
  const said = parts.flatMap((part): object[] => {
    if (part.type === 'text') return [{ type: 'text', content: part.text }]
    if (part.type === 'reasoning') return [{ type: 'reasoning', content: part.text }]
    if (part.type !== 'call') return []
    return [{ type: 'tool_call', id: part.callId, name: part.name, arguments: part.arguments }]
  })
  const message = [{ role: 'assistant', parts: said, finish_reason: finish }]
  return { 'gen_ai.output.messages': cut(JSON.stringify(message)) }
}

export function describeArguments(parts: readonly AssistantPart[], callId: string): Attributes {
  const call = parts.find((part) => part.type === 'call' && part.callId === callId)
  return call?.type === 'call' ? { 'gen_ai.tool.call.arguments': cut(call.arguments) } : {}
}

export function describeResult(settlement: Settlement): Attributes {
  if (settlement.type !== 'ok') return {}
  return { 'gen_ai.tool.call.result': cut(JSON.stringify(settlement.value ?? settlement.content.map(describePart))) }
}

function cut(text: string): string {
  return text.length <= CONTENT_CHARS ? text : text.slice(0, CONTENT_CHARS).toWellFormed()
}

interface DerivedIds {
  /** 32 hex digits. */
  readonly traceId: string
  /** 16 hex digits. */
  readonly spanId: string
}

/** The `idGenerator` of an SDK's tracer provider. */
export interface SpanIds {
  generateTraceId(): string
  generateSpanId(): string
  /** Runs `start` while the generator returns these ids. */
  use<Value>(ids: DerivedIds, start: () => Value): Value
}

/** Creates the `idGenerator` of one tracer provider, for use with `traceSessions`. */
export function createSpanIds(): SpanIds {
  let given: DerivedIds | undefined
  return {
    generateTraceId: () => given?.traceId ?? randomBytes(16).toString('hex'),
    generateSpanId: () => given?.spanId ?? randomBytes(8).toString('hex'),
    use: (ids, start) => {
      given = ids
      try {
        return start()
      } finally {
        given = undefined
      }
    },
  }
}

/** Identifies a log. `birth` distinguishes sessions that had the same name one after the other. */
export interface LogName {
  readonly session: string
  readonly birth: string
}

/** The trace id of a turn that is not part of a caller's trace. */
export function deriveTraceId({ session, birth }: LogName, turn: number): string {
  return hash('sha256', JSON.stringify(['trace', session, birth, turn]), 'hex').slice(0, 32)
}

export function deriveSpanId({ session, birth }: LogName, key: string): string {
  return hash('sha256', JSON.stringify(['span', session, birth, key]), 'hex').slice(0, 16)
}

/** Parses a W3C trace context that the session has validated. */
export function readTraceparent(traceparent: string): DerivedIds & { readonly traceFlags: number } {
  const [, traceId = '', spanId = '', flags = '00'] = traceparent.split('-')
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) }
}
