// The schema of facts: each with its fields, as records hold them. Unknown fields are additions, and are ignored.
import type { FactOf, FactType } from './fact.ts'
import type { Check, FieldChecks } from './value-checks.ts'
import {
  checkAmount,
  checkFields,
  checkFlag,
  checkJson,
  checkList,
  checkMs,
  checkNullOr,
  checkObject,
  checkText,
  checkVariant,
  checkWhole,
  checkWord,
  optional,
} from './value-checks.ts'

const checkState = checkFields({ provider: checkText, model: checkText, data: checkJson })
const STATE = { state: optional(checkState) }
const checkSource = checkVariant({
  base64: checkFields({ data: checkText }),
  url: checkFields({ url: checkText }),
  blob: checkFields({ handle: checkText, bytes: checkWhole }),
})
const MEDIA = { mediaType: checkText, source: checkSource, ...STATE }

const checkTextPart = checkFields({ text: checkText, ...STATE })
const optionalText = optional(checkText)
const optionalYes = optional(checkWord(true))
const checkContent = checkList(
  checkVariant({ text: checkTextPart, image: checkFields(MEDIA), file: checkFields({ ...MEDIA, name: optionalText }) }),
)
const checkAssistantParts = checkList(
  checkVariant({
    text: checkTextPart,
    reasoning: checkTextPart,
    call: checkFields({ callId: checkText, name: checkText, arguments: checkText, ...STATE }),
    source: checkFields({
      id: checkText,
      url: optionalText,
      title: optionalText,
      mediaType: optionalText,
      quote: optionalText,
    }),
    provider: checkFields({ state: checkState }),
  }),
)

const checkUsage = checkFields({
  inputTokens: optional(checkAmount),
  cacheReadTokens: optional(checkAmount),
  cacheWriteTokens: optional(checkAmount),
  outputTokens: optional(checkAmount),
  reasoningTokens: optional(checkAmount),
  costMicros: optional(checkAmount),
})
const checkSettings = checkFields({
  maxOutputTokens: optional(checkAmount),
  moreForTools: optional(checkFlag),
  temperature: optional(checkAmount),
  reasoningTokens: optional(checkAmount),
  effort: optional(checkWord('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')),
  topP: optional(checkAmount),
  stop: optional(checkList(checkText)),
  seed: optional(checkWhole),
  serviceTier: optionalText,
  cache: optional(checkWord('off', '5m', '1h')),
  toolChoice: optional(checkFields({ type: checkWord('auto', 'any', 'none', 'tool'), name: optionalText })),
  parallelCalls: optional(checkFlag),
  strictTools: optional(checkFlag),
  provider: optional(checkJson),
  serverTools: optional(checkJson),
})
const checkProvenance = checkFields({ trust: checkWord('trusted', 'untrusted'), source: optionalText })
const checkError = checkFields({ code: checkText, message: checkText })
const checkFailure = checkFields({
  code: checkText,
  message: checkText,
  retryable: checkFlag,
  retryAfterMs: optional(checkMs),
  contextTokens: optional(checkAmount),
})
const checkTexts = checkList(checkText)
const checkEffect = checkWord('pure', 'idempotent', 'once')
const checkRuns = checkWord('server', 'client')
const checkOnInterrupt = checkWord('cancel', 'finish', 'detach')

const checkProposal = checkFields({
  callId: checkText,
  name: checkText,
  runs: checkRuns,
  effect: checkEffect,
  timeoutMs: checkMs,
  parallel: checkFlag,
  onInterrupt: checkOnInterrupt,
  argumentsHash: checkText,
  provenance: optional(checkProvenance),
  about: optional(checkObject),
  broughtBy: optionalText,
  asks: optionalYes,
  asksFor: optionalText,
  asksEach: optionalYes,
  answer: optional(checkFields({ as: checkWord('text', 'value'), by: optional(checkList(checkText)) })),
  repairs: optional(checkList(checkText)),
  tokenHash: optionalText,
})
const checkClientTool = checkFields({
  name: checkText,
  effect: checkEffect,
  runs: checkRuns,
  timeoutMs: checkMs,
  parallel: checkFlag,
  onInterrupt: checkOnInterrupt,
  provenance: optional(checkProvenance),
  description: checkText,
  inputSchema: checkJson,
})
const checkBody = checkVariant({
  user: checkFields({ parts: checkContent }),
  transcript: checkFields({ speaker: checkText, text: checkText }),
  urgent: checkFields({ name: checkText, label: optionalText, detail: optional(checkJson), message: optionalText }),
})
const checkWholes = checkList(checkWhole)
const checkEntryMedia = checkFields({ parts: checkWhole, chars: checkAmount, inputs: optional(checkTexts) })
const checkSizes = checkList(checkFields({ entry: checkWhole, chars: checkAmount, media: optional(checkEntryMedia) }))
const checkSettlement = checkVariant({
  ok: checkFields({ content: checkContent, value: optional(checkJson) }),
  error: checkError,
  denied: checkError,
  'timed-out': checkFields({ reason: optionalText, begun: optionalYes }),
  cancelled: checkFields({ reason: checkText, begun: optionalYes, detached: optionalYes }),
  unknown: checkFields({ reason: checkText, message: optionalText }),
})
const checkPlayed = checkVariant({ all: checkObject, chars: checkFields({ chars: checkAmount }), display: checkObject })
const checkIndex = checkList(
  checkFields({
    entry: checkWhole,
    exchange: checkWhole,
    role: checkWord('user', 'step', 'summary'),
    chars: checkAmount,
    step: optional(checkWhole),
    inputs: optional(checkTexts),
    notes: optional(checkWholes),
    media: optional(checkEntryMedia),
    long: optional(checkList(checkFields({ callId: checkText, chars: checkAmount }))),
  }),
)

/** Every field of a fact's type, so that none is forgotten here. */
type FieldsOf<Type extends FactType> = FieldChecks & {
  readonly [Name in Exclude<keyof FactOf<Type>, 'type'>]-?: FieldChecks[string]
}

const CALL = { callId: checkText }
const ATTEMPT = { attempt: checkWhole }
const RANGE = { fromEntry: checkWhole, toEntry: checkWhole }

const FACTS: { readonly [Type in FactType]: FieldsOf<Type> } = {
  'session-opened': {
    session: checkText,
    birth: checkText,
    principal: checkText,
    agent: checkText,
    specHash: checkText,
  },
  'agent-changed': { specHash: checkText, agent: optionalText },
  'model-set': { model: checkText },
  'settings-set': { settings: checkNullOr(checkSettings) },
  'input-withdrawn': { inputId: checkText },
  'client-tools-set': { connection: optionalText, tools: checkList(checkClientTool) },
  'client-tools-dropped': { connection: checkNullOr(checkText), names: checkTexts },
  'plan-set': {
    ...CALL,
    entries: checkList(
      checkFields({
        content: checkText,
        status: checkWord('pending', 'in_progress', 'completed'),
        priority: optional(checkWord('high', 'medium', 'low')),
      }),
    ),
  },
  'model-used': { callId: optionalText, attempt: optional(checkWhole), model: checkText, usage: checkUsage },
  'session-described': { title: optional(checkNullOr(checkText)), meta: optional(checkObject) },
  'session-paused': {},
  'session-continued': {},
  'session-stopped': {},
  'session-started': {},
  'client-attached': {
    connection: checkText,
    principal: checkText,
    sequential: checkFlag,
    protocol: optional(checkWord(1, 2)),
    claims: optional(checkFlag),
    reportsPlayback: optional(checkFlag),
    asks: optional(checkFlag),
    tools: optional(checkTexts),
    untilMs: optional(checkMs),
  },
  'client-renewed': { connection: checkText, untilMs: checkMs },
  'client-detached': { connection: checkText },
  'input-accepted': {
    inputId: checkText,
    body: checkBody,
    chars: checkAmount,
    heldChars: checkAmount,
    delivery: checkWord('queue', 'steer', 'interrupt'),
    ready: checkFlag,
    untilMs: optional(checkMs),
    model: optionalText,
    settings: optional(checkSettings),
    output: optional(checkObject),
    asks: optional(checkWord(false)),
    traceparent: optionalText,
  },
  'batch-flushed': {},
  'inputs-entered': {
    exchange: checkWhole,
    entries: checkList(
      checkFields({
        entry: checkWhole,
        inputs: checkTexts,
        notes: checkWholes,
        chars: checkAmount,
        media: optional(checkEntryMedia),
      }),
    ),
  },
  'note-queued': { note: checkWhole, text: checkText, untrusted: optionalText },
  'turn-started': {
    turn: checkWhole,
    exchange: checkWhole,
    models: checkTexts,
    settings: optional(checkSettings),
    output: optional(checkObject),
    deadlineMs: checkMs,
  },
  'turn-settings-set': { models: checkTexts, settings: checkSettings },
  'turn-clock-set': { deadlineMs: checkNullOr(checkMs), remainingMs: checkMs },
  'model-started': {
    ...ATTEMPT,
    ...RANGE,
    step: checkWhole,
    model: checkText,
    choice: checkWord('auto', 'none'),
    chars: checkAmount,
    firstWordMs: optional(checkMs),
  },
  'attempt-progressed': { ...ATTEMPT, offset: checkWhole, text: checkText },
  'attempt-superseded': {
    ...ATTEMPT,
    reason: checkWord('failed', 'model-set', 'fallback', 'restart', 'empty', 'paused', 'context-full', 'too-large'),
    error: optional(checkFailure),
    retryAtMs: optional(checkMs),
  },
  'attempt-failed': { ...ATTEMPT, error: checkFailure },
  'answer-ignored': { ...ATTEMPT, input: checkText, reason: checkText },
  'step-finished': {
    ...ATTEMPT,
    step: checkWhole,
    model: checkText,
    parts: checkAssistantParts,
    calls: checkList(checkProposal),
    finish: checkText,
    usage: checkUsage,
    textChars: checkAmount,
    chars: checkAmount,
    interrupted: checkFlag,
    checked: optional(checkWord('accept', 'again', 'ask', 'failed')),
  },
  'output-refused': { step: checkWhole, issue: checkText, by: optional(checkWord('order', 'check', 'person')) },
  'step-salvaged': { ...ATTEMPT, step: checkWhole, textChars: checkAmount },
  'step-closed': { step: checkWhole, entry: checkWhole },
  'turn-finished': {
    turn: checkWhole,
    outcome: checkWord('answered', 'tool', 'silent', 'interrupted', 'refused', 'failed', 'stopped'),
    text: checkText,
    error: optional(checkFields({ code: checkText, message: checkText, issues: optionalText })),
  },
  'approval-requested': { ...CALL, approvalId: checkText, argumentsHash: checkText, expiresAtMs: checkMs },
  'approval-decided': {
    ...CALL,
    approvalId: checkText,
    decision: checkWord('approve', 'deny', 'edit'),
    principal: checkText,
    reason: optionalText,
    remember: optional(checkWord('tool', 'arguments')),
    edited: optional(
      checkFields({ arguments: checkText, argumentsHash: checkText, approved: optionalYes, tokenHash: optionalText }),
    ),
  },
  'question-asked': {
    ...CALL,
    questionId: checkText,
    n: checkWhole,
    message: checkText,
    schema: checkObject,
    expiresAtMs: checkMs,
  },
  'question-answered': {
    ...CALL,
    questionId: checkText,
    n: checkWhole,
    value: optional(checkJson),
    declined: optional(checkWord('person', 'expired', 'nobody')),
    reason: optionalText,
  },
  'call-started': { ...CALL, ...ATTEMPT, deadlineMs: checkMs },
  'call-offered': { ...CALL, connection: checkText, offer: checkWhole },
  'call-claimed': { ...CALL, connection: checkText },
  'call-returned': { ...CALL, reason: checkText },
  'call-taken-over': CALL,
  'call-clock-set': {
    ...CALL,
    mode: checkWord('held', 'waiting', 'running', 'away'),
    deadlineMs: checkNullOr(checkMs),
    remainingMs: checkMs,
    awayRemainingMs: checkMs,
    graces: checkWhole,
  },
  'call-settled': { ...CALL, settlement: checkSettlement, tellLate: checkFlag },
  'result-ignored': { ...CALL, reason: checkText, outcome: checkWord('ok', 'error'), preview: checkText },
  'window-moved': { fromEntry: checkWhole, messages: optional(checkWhole) },
  'results-moved': { calls: checkTexts, sizes: checkSizes },
  'summary-started': { ...ATTEMPT, ...RANGE, messages: optional(checkWhole) },
  'summary-finished': { ...ATTEMPT, ...RANGE, text: checkText, usage: checkUsage },
  'summary-failed': { ...ATTEMPT, error: checkFailure },
  'interrupt-accepted': { reason: checkText, heard: checkPlayed, untilMs: optional(checkMs) },
  'grace-started': { untilMs: checkMs },
  'answer-cut': { cuts: checkList(checkFields({ step: checkWhole, keepChars: checkAmount })) },
  'inputs-left-out': {
    inputs: checkTexts,
    steps: optional(checkWholes),
    reason: checkText,
    tooLarge: optionalYes,
    sizes: checkSizes,
  },
  'display-written': { turn: checkWhole, chars: optional(checkWhole) },
  'history-rewound': { inputId: checkText, exchange: checkWhole, index: checkIndex },
  'host-restarted': { downMs: checkMs },
}

/** The check of each fact by its type. */
export const FACT_CHECKS: ReadonlyMap<string, Check> = new Map(
  Object.entries(FACTS).map(([type, fields]) => [type, checkFields(fields)]),
)
