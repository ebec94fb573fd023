// Turns the calls of an answer into calls of the ledger: which may run, in the order that the agent demands, and how the
// others settle at once.
import type { JsonParsed } from '../json.ts'
import { JSON_DEPTH_MAX, isJsonObject, parseJson } from '../json.ts'
import type { FinishReason } from '../messages.ts'
import type { ModelCallPart } from '../agent/model.ts'
import type { Draft } from './draft.ts'
import { findTool } from './clients.ts'
import type { CallProposal, Settlement } from './fact.ts'
import type { CallCheck, InputOf } from './input.ts'
import type { RunningAttempt, State, Turn } from './state.ts'
import type { Spec } from './spec.ts'

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
