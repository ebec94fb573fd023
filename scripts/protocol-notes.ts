// What docs/protocol-2-reference.md says of each request and event beside its fields: how a request is refused, and whether an
// event comes again to who reads the past.
import type { ErrorCode, SessionEventType } from '@baton/core'
import type { RequestType } from '@baton/protocol'

type Refusals = Readonly<Partial<Record<ErrorCode, string>>>

/** Of every request. */
export const COMMON_REFUSALS: Refusals = {
  invalid_event:
    'the frame is not the JSON text of an object, has no `id`, or has a type, a field or a value that does not exist',
  input_too_large:
    'the frame is longer than 64 KiB. `input.send`, `input.rewind`, `call.result`, `device.attach` and `model.*` may have as much as a frame',
  rate_limited: 'too many frames a minute',
  quota_exceeded: 'too many bytes a minute from one address',
  server_draining: 'the server shuts down, or the session was closed there. Connect again, and send it again',
  store_failed: 'the store of the server failed. What was asked may have happened: send it again with the same ids',
  internal: 'the server failed',
}

const NO_SESSION = 'the connection follows no session: send `session.open` first'
const NO_DEVICE = 'the connection follows no session, or is no device: send `device.attach` first'
const NO_MODEL = 'the connection follows no session, or its device runs no model'
const NOT_OWN = 'the session belongs to another principal'
const ELSEWHERE = 'another server has the session, and cannot be reached'
const NO_MESSAGE = 'the conversation has no such message'

const HEARD: Refusals = {
  session_stopped: 'the session is stopped: send `session.control` with `start`',
  queue_full: 'too many inputs wait',
  input_too_large: 'the input is longer than the agent takes',
  quota_exceeded: 'too many turns run at once',
  illegal_input: NO_SESSION,
}

const TOLD: Refusals = { invalid_event: 'the input is empty, or `heard` names no place of an answer', ...HEARD }

const ATTACHED: Refusals = {
  invalid_option:
    '`leaseMs` is not from 5,000 to 3,600,000; `runs` names what is no client tool of the agent, `models` what the server does not leave to apps',
  invalid_event: 'a tool in `tools` has a wrong name or schema; or there are too many',
  rate_limited: 'the session has too many devices, or they have brought too many tools',
}

/** By request; those of all requests stand in `COMMON_REFUSALS`. */
export const REFUSALS: Readonly<Record<RequestType, Refusals>> = {
  ping: {},
  'session.open': {
    illegal_input: 'the connection follows a session already: send `session.close` first',
    unknown_session: 'with `existing`, there is no such session',
    unauthorized: NOT_OWN,
    session_held: ELSEWHERE,
    quota_exceeded: 'too many sessions were opened from one address within a minute',
    ...ATTACHED,
    invalid_event:
      'the name is not one that a session may have, `from` is no place that the session has reached, or `tools` of the device are wrong',
  },
  'session.close': {},
  'session.info': { illegal_input: NO_SESSION },
  'session.messages': { illegal_input: NO_SESSION, invalid_option: NO_MESSAGE },
  'session.describe': {
    illegal_input: `${NO_SESSION}, or name a session`,
    unknown_session: 'there is no such session',
    unauthorized: NOT_OWN,
    invalid_event: '`title` or `meta` is too long',
    session_held: ELSEWHERE,
  },
  'session.configure': {
    illegal_input: NO_SESSION,
    invalid_option: 'the server does not allow apps this choice',
    unknown_model: 'there is no such model',
    model_not_configured: 'the server lacks a key for the model',
  },
  'session.control': {
    illegal_input:
      'the connection follows no session; `continue` without a pause, `start` without a stop, `pause` twice',
    session_stopped: '`pause` or `stop` of a stopped session',
  },
  'session.fork': { illegal_input: `${NO_SESSION}; or the host cannot copy sessions`, unknown_input: NO_MESSAGE },
  'session.list': { invalid_option: 'the host keeps no list' },
  'session.watch': { invalid_option: 'the host keeps no list' },
  'session.delete': { unauthorized: NOT_OWN, session_held: ELSEWHERE, invalid_option: 'the host removes no sessions' },
  'input.send': {
    ...TOLD,
    invalid_option: 'the server does not allow apps this model or these settings',
    invalid_schema: '`output` is no JSON Schema of an object',
    unknown_model: 'there is no such model',
    model_not_configured: 'the server lacks a key for the model',
  },
  'input.hear': { invalid_transcript: '`text` has no words', ...HEARD },
  'input.notify': TOLD,
  'input.withdraw': {
    illegal_input: NO_SESSION,
    unknown_input: 'it does not wait: the model has read it, it was withdrawn before, or it never came',
  },
  'input.rewind': {
    ...TOLD,
    invalid_event: '`replace` of an answer, `replace` together with `again`, or an empty `replace`',
    unknown_input: NO_MESSAGE,
    turn_in_progress: 'a turn runs, and `interrupt` is not true',
    illegal_input: `${NO_SESSION}; or \`again\` in a paused session`,
  },
  'turn.interrupt': {
    illegal_input: NO_SESSION,
    invalid_event: '`turn` is no answer of this session, or `heard` names no place of one. The turn goes on',
  },
  'speech.played': { illegal_input: NO_SESSION, invalid_event: '`message` is no answer of this session' },
  'approval.decide': {
    illegal_input: NO_SESSION,
    approval_refused:
      'nothing waits under this id: it was decided, replaced or has expired, its call has ended, or it never was. Or this principal may not decide it',
    invalid_arguments: 'the `input` of an `edit` does not fit the tool. The request stays open',
  },
  'question.answer': {
    illegal_input: NO_SESSION,
    question_refused:
      'nothing waits under this id, or `value` does not fit its schema, in which case the question stays open. Or the session belongs to another principal',
  },
  'device.attach': { illegal_input: NO_SESSION, ...ATTACHED },
  'device.release': { illegal_input: NO_DEVICE },
  'call.claim': {
    call_over: 'the call has settled, or the session does not have it. Do not run it',
    call_not_offered: 'another device was asked, or nobody is at the moment. Do not run it',
    illegal_input: NO_DEVICE,
  },
  'call.result': {
    illegal_input: `${NO_DEVICE}, or name a \`device\``,
    invalid_event: 'the `outcome` is none of the three kinds',
  },
  'model.pieces': { illegal_input: NO_MODEL, invalid_event: 'more than 1,000 pieces' },
  'model.result': {
    illegal_input: NO_MODEL,
    invalid_event: 'the `outcome` is none of the two kinds. The run has failed',
  },
}

/** `delivery`: only for readers of the library that ask for it. */
export type Repeat = 'again' | 'joined' | 'writing' | 'never' | 'delivery'

export const REPEATS: Readonly<Record<Repeat, string>> = {
  again: 'Comes again to whoever reads the past.',
  joined: 'Comes again to whoever reads the past, in fewer pieces, or in one.',
  writing: 'Comes again only while its step is being written.',
  never: 'Comes once: it is stored nowhere.',
  delivery: 'Not over this protocol: only for readers of the library that ask for `delivery` ([events.md](events.md)).',
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
  'approval-decided': 'again',
  'question-asked': 'again',
  'question-answered': 'again',
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
