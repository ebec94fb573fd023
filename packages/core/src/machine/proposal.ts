// Turns the calls of an answer into calls of the ledger: which may run, and how the others settle at once.
import type { JsonParsed } from '../json.ts'
import { isJsonObject, JSON_DEPTH_MAX, parseJson } from '../json.ts'
import type { FinishReason } from '../messages.ts'
import type { ModelCallPart } from '../agent/model.ts'
import type { Draft } from './draft.ts'
import { findTool } from './draft.ts'
import type { CallProposal, Settlement } from './fact.ts'
import type { CallCheck, InputOf } from './input.ts'
import { describeMissing, findMissing } from './order.ts'
import type { RunningAttempt, State } from './state.ts'

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
  return parts.map((part, index) => {
    const check = input.checks[index] ?? UNCHECKED
    const parsed = parseJson(part.arguments)
    const settlement = explainRefusal(draft, { part, parsed, index, check, attempt, finish: input.finish })
    const asks = check.asks === true && !settlement && recallDecision(draft.state, part.name, check) === undefined
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

/** A call without a check must not start: it may need an approval. */
const UNCHECKED: CallCheck = { argumentsHash: '', invalid: 'the arguments were not checked' }

function makeProposal(
  draft: Draft,
  name: string,
  callId: string,
  check: Pick<CallCheck, 'argumentsHash' | 'about' | 'repairs' | 'asksFor' | 'asksEach'> & { readonly asks: boolean },
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
  }
  if (check.repairs) proposal.repairs = check.repairs
  if (provenance) proposal.provenance = provenance
  if (check.about) proposal.about = check.about
  return proposal
}

interface Asked {
  readonly part: ModelCallPart
  readonly parsed: JsonParsed
  readonly index: number
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
  const missing = findMissing(draft.spec, draft.state.turn?.done, part.name)
  if (missing.length > 0) return { type: 'denied', code: 'call_denied', message: describeMissing(part.name, missing) }
  if (check.denied !== undefined) return { type: 'denied', code: 'call_denied', message: check.denied }
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

/** A person's decision for later calls of a tool, or for those with the same arguments; the newest decision first. */
function recallDecision(
  state: State,
  tool: string,
  { argumentsHash, asksFor }: Pick<CallCheck, 'argumentsHash' | 'asksFor'>,
): 'approve' | 'deny' | undefined {
  const remembered = state.remembered.findLast((one) => {
    if (one.name !== tool) return false
    // A later approval of the destination does not approve the very call that a person denied.
    if (asksFor !== undefined && one.decision === 'approve' && isDenied(state, tool, argumentsHash)) return false
    if (one.asksFor !== undefined) return one.asksFor === asksFor
    const fits = one.argumentsHash === null || one.argumentsHash === argumentsHash
    return fits && (asksFor === undefined || one.decision === 'deny')
  })
  return remembered?.decision
}

function isDenied(state: State, tool: string, argumentsHash: string): boolean {
  const denies = ({ name, decision, argumentsHash: denied }: State['remembered'][number]): boolean =>
    name === tool && decision === 'deny' && denied === argumentsHash
  return state.remembered.some(denies)
}
