// One example of each request, frame and event of protocol version 2, for docs/protocol-2-reference.md. The compiler
// checks them against the types, and a test checks them against the JSON Schemas.
import type { CallView, EventBody, SessionDetails, SessionEventType } from '@baton/core/internal'
import type { Requests, RequestType, V2ServerFrame } from '@baton/protocol'

type RequestExamples = {
  readonly [Type in RequestType]: {
    readonly given: Requests[Type]['given']
    readonly answer: Requests[Type]['answer']
  }
}

type EventExamples = { readonly [Type in SessionEventType]: EventBody & { readonly type: Type } }

/** The form of `ok`, `error` and `events` frames is shown with requests and events. */
type FrameExamples = {
  readonly [Type in Exclude<V2ServerFrame['type'], 'ok'>]: Extract<V2ServerFrame, { readonly type: Type }>
}

const atMs = 1_767_225_600_000
const callId = 'call_k3_1_0'

const info: SessionDetails = {
  id: 'hall',
  agent: 'home',
  principal: { id: 'ann' },
  meta: {},
  activity: 'waiting',
  model: 'example/model',
  models: ['example/model'],
  queued: [{ inputId: 'msg-2', delivery: 'queue' }],
  approvals: [],
  questions: [],
  tasks: [],
  plan: [],
  context: { used: 812, size: 200_000 },
  lastMs: atMs,
  head: { pos: 4, since: 2 },
}

const waiting: CallView = {
  callId,
  message: 't1',
  step: 1,
  name: 'camera',
  input: { place: 'door' },
  runs: 'client',
  effect: 'once',
  status: 'waiting',
  holder: 'phone-7f3a',
  deadlineMs: atMs + 30_000,
}

const payment: CallView = {
  callId: 'call_k3_2_0',
  message: 't1',
  step: 2,
  name: 'pay',
  input: { amount: 12 },
  runs: 'server',
  effect: 'once',
  status: 'awaiting-approval',
  deadlineMs: atMs + 600_000,
}

const approvalId = `approval_${payment.callId}_1`
const questionId = `question_${payment.callId}_1`

export const REQUEST_EXAMPLES: RequestExamples = {
  ping: { given: {}, answer: {} },
  'session.open': {
    given: { session: 'hall', from: { pos: 4, since: 2 }, device: { name: 'phone-7f3a', runs: ['camera'] } },
    answer: { session: 'hall', info, next: { pos: 4, since: 2 }, leaseMs: 60_000 },
  },
  'session.close': { given: {}, answer: {} },
  'session.info': { given: {}, answer: { info } },
  'session.messages': {
    given: { before: 't1', limit: 50 },
    answer: {
      messages: [
        {
          role: 'user',
          id: 'msg-1',
          from: 'user',
          parts: [{ type: 'text', text: 'Is somebody at the door?' }],
          atMs,
          waits: false,
          exchange: 1,
        },
      ],
      more: false,
    },
  },
  'session.describe': { given: { title: 'The door', meta: { room: 7 } }, answer: {} },
  'session.configure': { given: { model: 'example/model', settings: { temperature: 0.2 } }, answer: {} },
  'session.control': { given: { action: 'pause' }, answer: {} },
  'session.fork': { given: { before: 'msg-2' }, answer: { session: 'q8w1' } },
  'session.list': {
    given: { limit: 20, meta: { room: 7 } },
    answer: {
      sessions: [
        {
          id: 'hall',
          agent: 'home',
          principal: { id: 'ann' },
          title: 'The door',
          meta: { room: 7 },
          activity: 'idle',
          createdMs: atMs,
          lastMs: atMs,
        },
      ],
    },
  },
  'session.watch': { given: {}, answer: {} },
  'session.delete': { given: { session: 'hall' }, answer: {} },
  'input.send': { given: { input: 'msg-1', content: 'Is somebody at the door?', delivery: 'queue' }, answer: {} },
  'input.hear': { given: { input: 'said-14', speaker: 'Ann', text: 'Let us meet on Friday.' }, answer: {} },
  'input.notify': {
    given: { input: 'bell-3', name: 'doorbell', detail: { door: 'front' }, message: 'Somebody rang.' },
    answer: {},
  },
  'input.withdraw': { given: { input: 'msg-2' }, answer: {} },
  'input.rewind': {
    given: { input: 'msg-1b', message: 'msg-1', replace: 'Is somebody in the garden?', interrupt: true },
    answer: { turn: 'msg-1b' },
  },
  'turn.interrupt': {
    given: { turn: 't1', heard: { type: 'chars', message: 't1', chars: 35 } },
    answer: { turn: 't1' },
  },
  'call.tasks': {
    given: {},
    answer: { tasks: [{ ...waiting, name: 'export', status: 'running', task: 'running', begunMs: atMs }] },
  },
  'call.cancel': { given: { callId }, answer: {} },
  'speech.played': { given: { message: 't1', chars: 35 }, answer: {} },
  'approval.list': {
    given: { tool: 'pay', limit: 20 },
    answer: {
      approvals: [
        {
          session: 'hall',
          agent: 'home',
          principal: { id: 'ann' },
          approvalId,
          callId: payment.callId,
          name: 'pay',
          input: { amount: 12 },
          askedMs: atMs,
          expiresAtMs: atMs + 600_000,
          deciders: { roles: ['manager'], notAsker: true },
        },
      ],
    },
  },
  'approval.decide': { given: { approvalId, decision: 'edit', input: { amount: 10 } }, answer: {} },
  'question.answer': { given: { questionId, value: { card: 'the red one' } }, answer: {} },
  'device.attach': {
    given: {
      name: 'phone-7f3a',
      runs: ['camera'],
      tools: [
        {
          name: 'torch',
          description: 'Switches the torch of the phone',
          inputSchema: { type: 'object', properties: { on: { type: 'boolean' } }, required: ['on'] },
          effect: 'idempotent',
        },
      ],
      leaseMs: 60_000,
    },
    answer: { leaseMs: 60_000 },
  },
  'device.release': { given: {}, answer: {} },
  'call.claim': {
    given: { callId },
    answer: { call: { callId, name: 'camera', input: { place: 'door' } } },
  },
  'call.result': { given: { callId, outcome: { output: { people: 0 } } }, answer: {} },
  'model.pieces': { given: { run: 'r-5', pieces: [{ type: 'text-delta', text: 'Nobody ' }] }, answer: {} },
  'model.result': {
    given: {
      run: 'r-5',
      outcome: {
        answer: {
          parts: [{ type: 'text', text: 'Nobody is there.' }],
          finish: 'end',
          usage: { inputTokens: 800, outputTokens: 12 },
          model: 'tiny-1',
        },
      },
    },
    answer: {},
  },
}

const step = { message: 't1', step: 1 } as const
const next = { pos: 6, since: 2, attempt: 2, text: 16 } as const
/** The server's internal state in the `next` of sentences; shortened here. */
const spoken = { pos: 6, since: 2, attempt: 2, text: 16, speech: {} } as const

export const FRAME_EXAMPLES: FrameExamples = {
  hello: { type: 'hello', protocol: 2, nowMs: atMs, limits: { frameBytes: 1_048_576, resultBytes: 262_144 } },
  error: {
    type: 'error',
    re: '7',
    code: 'call_not_offered',
    message: `${callId}: the call is claimed and not offered to this client`,
    hint: 'Do not run it. If it is offered to this client later, a `call` event says so.',
  },
  events: {
    type: 'events',
    events: [{ type: 'text', ...step, offset: 0, text: 'Nobody is there.', cursor: next }],
    next,
  },
  sentence: { type: 'sentence', ...step, index: 0, text: 'Nobody is there.', start: 0, end: 16, next: spoken },
  'sentences.dropped': { type: 'sentences.dropped', ...step, index: 0, next: spoken },
  'model.run': {
    type: 'model.run',
    run: 'r-5',
    model: 'device/tiny',
    request: {
      instructions: 'You help at home.',
      messages: [{ role: 'user', parts: [{ type: 'text', text: 'Is somebody at the door?' }] }],
      tools: [],
      toolChoice: { type: 'auto' },
      settings: {},
      session: 'hall',
    },
  },
  'model.cancel': { type: 'model.cancel', run: 'r-5' },
  'session.closed': { type: 'session.closed', session: 'hall' },
  'session.changed': { type: 'session.changed', change: { type: 'removed', id: 'hall', principal: { id: 'ann' } } },
}

export const EVENT_EXAMPLES: EventExamples = {
  'message-added': {
    type: 'message-added',
    message: {
      role: 'user',
      id: 'msg-1',
      from: 'user',
      parts: [{ type: 'text', text: 'Is somebody at the door?' }],
      atMs,
    },
  },
  'message-entered': { type: 'message-entered', message: 'msg-1', exchange: 1 },
  'message-withdrawn': { type: 'message-withdrawn', message: 'msg-2' },
  'messages-removed': { type: 'messages-removed', fromExchange: 2, keep: ['msg-2'], keepSteps: [] },
  'step-started': { type: 'step-started', ...step, attempt: 1, model: 'example/model' },
  text: { type: 'text', ...step, offset: 7, text: 'is there.' },
  reasoning: { type: 'reasoning', ...step, offset: 0, text: 'The camera knows.' },
  'call-writing': { type: 'call-writing', ...step, callId, name: 'camera', offset: 0, text: '{"place":' },
  'server-tool': { type: 'server-tool', ...step, name: 'web_search', status: 'started' },
  'step-reset': {
    type: 'step-reset',
    ...step,
    reason: 'failed',
    error: { code: 'model_provider_failed', message: 'A model provider failed.' },
    retryAtMs: atMs + 500,
  },
  'text-cut': { type: 'text-cut', ...step, keepChars: 35 },
  sources: { type: 'sources', ...step, sources: [{ type: 'source', id: 's1', url: 'https://example.com/doors' }] },
  call: { type: 'call', call: waiting },
  'call-progress': { type: 'call-progress', callId: payment.callId, note: { done: 3, of: 10 } },
  'approval-requested': { type: 'approval-requested', approvalId, call: payment, expiresAtMs: atMs + 600_000 },
  'approval-given': {
    type: 'approval-given',
    approvalId,
    callId: payment.callId,
    principal: { id: 'mia' },
    note: 'checked the invoice',
    left: 1,
  },
  'approval-decided': {
    type: 'approval-decided',
    approvalId,
    callId: payment.callId,
    decision: 'approve',
    principal: { id: 'ann' },
    remember: 'arguments',
  },
  'question-asked': {
    type: 'question-asked',
    questionId,
    callId: payment.callId,
    message: 'Which card?',
    schema: { type: 'object', properties: { card: { type: 'string' } }, required: ['card'] },
    expiresAtMs: atMs + 600_000,
  },
  'question-answered': {
    type: 'question-answered',
    questionId,
    callId: payment.callId,
    value: { card: 'the red one' },
  },
  'request-withdrawn': {
    type: 'request-withdrawn',
    requestId: 'approval_call_k3f_1_0_1',
    callId: 'call_k3f_1_0',
    reason: 'ended',
    path: [{ callId, agent: 'buyer' }],
  },
  limit: { type: 'limit', limit: 'rounds', used: 40, max: 50, reached: false },
  'step-finished': {
    type: 'step-finished',
    ...step,
    finish: 'tool-calls',
    usage: { inputTokens: 800, outputTokens: 12, costMicros: 214 },
    context: { used: 812, size: 200_000 },
  },
  'step-closed': { type: 'step-closed', ...step },
  'output-refused': { type: 'output-refused', ...step, issue: 'people must be a whole number' },
  'turn-finished': {
    type: 'turn-finished',
    message: 't1',
    turn: 1,
    stop: 'end',
    text: 'One moment.\n\nNobody is there.',
    usage: { inputTokens: 1650, outputTokens: 30, costMicros: 480 },
  },
  session: { type: 'session', activity: 'waiting' },
  compacted: { type: 'compacted', how: 'summary', text: 'Ann asked about the door and the garden.' },
  'content-left-out': { type: 'content-left-out', messages: ['msg-1'], reason: 'the image is too large' },
  live: { type: 'live' },
  'turn-started': { type: 'turn-started', message: 't1', turn: 1 },
  'answer-spoken': { type: 'answer-spoken', message: 't1', turn: 1, chars: 35 },
  interrupted: { type: 'interrupted', reason: 'interrupt' },
  'call-offered': { type: 'call-offered', callId, client: 'phone-7f3a', offer: 1 },
  'result-ignored': { type: 'result-ignored', callId, reason: 'late' },
  'clients-gone': { type: 'clients-gone' },
  behind: { type: 'behind' },
}
