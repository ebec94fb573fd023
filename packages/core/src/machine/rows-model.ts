// Rows for a model's answers: a step ends, and the turn ends with it or the next round begins.
import type { AssistantPart, CallPart, SourcePart } from '../messages.ts'
import { readText } from '../messages.ts'
import { applyCallEventToAll, settle } from './call-event.ts'
import type { Draft } from './draft.ts'
import { emit } from './draft.ts'
import { requestTokens } from './estimate.ts'
import type { Failure, InputOf } from './input.ts'
import type { Proposed } from './proposal.ts'
import { proposeCalls } from './proposal.ts'
import { wellFormed } from './render.ts'
import { hasMedia, leaveOutOldest, leaveOutRefused } from './refused-content.ts'
import { judgeAnswer, proposeApproval } from './rows-answer.ts'
import { RULES } from './spec.ts'
import { countChars } from './size.ts'
import type { RunningAttempt, State, Turn } from './state.ts'
import { closeStep, failTurn, finishTurn, leftOfWaitMs, TEXT_SEPARATOR } from './turn.ts'
import { mayShrink, shrink } from './window.ts'
import type { RetrySpec } from './spec.ts'

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
