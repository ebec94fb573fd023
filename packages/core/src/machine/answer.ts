// Answers of a model: a step ends, and the turn ends with it or the next round begins. An answer may be refused because of
// the order of calls, by the check of the agent, or by a person: its approval is a call of its step, which waits, expires
// and is shown and logged like any other.
import type { AssistantPart, CallPart, FinishReason, SourcePart } from '../messages.ts'
import { readText } from '../messages.ts'
import { applyCallEventToAll, settle } from './calls.ts'
import { recallDecision } from './remembered.ts'
import { countBelow, explainNoChild, treeLimits } from './tree-limits.ts'
import type { Draft } from './draft.ts'
import type { Call, RunningAttempt, State, Turn } from './state.ts'
import { emit } from './draft.ts'
import { canAsk } from './state.ts'
import { mayShrink, requestTokens, shrink } from './window.ts'
import type { AnswerCheck, CallCheck, InputOf } from './input.ts'
import { wellFormed } from './render.ts'
import { hasMedia, leaveOutOldest, leaveOutRefused } from './left-out.ts'
import type { RetrySpec, Spec, ToolSpec } from './spec.ts'
import { RULES } from './spec.ts'
import { countChars } from './size.ts'
import { TEXT_SEPARATOR, closeStep, enterNotes, failTurn, finishTurn, leftOfWaitMs } from './turn.ts'
import type { JsonObject, JsonParsed } from '../json.ts'
import { JSON_DEPTH_MAX, isJsonObject, parseJson } from '../json.ts'
import type { AnswerRefuser, CallProposal, Settlement } from './fact.ts'
import type { ModelCallPart } from '../agent/model.ts'
import { findTool } from './clients.ts'
import { explainNoTask, giveReceipt } from './task-tools.ts'
import type { Failure } from './values.ts'

export function ignoreAnswer(draft: Draft, input: Unused | { readonly attempt: number; readonly type: string }): void {
  if ('usage' in input) countUnused(draft, input)
  emit(draft, { type: 'answer-ignored', attempt: input.attempt, input: input.type, reason: 'stale' })
}

type Unused = InputOf<'model-finished'> | InputOf<'summary-finished'>

/** Counts an answer that was paid for although nothing of it is kept. Called before the turn ends. */
export function countUnused(draft: Draft, input: Unused): void {
  const { attempt, usage } = input
  if (Object.keys(usage).length === 0) return
  const model = input.type === 'model-finished' ? input.model : (draft.state.attempt?.model ?? 'unknown')
  emit(draft, { type: 'model-used', attempt, model, usage })
}

export function finishStep(draft: Draft, input: InputOf<'model-finished'>): void {
  const { attempt, turn } = draft.state
  if (!attempt || !turn || attempt.attempt !== input.attempt) {
    ignoreAnswer(draft, input)
    return
  }
  if (input.finish === 'malformed-call') {
    countUnused(draft, input)
    failAttempt(draft, {
      type: 'model-failed',
      attempt: input.attempt,
      error: {
        code: 'model_malformed_answer',
        message: 'the model wrote a call that its provider could not read',
        retryable: true,
      },
    })
    return
  }
  const proposed = input.finish === 'refusal' ? [] : proposeCalls(draft, input, attempt)
  const text = readText(input.parts)
  if (proposed.length === 0 && text.trim() === '' && input.finish !== 'pause') finishEmpty(draft, input, attempt)
  else finishSaying(draft, input, { attempt, turn, proposed, text })
}

interface Saying {
  readonly attempt: RunningAttempt
  readonly turn: Turn
  readonly proposed: readonly Proposed[]
  readonly text: string
}

function finishSaying(draft: Draft, input: InputOf<'model-finished'>, saying: Saying): void {
  const { attempt, proposed, text } = saying
  const parts = storedParts(input, proposed)
  // The last pause that the agent allows ends the answer.
  const goesOn = input.finish === 'pause' && saying.turn.pauses < draft.spec.limits.pauses
  const paused = goesOn && proposed.length === 0
  const whole = [input.textBefore, text].filter((piece) => piece !== '').join(TEXT_SEPARATOR)
  // Calls that no tool may accept any longer do not make the text next to them less of an answer.
  const isLast = proposed.length === 0 || attempt.choice === 'none'
  const isAnswer = isLast && !paused && input.finish !== 'refusal' && text.trim() !== ''
  const answered = { attempt, text, whole }
  const asking =
    isAnswer && proposed.length === 0 && input.answer?.verdict === 'ask'
      ? proposeApproval(draft, input, answered)
      : undefined
  const { callId, name } = asking?.proposal ?? {}
  const shown = asking && ({ type: 'call', callId, name, arguments: asking.arguments } as CallPart) // present if it asks
  emit(draft, {
    type: 'step-finished',
    step: attempt.step,
    attempt: attempt.attempt,
    model: input.model,
    parts: shown ? [...parts, shown] : parts,
    calls: [...proposed, ...(asking ? [asking] : [])].map(({ proposal }) => proposal),
    finish: input.finish,
    usage: input.usage,
    textChars: text.length,
    chars: countChars(parts),
    interrupted: false,
    ...(isAnswer && input.answer && { checked: input.answer.verdict }),
  })
  if (asking) return
  const calls = draft.state.step?.calls ?? []
  proposed.forEach(({ settlement }, index) => {
    const call = calls[index]
    if (settlement && call) settle(draft, call, settlement, false)
    else if (call?.background) giveReceipt(draft, call)
  })
  if (proposed.length > 0 && attempt.choice === 'auto') return
  closeStep(draft)
  if (paused) return
  if (input.finish === 'refusal') endRefused(draft, whole)
  else if (attempt.choice === 'none' && text.trim() === '') failRounds(draft)
  else if (whole.trim() === '')
    failTurn(draft, 'empty_answer', `the provider paused its answer ${draft.spec.limits.pauses} times and said nothing`)
  else judgeAnswer(draft, input, answered)
}

/** The history only has what the ledger knows: calls get Baton's ids, and cut-off arguments become `{}`. */
function storedParts(input: InputOf<'model-finished'>, proposed: readonly Proposed[]): readonly AssistantPart[] {
  const stored: AssistantPart[] = []
  let next = 0
  for (const part of input.parts)
    if (part.type === 'text') {
      if (part.text !== '') stored.push({ ...part, text: wellFormed(part.text) })
    } else if (part.type === 'source') stored.push(cleanSource(part))
    else if (part.type === 'call') {
      const call = proposed[next]
      next += 1
      if (!call) continue
      const { name, state } = part
      const kept = { type: 'call', callId: call.proposal.callId, name, arguments: call.arguments } as const
      stored.push(state ? { ...kept, state } : kept)
    } else stored.push(part)
  return stored
}

/** Its texts come from foreign pages, and from byte parsers. */
function cleanSource({ url, title, mediaType, quote, ...part }: SourcePart): SourcePart {
  return {
    ...part,
    ...(url !== undefined && { url: wellFormed(url) }),
    ...(title !== undefined && { title: wellFormed(title) }),
    ...(mediaType !== undefined && { mediaType: wellFormed(mediaType) }),
    ...(quote !== undefined && { quote: wellFormed(quote) }),
  }
}

function finishEmpty(draft: Draft, input: InputOf<'model-finished'>, attempt: RunningAttempt): void {
  countUnused(draft, input)
  const turn = draft.state.turn
  if (input.finish === 'refusal') {
    emit(draft, { type: 'attempt-failed', attempt: attempt.attempt, error: REFUSED })
    endRefused(draft, '')
    return
  }
  if (draft.spec.emptyAnswer === 'silence' && attempt.choice === 'auto') {
    emit(draft, { type: 'attempt-superseded', attempt: attempt.attempt, reason: 'empty' })
    finishTurn(draft, 'silent')
    return
  }
  emit(draft, { type: 'attempt-superseded', attempt: attempt.attempt, reason: 'empty' })
  if (!turn?.askedAgain) return
  if (attempt.choice === 'none') failRounds(draft)
  else failTurn(draft, 'empty_answer', 'the model gave an empty answer twice')
}

const REFUSED: Failure = { code: 'model_refused', message: 'the model refused to answer', retryable: false }

function endRefused(draft: Draft, text: string): void {
  const turn = draft.state.turn
  if (!turn) return
  const { code, message } = REFUSED
  emit(draft, { type: 'turn-finished', turn: turn.turn, outcome: 'refused', text, error: { code, message } })
}

function failRounds(draft: Draft): void {
  const rounds = draft.spec.limits.toolRounds
  failTurn(draft, 'tool_round_limit_exceeded', `the model said nothing after its ${rounds} tool rounds`)
}

/** Retries the same model after a pause, then the next candidate; then the turn fails. */
export function failAttempt(draft: Draft, input: InputOf<'model-failed'>): void {
  const { state, spec } = draft
  const { attempt, turn } = state
  const { error } = input
  if (!attempt || !turn || attempt.attempt !== input.attempt) {
    ignoreAnswer(draft, input)
    return
  }
  const number = attempt.attempt
  if (attempt.model !== turn.models[turn.candidate]) {
    // Another model was chosen meanwhile: the old model's failure does not count against it.
    emit(draft, { type: 'attempt-superseded', attempt: number, reason: 'model-set', error })
    return
  }
  const delayMs = retryDelayMs(spec.retry, { session: state.session, attempt: number, failures: turn.failures, error })
  const isFull = error.code === 'context_overflow'
  const isLarge = error.code === 'model_request_too_large'
  const mayAskLess = (isFull || isLarge) && turn.shrinks < RULES.shrinks
  const isNews = isFull && mayAskLess && leavesRoom(draft, attempt, error)
  const isShrinking = mayAskLess && mayShrink(state)
  // A window that is full although nothing else can be removed may be full of images; and Bedrock reports too many
  // bytes as too long an input.
  if (isNews) emit(draft, { type: 'attempt-superseded', attempt: number, reason: 'context-full', error })
  else if (hasMedia(state) && (isLarge || (isFull && !isShrinking))) {
    emit(draft, { type: 'attempt-superseded', attempt: number, reason: 'too-large', error })
    leaveOutOldest(draft, error)
  } else if (isShrinking) {
    emit(draft, { type: 'attempt-superseded', attempt: number, reason: 'context-full', error })
    shrink(draft)
  } else if (delayMs !== undefined && turn.failures + 1 < spec.retry.attempts && fitsWait(state, turn, delayMs)) {
    const retryAtMs = state.nowMs + delayMs
    emit(draft, { type: 'attempt-superseded', attempt: number, reason: 'failed', error, retryAtMs })
  } else if (turn.candidate + 1 < turn.models.length && mayFallBack(draft, turn)) {
    emit(draft, { type: 'attempt-superseded', attempt: number, reason: 'fallback', error })
  } else {
    emit(draft, { type: 'attempt-failed', attempt: number, error })
    leaveOutRefused(draft, turn, error)
    failTurn(draft, error.code, error.message)
  }
}

/**
 * Whether a refusal names an unknown window that the request should fit by its estimate: then the requested answer was
 * too long, and the next request asks for less.
 */
function leavesRoom({ state, spec }: Draft, { model }: RunningAttempt, { contextTokens = 0 }: Failure): boolean {
  const known = state.learntWindows?.find((window) => window.model === model)?.tokens
  return known !== contextTokens && requestTokens(spec, state) < contextTokens
}

/**
 * Whether a model may be called again after this many milliseconds. Once words have arrived, the next wait is a new
 * one.
 */
function fitsWait({ attempt, nowMs }: State, { wait }: Turn, delayMs: number): boolean {
  return !wait || (attempt?.progressChars ?? 0) > 0 || nowMs + delayMs < (wait.untilMs ?? Infinity)
}

function mayFallBack({ state, spec }: Draft, { wait }: Turn): boolean {
  return !wait || (state.attempt?.progressChars ?? 0) > 0 || leftOfWaitMs(spec.limits, wait, state.nowMs) > 0
}

/** Live text precedes its commit; the progress is the fallback for a restart or an unanswered abort. */
export function noteProgress(draft: Draft, input: InputOf<'attempt-progress'>): void {
  const { attempt } = draft.state
  if (attempt?.attempt !== input.attempt || attempt.progressChars !== input.offset || input.text === '') return
  emit(draft, { type: 'attempt-progressed', attempt: input.attempt, offset: input.offset, text: input.text })
}

export function finishSummary(draft: Draft, input: InputOf<'summary-finished'>): void {
  const { attempt } = draft.state
  if (attempt?.attempt !== input.attempt) {
    ignoreAnswer(draft, input)
    return
  }
  const { fromEntry, toEntry } = attempt
  if (input.text.trim() === '') {
    countUnused(draft, input)
    const error: Failure = { code: 'empty_answer', message: 'the summary was empty', retryable: true }
    emit(draft, { type: 'summary-failed', attempt: input.attempt, error })
  } else {
    const { text, usage } = input
    emit(draft, { type: 'summary-finished', attempt: input.attempt, fromEntry, toEntry, text, usage })
  }
}

/** Without a summary the window slides, or the turn ends with a typed error. */
export function failSummary(draft: Draft, input: InputOf<'summary-failed'>): void {
  if (draft.state.attempt?.attempt !== input.attempt) {
    ignoreAnswer(draft, input)
    return
  }
  emit(draft, { type: 'summary-failed', attempt: input.attempt, error: input.error })
}

/** The time limit, or a step that its process never survives: everything open settles, and the turn ends. */
export function endOverdue(draft: Draft, code: 'turn_time_exceeded' | 'recovery_exhausted', message: string): void {
  applyCallEventToAll(draft, 'turn-over')
  closeStep(draft)
  failTurn(draft, code, message)
}

interface FailedAttempt {
  readonly session: string
  readonly attempt: number
  /** Earlier failures of this model. */
  readonly failures: number
  readonly error: Failure
}

/**
 * How long to wait before a model is called again. Pure: the jitter is derived from the attempt, not from chance.
 * Milliseconds until the next try; undefined if there is none, or the provider asks for too long a pause.
 */
export function retryDelayMs(retry: RetrySpec, failed: FailedAttempt): number | undefined {
  if (!failed.error.retryable) return undefined
  const askedMs = failed.error.retryAfterMs ?? 0
  if (askedMs > retry.maxMs) return undefined
  const backoffMs = Math.min(retry.maxMs, retry.baseMs * 2 ** failed.failures)
  const jittered = backoffMs / 2 + (backoffMs / 2) * fraction(`${failed.session}/${failed.attempt}`)
  return Math.max(askedMs, Math.round(jittered))
}

/** A number in [0, 1) from a text (FNV-1a), so that sessions that fail together do not retry together. */
function fraction(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return (hash >>> 0) / 0x1_0000_0000
}

export interface Answered {
  readonly attempt: RunningAttempt
  /** Text of the step. */
  readonly text: string
  /** Text of the turn, over all its steps. */
  readonly whole: string
}

/** The call through which the answer asks a person; undefined if it does not, or if no person can be asked. */
export function proposeApproval(
  draft: Draft,
  input: InputOf<'model-finished'>,
  { attempt, text, whole }: Answered,
): Proposed | undefined {
  const { answer, output } = input
  if (answer?.verdict !== 'ask' || typeof output?.issue === 'string') return undefined
  if (findMissing(draft.spec, draft.state.turn?.done).length > 0 || !canDecide(draft, answer)) return undefined
  const { reason, title = 'Approve the answer', by } = answer
  const parsed = output ? parseJson(text) : undefined
  const shown = parsed?.ok === true && isJsonObject(parsed.value) ? parsed.value : { text: output ? text : whole }
  const asked: JsonObject = { message: reason, ...(by && { by }) }
  return {
    proposal: {
      callId: nameCall(draft.state.birth, attempt.step, 0),
      name: ANSWER_APPROVAL,
      runs: 'server',
      effect: 'pure',
      timeoutMs: 0,
      parallel: true,
      onInterrupt: 'cancel',
      argumentsHash: '',
      about: { title, asked },
      asks: true,
      answer: { as: output ? 'value' : 'text', ...(by && { by }) },
    },
    arguments: JSON.stringify(shown),
  }
}

function canDecide(draft: Draft, { by }: Extract<AnswerCheck, { readonly verdict: 'ask' }>): boolean {
  return by !== undefined || canAsk(draft.state)
}

/**
 * Closes the answer's step. The schema is checked before `checkAnswer`: an answer that does not fit is not passed to
 * it.
 */
export function judgeAnswer(draft: Draft, input: InputOf<'model-finished'>, answered: Answered): void {
  const { attempt, text, whole } = answered
  const { step, choice } = attempt
  const { output, answer } = input
  const missing = findMissing(draft.spec, draft.state.turn?.done)
  if (missing.length > 0)
    // Without tools it cannot call the missing ones.
    refuseAnswer(draft, { step, by: 'order', issue: describeEarlyAnswer(missing), isLast: choice === 'none' })
  else if (typeof output?.issue === 'string') refuseOutput(draft, step, output.issue)
  else if (answer?.verdict === 'again')
    refuseAnswer(draft, { step, by: 'check', issue: answer.reason, isValue: output !== undefined })
  else if (answer?.verdict === 'ask')
    failTurn(draft, 'answer_refused', `a person must approve the answer, but no person can be asked: ${answer.reason}`)
  else if (answer?.verdict === 'failed') failTurn(draft, 'internal', answer.message)
  else if (!answer && draft.spec.checksAnswer) failTurn(draft, 'internal', 'the answer was not checked')
  // The answer is the value alone; text of earlier steps with calls is not part of it.
  else finishTurn(draft, 'answered', output ? text : whole)
}

function refuseOutput(draft: Draft, step: number, issue: string): void {
  const told = issue.slice(0, RULES.issueChars)
  const attempts = (draft.state.turn?.misfits ?? 0) + 1
  if (attempts >= draft.spec.limits.outputAttempts) {
    const tries = attempts === 1 ? '1 attempt' : `${attempts} attempts`
    failTurn(draft, 'invalid_output', `the answer did not fit the output schema in ${tries}: ${told}`, told)
    return
  }
  emit(draft, { type: 'output-refused', step, issue: told })
  tell(
    draft,
    `Your answer does not fit the output schema: ${told}\nAnswer again, with the corrected JSON and nothing else.`,
  )
}

interface Refused {
  readonly step: number
  readonly by: AnswerRefuser
  /** Message for the model. */
  readonly issue: string
  /** Whether it answers with a value. */
  readonly isValue?: boolean
  /** Whether asking again is pointless. */
  readonly isLast?: boolean
}

function refuseAnswer(draft: Draft, { step, by, issue, isValue, isLast }: Refused): void {
  const told = issue.slice(0, RULES.issueChars)
  emit(draft, { type: 'output-refused', step, issue: told, by })
  const { refusals = 0 } = draft.state.turn ?? {}
  if (isLast || refusals > draft.spec.limits.answerRetries) {
    failTurn(draft, 'answer_refused', `the answer was sent back ${refusals} times; last reason: ${told}`)
    return
  }
  const again = isValue ? 'Answer again, with the corrected JSON and nothing else.' : 'Then answer again.'
  const who = by === 'person' ? 'A person did not accept your answer' : 'Your answer was not accepted'
  tell(draft, `${who}: ${told}\n${again}`)
}

function tell(draft: Draft, text: string): void {
  emit(draft, { type: 'note-queued', note: draft.state.counters.note + 1, text })
  enterNotes(draft)
}

/** `check` has verified that the principal may decide, and that the text is present. */
export function decideAnswer(draft: Draft, call: Call, input: InputOf<'approval'>): void {
  const { approvalId, decision, principal, reason } = input
  const { callId, answer } = call
  const step = draft.state.step?.step ?? 0
  const why = reason !== undefined && { reason }
  emit(draft, { type: 'approval-decided', callId, approvalId, decision, principal, ...why })
  if (decision === 'approve') {
    settle(draft, call, { type: 'ok', content: [] }, false)
    closeStep(draft)
    finishTurn(draft, 'answered', input.answer ?? '')
    return
  }
  const issue = reason ?? 'no reason was given'
  settle(draft, call, { type: 'denied', code: 'call_denied', message: `a person denied the answer: ${issue}` }, false)
  closeStep(draft)
  refuseAnswer(draft, { step, by: 'person', issue, isValue: answer?.as === 'value' })
}

/** No decision in time: the model cannot do better, so it is not asked again. */
export function expireAnswer(draft: Draft): void {
  closeStep(draft)
  failTurn(draft, 'approval_expired', 'the answer was not approved in time')
}

export interface Proposed {
  readonly proposal: CallProposal
  /** The text for the history: the raw one, or `{}` if that is not a JSON object. */
  readonly arguments: string
  /** If present, the call never starts. */
  readonly settlement?: Settlement
}

export function proposeCalls(
  draft: Draft,
  input: InputOf<'model-finished'>,
  attempt: RunningAttempt,
): readonly Proposed[] {
  const parts = input.parts.filter((part): part is ModelCallPart => part.type === 'call')
  let tasks = 0
  return parts.map((part, index) => {
    const check = input.checks[index] ?? UNCHECKED
    const parsed = parseJson(part.arguments)
    const settlement = explainRefusal(draft, { part, parsed, index, tasks, check, attempt, finish: input.finish })
    if (!settlement && runsAside(findTool(draft, part.name)?.tool, check)) tasks += 1
    const recalled = check.deciders ? undefined : recallDecision(draft.state, part.name, check)
    const asks = check.asks === true && !settlement && recalled === undefined
    const callId = nameCall(draft.state.birth, attempt.step, index)
    return {
      proposal: makeProposal(draft, part.name, callId, { ...check, asks }),
      arguments: parsed.ok && isJsonObject(parsed.value) ? part.arguments : '{}',
      ...(settlement && { settlement }),
    }
  })
}

/** The id of a step's nth call, starting at 0. */
export function nameCall(birth: string, step: number, index: number): string {
  return `call_${birth === '' ? '' : `${birth}_`}${step}_${index}`
}

/** Whether a call runs in the background: never one that runs alone, or that the session itself runs. */
function runsAside(tool: ToolSpec | undefined, { background }: Pick<CallCheck, 'background'>): boolean {
  return background === true && tool?.parallel !== false && tool?.runs !== 'machine'
}

/** A call without a check must not start: it may need an approval. */
const UNCHECKED: CallCheck = { argumentsHash: '', invalid: 'the arguments were not checked' }

function makeProposal(
  draft: Draft,
  name: string,
  callId: string,
  check: Omit<CallCheck, 'asks' | 'invalid' | 'denied'> & { readonly asks: boolean },
): CallProposal {
  const { tool, broughtBy } = findTool(draft, name) ?? {}
  // A client's tool comes from outside.
  const provenance = broughtBy === undefined ? tool?.provenance : ({ trust: 'untrusted', source: broughtBy } as const)
  const proposal: { -readonly [Field in keyof CallProposal]: CallProposal[Field] } = {
    callId,
    name,
    runs: tool?.runs ?? 'server',
    effect: tool?.effect ?? 'pure',
    timeoutMs: tool?.timeoutMs ?? 0,
    parallel: tool?.parallel ?? true,
    onInterrupt: tool?.onInterrupt ?? 'cancel',
    argumentsHash: check.argumentsHash,
  }
  if (broughtBy !== undefined) proposal.broughtBy = broughtBy
  if (check.asks) {
    proposal.asks = check.asks
    if (check.asksFor !== undefined) proposal.asksFor = check.asksFor
    if (check.asksEach) proposal.asksEach = check.asksEach
    if (check.deciders) proposal.deciders = check.deciders
  }
  if (check.delegate && tool?.runs === 'child') proposal.delegate = check.delegate
  if (runsAside(tool, check)) proposal.background = { wake: tool?.wake ?? 'turn' }
  if (check.operation && tool?.runs === 'machine') proposal.operation = check.operation
  if (check.repairs) proposal.repairs = check.repairs
  if (check.chooses && proposal.runs === 'client') proposal.chooses = true
  if (provenance) proposal.provenance = provenance
  if (check.about) proposal.about = check.about
  return proposal
}

interface Asked {
  readonly part: ModelCallPart
  readonly parsed: JsonParsed
  readonly index: number
  /** Earlier calls of the answer that run in the background. */
  readonly tasks: number
  readonly check: CallCheck
  readonly attempt: RunningAttempt
  readonly finish: FinishReason
}

/** Why a call does not run, most fundamental reason first; undefined if it may. */
function explainRefusal(draft: Draft, asked: Asked): Settlement | undefined {
  const { part, parsed, check, attempt, finish } = asked
  const before = draft.state.turn?.calls ?? 0
  const most = draft.spec.limits.callsPerTurn
  if (attempt.choice === 'none')
    return { type: 'denied', code: 'call_denied', message: 'the tool rounds of this turn are used up' }
  const isCut = !parsed.ok && parsed.cutOff
  if (isCut || !RUNS_AFTER.has(finish)) {
    const why = isCut ? 'the arguments end early' : `the answer was stopped (${finish}) while its calls were written`
    return { type: 'error', code: 'arguments_cut_off', message: `${why}; nothing was executed` }
  }
  if (before + asked.index >= most)
    return { type: 'denied', code: 'call_limit_exceeded', message: `a turn may have ${most} calls` }
  const { turn } = draft.state
  const isInTree = draft.state.parent !== null || turn?.below !== undefined
  const tree = isInTree ? treeLimits(draft.spec, draft.state).calls : undefined
  if (turn && tree !== undefined && countBelow(turn).calls + asked.index >= tree)
    return { type: 'denied', code: 'call_limit_exceeded', message: `a turn and its children may have ${tree} calls` }
  // Its tool's name is unreliable.
  if (check.unreadable)
    return { type: 'error', code: 'invalid_arguments', message: check.invalid ?? 'it cannot be read' }
  if (!findTool(draft, part.name))
    return { type: 'error', code: 'tool_not_found', message: `there is no tool "${part.name}"` }
  if (!parsed.ok && parsed.tooDeep)
    return {
      type: 'error',
      code: 'invalid_arguments',
      message: `the arguments are deeper than ${JSON_DEPTH_MAX} levels; nothing was executed`,
    }
  if (!parsed.ok || !isJsonObject(parsed.value))
    return { type: 'error', code: 'invalid_arguments', message: 'the arguments are not a JSON object' }
  if (check.invalid !== undefined) return { type: 'error', code: 'invalid_arguments', message: check.invalid }
  if (findTool(draft, part.name)?.tool.runs === 'child') {
    if (!check.delegate) return { type: 'error', code: 'invalid_arguments', message: 'the task was not prepared' }
    const refused = explainNoChild(draft, part.name)
    if (refused) return refused
  }
  const missing = findMissing(draft.spec, draft.state.turn?.done, part.name)
  if (missing.length > 0) return { type: 'denied', code: 'call_denied', message: describeMissing(part.name, missing) }
  if (check.denied !== undefined) return { type: 'denied', code: 'call_denied', message: check.denied }
  const full = runsAside(findTool(draft, part.name)?.tool, check) ? explainNoTask(draft, asked.tasks) : undefined
  if (full) return full
  if (draft.state.remembered.length > 0 && recallDecision(draft.state, part.name, check) === 'deny')
    return {
      type: 'denied',
      code: 'call_denied',
      message: `a person decided earlier that such calls of "${part.name}" do not run`,
    }
  return undefined
}

/**
 * Finish reasons after which a call may run, if its arguments are complete. Never the reason alone: servers misreport
 * it.
 */
export const RUNS_AFTER: ReadonlySet<FinishReason> = new Set<FinishReason>(['end', 'tool-calls', 'pause'])

/** The name of the call that represents the approval of an answer; no tool has it. */
export const ANSWER_APPROVAL = 'answer.approve'

/**
 * The tools that need an `ok` result in this turn before the call, or before the answer (without `name`). Empty if it is allowed now.
 * @param done tools that have one
 */
export function findMissing(
  { firstTool, order }: Pick<Spec, 'firstTool' | 'order'>,
  done: readonly string[] = [],
  name?: string,
): readonly string[] {
  if (firstTool !== undefined && name !== firstTool && !done.includes(firstTool)) return [firstTool]
  if (!order) return []
  const rules = order.filter((rule) => ('tool' in rule ? rule.tool === name : name === undefined))
  return [...new Set(rules.flatMap(({ after }) => after))].filter((tool) => !done.includes(tool))
}

/**
 * Whether `stopWhen` ends the turn now that the calls of a step have settled. The turn continues while the answer still
 * requires another tool's result.
 */
export function endsAtCalls(
  spec: Pick<Spec, 'stopWhen' | 'firstTool' | 'order'>,
  { done = [], rounds }: Pick<Turn, 'done' | 'rounds'>,
): boolean {
  const isMet = spec.stopWhen?.some((rule) => ('tool' in rule ? done.includes(rule.tool) : rounds >= rule.rounds))
  return isMet === true && findMissing(spec, done).length === 0
}

/** Message to the model about a premature call. */
export function describeMissing(name: string, missing: readonly string[]): string {
  return `"${name}" may run only after ${list(missing)} gave a result in this turn. Call ${list(missing)} first, then "${name}" again`
}

/** Message to the model about a premature answer. */
export function describeEarlyAnswer(missing: readonly string[]): string {
  return `it may come only after ${list(missing)} gave a result in this turn. Call ${list(missing)} first`
}

function list(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(' and ')
}
