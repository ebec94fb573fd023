// Decodes reports of an attached client, or of the front that carries it: its presence, its tools, the outcome of its
// calls. The machine checks whether the client is attached and the call is its own.
import type { ErrorCode } from '../errors.ts'
import { isErrorCode } from '../errors.ts'
import type { ClientReport, Outcome } from '../machine/input.ts'
import { EffectClass } from '../machine/values.ts'
import * as s from '../shape/shape.ts'
import { decoder, describeValue } from '../shape/value-reader.ts'
import { Content } from './decode-content.ts'
import { LeaseClientOptions, TOOLS_MAX, ToolInputSchema } from './front-session.ts'
import { inputs } from './decode-command.ts'

const Code: s.Shape<ErrorCode> = {
  ...s.textOf<ErrorCode>(),
  read: (reader, value) =>
    isErrorCode(value) ? value : reader.refuse(`must be a code of docs/errors.md, not ${describeValue(value)}`),
}

/** A result is measured by itself: its depth is the tool's, not the frame's. */
const ResultValue: typeof s.json = {
  ...s.json,
  read: (reader, value) => reader.measure('result_invalid', value, s.json.read),
}

const OutcomeShape = s.explain(
  s.variant('type', {
    ok: s.fields('a result', { content: Content, value: s.optional(ResultValue) }),
    error: s.fields('an error', { code: Code, message: s.text }),
  }),
  "an outcome is { type: 'ok', content: [{ type: 'text', text: '…' }] } or { type: 'error', code: 'tool_failed', message: '…' }",
)

/** Decodes a client that holds a lease. Never throws. */
export const decodeLeaseClientOptions = decoder<LeaseClientOptions>('the client', LeaseClientOptions)

const CONNECTION = { connection: s.name }
const OFFER = { callId: s.name, offer: s.count }

const Report = inputs({
  'client-attached': s.fields('a client-attached', {
    ...CONNECTION,
    principal: s.name,
    sequential: s.flag,
    claims: s.flag,
    reportsPlayback: s.flag,
    asks: s.flag,
    tools: s.optional(s.list(s.name, TOOLS_MAX)),
    leaseMs: s.optional(s.number(1)),
  }),
  'client-detached': s.fields('a client-detached', CONNECTION),
  'client-tools': s.fields('a client-tools', {
    ...CONNECTION,
    tools: s.list(
      s.fields('a tool', {
        name: s.name,
        description: s.text,
        inputSchema: ToolInputSchema,
        effect: EffectClass,
        runs: s.word('client'),
        timeoutMs: s.number(1),
        parallel: s.flag,
        onInterrupt: s.word('cancel', 'finish'),
      }),
      TOOLS_MAX,
    ),
  }),
  'tool-result': s.fields('a tool-result', { callId: s.name, ...CONNECTION, outcome: OutcomeShape }),
  'call-claimed': s.fields('a call-claimed', { callId: s.name, ...CONNECTION, offer: s.count }),
  'call-reached': s.fields('a call-reached', OFFER),
  'offer-failed': s.fields('an offer-failed', OFFER),
  'display-written': s.fields('a display-written', { turn: s.count, chars: s.optional(s.count) }),
})

/**
 * Decodes a client's report. Never throws; `invalid_event` names the field, `illegal_input` says who may submit such an
 * input, `input_too_large` names the limit.
 */
export const decodeClientReport = decoder<ClientReport>('the report', Report)

/** Decodes the outcome of a client's tool. Never throws. */
export const decodeOutcome = decoder<Outcome>('the outcome', OutcomeShape)
