// Notes in docs/protocol-2-reference.md on each request and event, in addition to its fields: how a request is refused, and
// whether an event is repeated to readers of the past.
import type { ErrorCode, SessionEventType } from '@baton/core/internal'
import type { RequestType } from '@baton/protocol'

type Refusals = Readonly<Partial<Record<ErrorCode, string>>>

/** Refusals of every request. */
export const COMMON_REFUSALS: Refusals = {
  invalid_event: 'the frame is not a JSON object, lacks an `id`, or has an unknown type, field or value',
  input_too_large:
    'the request is longer than 64 KiB. `input.send`, `input.rewind`, `call.result`, `device.attach` and `model.*` may use the whole frame size',
  rate_limited: 'too many frames per minute',
  quota_exceeded: 'too many bytes per minute from one address',
  server_draining: 'the server is shutting down, or it closed the session. Reconnect, and send the request again',
  store_failed: 'the server’s store failed. The request may have taken effect: send it again with the same ids',
  internal: 'the server failed',
}

const NO_SESSION = 'the connection has no open session: send `session.open` first'
const NO_DEVICE = 'the connection has no open session, or is not attached as a device: send `device.attach` first'
const NO_MODEL = 'the connection has no open session, or its device does not run models'
const NOT_OWN = 'the session belongs to another principal'
const ELSEWHERE = 'another server holds the session, and is unreachable'
const NO_MESSAGE = 'the conversation does not contain this message'

const HEARD: Refusals = {
  session_stopped: 'the session is stopped: send `session.control` with `start`',
  queue_full: 'too many inputs are waiting',
  input_too_large: 'the input is longer than the agent’s limit',
  quota_exceeded: 'too many turns are running at once',
  illegal_input: NO_SESSION,
}

const TOLD: Refusals = { invalid_event: 'the input is empty, or `heard` is not a position in an answer', ...HEARD }

const ATTACHED: Refusals = {
  invalid_option:
    '`leaseMs` is not from 5,000 to 3,600,000; `runs` names a tool that is not a client tool of the agent; or `models` names a model that the server does not allow devices to run',
  invalid_event: 'a tool in `tools` has an invalid name or schema; or there are too many tools',
  rate_limited: 'the session has too many devices, or they provide too many tools',
}

/** Refusals by request; `COMMON_REFUSALS` applies to all requests. */
export const REFUSALS: Readonly<Record<RequestType, Refusals>> = {
  ping: {},
  'session.open': {
    illegal_input: 'the connection already has an open session: send `session.close` first',
    unknown_session: 'with `existing`: the session does not exist',
    unauthorized: NOT_OWN,
    session_held: ELSEWHERE,
    quota_exceeded: 'too many sessions were opened from one address within a minute',
    ...ATTACHED,
    invalid_event:
      'the session name is invalid, `from` is not a position that the session has reached, or the device’s `tools` are invalid',
  },
  'session.close': {},
  'session.info': { illegal_input: NO_SESSION },
  'session.messages': { illegal_input: NO_SESSION, invalid_option: NO_MESSAGE },
  'session.describe': {
    illegal_input: `${NO_SESSION}, or name a session`,
    unknown_session: 'the session does not exist',
    unauthorized: NOT_OWN,
    invalid_event: '`title` or `meta` is too long',
    session_held: ELSEWHERE,
  },
  'session.configure': {
    illegal_input: NO_SESSION,
    invalid_option: 'the server does not allow apps to make this choice',
    unknown_model: 'the model does not exist',
    model_not_configured: 'the server lacks a key for the model',
  },
  'session.control': {
    illegal_input:
      'the connection has no open session; `continue` without a pause, `start` without a stop, or `pause` twice',
    session_stopped: '`pause` or `stop` of a stopped session',
  },
  'session.fork': { illegal_input: `${NO_SESSION}; or the host cannot copy sessions`, unknown_input: NO_MESSAGE },
  'session.list': { invalid_option: 'the host cannot list sessions, or the cursor is of another order' },
  'session.watch': { invalid_option: 'the host cannot list sessions' },
  'session.delete': {
    unauthorized: NOT_OWN,
    session_held: ELSEWHERE,
    invalid_option: 'the host cannot remove sessions',
  },
  'input.send': {
    ...TOLD,
    invalid_option: 'the server does not allow apps to use this model or these settings',
    invalid_schema: '`output` is not a JSON Schema of an object',
    unknown_model: 'the model does not exist',
    model_not_configured: 'the server lacks a key for the model',
  },
  'input.hear': { invalid_transcript: '`text` has no words', ...HEARD },
  'input.notify': TOLD,
  'input.withdraw': {
    illegal_input: NO_SESSION,
    unknown_input: 'the input is not waiting: the model has read it, it was already withdrawn, or it never arrived',
  },
  'input.rewind': {
    ...TOLD,
    invalid_event: '`replace` of an answer, `replace` together with `again`, or an empty `replace`',
    unknown_input: NO_MESSAGE,
    turn_in_progress: 'a turn is running, and `interrupt` is not true',
    illegal_input: `${NO_SESSION}; or \`again\` in a paused session`,
  },
  'turn.interrupt': {
    illegal_input: NO_SESSION,
    invalid_event: '`turn` is not an answer of this session, or `heard` is not a position in one. The turn continues',
  },
  'call.tasks': { illegal_input: NO_SESSION },
  'call.cancel': {
    illegal_input: `${NO_SESSION}. Or it is a call of the running turn that no agent does: interrupt the turn`,
    call_over: 'the call has settled, or the session has no such call',
  },
  'speech.played': { illegal_input: NO_SESSION, invalid_event: '`message` is not an answer of this session' },
  'approval.list': { invalid_option: 'the host cannot list sessions, or the cursor is of another order' },
  'approval.decide': {
    session_held: ELSEWHERE,
    invalid_option: 'with `session`: the host cannot list sessions',
    illegal_input: NO_SESSION,
    approval_refused:
      'no request with this id is open: it was decided or replaced, it expired, its call ended, or it never existed. Or this principal may not decide it',
    invalid_arguments: 'the `input` of an `edit` does not match the tool’s schema. The request stays open',
  },
  'question.answer': {
    illegal_input: NO_SESSION,
    question_refused:
      'no question with this id is open, or `value` does not match its schema; in that case the question stays open. Or the session belongs to another principal',
  },
  'device.attach': { illegal_input: NO_SESSION, ...ATTACHED },
  'device.release': { illegal_input: NO_DEVICE },
  'call.claim': {
    call_over: 'the call has settled, or the session does not know it. Do not run it',
    call_not_offered: 'the call is offered to another device, or to none at the moment. Do not run it',
    illegal_input: NO_DEVICE,
  },
  'call.result': {
    illegal_input: `${NO_DEVICE}, or name a \`device\``,
    invalid_event: 'the `outcome` is not one of the three kinds',
  },
  'model.pieces': { illegal_input: NO_MODEL, invalid_event: 'more than 1,000 pieces' },
  'model.result': {
    illegal_input: NO_MODEL,
    invalid_event: 'the `outcome` is not one of the two kinds. The run has failed',
  },
}

/** `delivery`: only for library readers that request it. */
export type Repeat = 'again' | 'joined' | 'writing' | 'never' | 'delivery'

export const REPEATS: Readonly<Record<Repeat, string>> = {
  again: 'Repeated to readers of the past.',
  joined: 'Repeated to readers of the past, in fewer pieces or a single one.',
  writing: 'Repeated only while its step is being written.',
  never: 'Sent once: it is not stored.',
  delivery: 'Not sent over this protocol: only for library readers that request `delivery` ([events.md](events.md)).',
}

export const EVENT_REPEATS: Readonly<Record<SessionEventType, Repeat>> = {
  'message-added': 'again',
  'message-entered': 'again',
  'message-withdrawn': 'again',
  'messages-removed': 'again',
  'step-started': 'again',
  text: 'joined',
  reasoning: 'joined',
  'call-writing': 'writing',
  'server-tool': 'never',
  'step-reset': 'again',
  'text-cut': 'again',
  sources: 'again',
  call: 'again',
  'call-progress': 'never',
  'approval-requested': 'again',
  'approval-given': 'again',
  'approval-decided': 'again',
  'question-asked': 'again',
  'question-answered': 'again',
  'request-withdrawn': 'again',
  limit: 'again',
  'step-finished': 'again',
  'step-closed': 'again',
  'output-refused': 'again',
  'turn-finished': 'again',
  session: 'again',
  compacted: 'again',
  'content-left-out': 'again',
  live: 'never',
  'turn-started': 'delivery',
  'answer-spoken': 'delivery',
  interrupted: 'delivery',
  'call-offered': 'delivery',
  'result-ignored': 'delivery',
  'clients-gone': 'delivery',
  behind: 'delivery',
}
