// The eight invariants of a session, checked after every record. It keeps its own ledger and trusts no state.
import { isJsonObject, parseJson } from '../json.ts'
import type { Message, StoredMessage } from '../messages.ts'
import type {
  AwaitedEffect,
  Effect,
  Fact,
  FactOf,
  History,
  Input,
  SessionRecord,
  Spec,
  State,
} from '../machine/index.ts'
import {
  applyRecord,
  checkRecord,
  decide,
  effectKey,
  findCall,
  findTask,
  outstanding,
  requestTokens,
  TASK_INPUT,
} from '../machine/index.ts'
import { measureMedia } from '../machine/size.ts'
import { answerKey, withdrawnKey } from './effect-keys.ts'
import { checkDeadlines } from './check-deadlines.ts'
import { fail } from './invariant-error.ts'
import { inlineBlobs } from './inline-blobs.ts'
import { validateHistory } from './neutral-history.ts'

export interface Observation {
  readonly spec: Spec
  readonly before: State
  readonly after: State
  readonly input: Input | null
  readonly record: SessionRecord
  /** Absent if only the stored records are known: then outstanding effects are not checked. */
  readonly effects?: readonly Effect[]
  /** The record was decided by this code and with this spec, and not by an older one. */
  readonly isDecided?: boolean
  readonly history: History
}

export interface InvariantOptions {
  /** Further validators of the history: one for each provider's wire. */
  readonly validate?: (messages: readonly Message[]) => readonly { readonly message: string }[]
}

export interface InvariantChecker {
  /** @throws InvariantError */
  observe(observation: Observation): void
  /** Called when everything has come to rest: nothing may be left over. @throws InvariantError */
  finish(state: State): void
}

interface Ledger {
  readonly owed: Set<string>
  readonly calls: Map<string, CallEntry>
  readonly inputs: Map<string, 'waiting' | 'entered' | 'seen'>
  readonly entered: Map<number, readonly string[]>
  /** Counts of the running turn: started calls, and tokens used by its steps. */
  readonly begun: Set<string>
  /** Asked and answered questions. */
  readonly questions: Map<string, 'asked' | 'answered'>
  tokens: number
}

interface CallEntry {
  readonly fact: FactOf<'step-finished'>['calls'][number]
  readonly runnable: boolean
  /** A person approved it, or no approval was needed. */
  approved: boolean
  settled: number
  started: number
  claimed: number
  /** Its settlement is a receipt; it settles as a task, once. */
  task: boolean
  ended: number
}

export function createInvariantChecker(options: InvariantOptions = {}): InvariantChecker {
  const ledger: Ledger = {
    owed: new Set(),
    calls: new Map(),
    inputs: new Map(),
    entered: new Map(),
    begun: new Set(),
    questions: new Map(),
    tokens: 0,
  }
  return {
    observe: (observation) => {
      checkFold(observation)
      for (const fact of observation.record.facts) checkFact(ledger, observation, fact)
      checkStrangers(observation)
      if (observation.effects) checkOutstanding(ledger, observation, observation.effects)
      if (observation.isDecided) checkStill(observation)
      checkDeadlines(observation.after)
      checkHistory(observation, options)
    },
    finish: (state) => {
      for (const [inputId, fate] of ledger.inputs)
        if (fate !== 'seen') fail('4 no input is lost', `${inputId} was never seen by a model (${fate})`)
      for (const [callId, call] of ledger.calls)
        if (call.settled !== 1) fail('1 one settlement', `${callId} has ${call.settled} settlements at rest`)
      if (state.queue.length > 0) fail('4 no input is lost', `${state.queue.length} inputs wait at rest`)
      for (const [callId, { task, ended }] of ledger.calls)
        if (task && ended !== 1) fail('1 one settlement', `the task ${callId} has ${ended} settlements at rest`)
      if (state.turn || state.step)
        fail('6 every wait ends', `the session rests in ${state.phase} with a turn or a step`)
    },
  }
}

/** Checks that a restart reads and folds what was decided. */
function checkFold({ before, after, record }: Observation): void {
  checkRecord(JSON.parse(JSON.stringify(record)))
  const folded = JSON.stringify(applyRecord(before, record))
  if (folded !== JSON.stringify(after)) fail('0 fold', `record ${record.pos} folds to another state than was decided`)
}

/** Nothing that follows from a record is left to the next one: a timer that is no longer owed changes nothing. */
function checkStill({ spec, after, record }: Observation): void {
  const stale = { type: 'timer-fired', timer: 'none', generation: 0 } as const
  const decision = decide(spec, after, stale, after.nowMs)
  if (decision.type === 'decided' && decision.facts.length === 0) return
  const left = decision.type === 'decided' ? decision.facts.map(({ type }) => type).join() : decision.refusal.code
  fail('0 fold', `record ${record.pos} left ${left} to the next one`)
}

/** A result of a client that was not asked is only logged. */
function checkStrangers({ record }: Observation): void {
  const [first] = record.facts
  if (first?.type !== 'result-ignored' || first.reason === 'late' || first.reason === 'duplicate') return
  const more = record.facts.slice(1).filter((fact) => fact.type === 'note-queued' || fact.type === 'call-settled')
  if (more.length > 0) fail('1 one settlement', `a ${first.reason} result of ${first.callId} changed something`)
}

function checkFact(ledger: Ledger, observation: Observation, fact: Fact): void {
  if (isOfOther(observation, fact)) return
  switch (fact.type) {
    case 'turn-started':
      ledger.begun.clear()
      ledger.tokens = 0
      break
    case 'input-accepted':
      if (ledger.inputs.has(fact.inputId)) fail('4 no input is lost', `${fact.inputId} was accepted twice`)
      ledger.inputs.set(fact.inputId, 'waiting')
      break
    case 'input-withdrawn':
      if (ledger.inputs.get(fact.inputId) !== 'waiting')
        fail('4 no input is lost', `${fact.inputId} was withdrawn, and did not wait`)
      // The sender withdrew it.
      ledger.inputs.set(fact.inputId, 'seen')
      break
    case 'inputs-entered':
      enterInputs(ledger, fact)
      break
    case 'model-started':
      startModel(ledger, observation, fact)
      break
    case 'turn-finished':
      if (fact.outcome === 'failed' || fact.outcome === 'stopped' || fact.outcome === 'interrupted')
        markSeen(ledger, Infinity)
      break
    case 'history-rewound':
      for (const entry of ledger.entered.keys())
        if (!fact.index.some((kept) => kept.entry === entry)) ledger.entered.delete(entry)
      break
    default:
      checkCallFact(ledger, observation, fact)
  }
}

/** Calls of sessions below have their ledger there. */
function isOfOther({ before, after }: Observation, fact: Fact): boolean {
  if ('via' in fact && fact.via !== undefined) return true
  if (!('callId' in fact) || fact.callId === undefined) return false
  const { callId } = fact
  return [...before.relayed, ...after.relayed].some((one) => one.callId === callId)
}

function checkCallFact(ledger: Ledger, { before, after, spec, record }: Observation, fact: Fact): void {
  switch (fact.type) {
    case 'step-finished':
      proposeCalls(ledger, fact)
      break
    case 'call-settled':
      findCallEntry(ledger, fact.callId).settled += 1
      if (fact.task) findCallEntry(ledger, fact.callId).task = true
      if (findCallEntry(ledger, fact.callId).settled > 1) fail('1 one settlement', `${fact.callId} was settled twice`)
      break
    case 'task-settled': {
      const task = findCallEntry(ledger, fact.callId)
      task.ended += 1
      if (!task.task || task.ended > 1)
        fail('1 one settlement', `the task ${fact.callId} was settled ${task.ended} times`)
      checkNews(before, record, fact)
      break
    }
    case 'call-started':
    case 'call-offered': {
      const call = findCallEntry(ledger, fact.callId)
      if (!call.runnable) fail('8 cut-off arguments', `${fact.callId} was started although its arguments are not whole`)
      if (call.settled > 0 && !(call.task && call.ended === 0))
        fail('1 one settlement', `${fact.callId} was started after it was settled`)
      if (call.fact.effect === 'once' && call.started + call.claimed > 0)
        fail('5 at most once', `${fact.callId} was started again (record ${before.pos + 1})`)
      if (!call.approved) fail('8 approved', `${fact.callId} was started without its approval`)
      if (fact.type === 'call-offered') checkHolder(call, after, fact)
      if (fact.type === 'call-started') call.started += 1
      if (!call.task) ledger.begun.add(fact.callId)
      if (ledger.begun.size > spec.limits.callsPerTurn)
        fail(
          '6 within its limits',
          `${ledger.begun.size} calls began in a turn; the limit is ${spec.limits.callsPerTurn}`,
        )
      break
    }
    case 'question-asked':
      if (ledger.questions.has(fact.questionId)) fail('1 one answer', `${fact.questionId} was asked twice`)
      ledger.questions.set(fact.questionId, 'asked')
      break
    case 'question-answered':
      if (ledger.questions.get(fact.questionId) !== 'asked') fail('1 one answer', `${fact.questionId} was not open`)
      ledger.questions.set(fact.questionId, 'answered')
      break
    case 'approval-decided':
      // In older records edits needed a new approval.
      if (fact.decision !== 'deny') findCallEntry(ledger, fact.callId).approved = fact.edited?.tokenHash === undefined
      break
    case 'call-claimed':
      findCallEntry(ledger, fact.callId).claimed += 1
      break
    case 'call-taken-over':
      if (findCallEntry(ledger, fact.callId).claimed > 0)
        fail('5 at most once', `${fact.callId} was claimed, and the server took it over`)
      break
    case 'call-returned': {
      const call = findCallEntry(ledger, fact.callId)
      // An offer that could not be sent was not seen; any other claim stays.
      const claim = findCall(before, fact.callId)
      if (fact.reason !== 'send_failed' || call.claimed === 0) break
      if (claim?.offer?.claims && claim.state === 'claimed')
        fail('5 at most once', `${fact.callId} was claimed, and is offered again`)
      call.claimed -= 1
      break
    }
    default:
      break
  }
}

/** Checks that a task's end is reported once, in its own record. */
function checkNews(
  before: State,
  { facts }: SessionRecord,
  { callId, awaited, settlement }: FactOf<'task-settled'>,
): void {
  const inputs = facts.filter((fact) => fact.type === 'input-accepted' && fact.inputId === TASK_INPUT + callId).length
  const notes = facts.filter((fact) => fact.type === 'note-queued' && fact.text.includes(`(${callId})`)).length
  const cancelled = facts.some((fact) => fact.type === 'task-cancelled' && fact.callId === callId)
  const known = cancelled || findTask(before.tasks, callId)?.task.cancelledBy !== undefined
  const hasToEnd =
    (before.parent !== null && before.parent.end !== null) ||
    facts.some((fact) => fact.type === 'parent-told' && fact.end !== undefined)
  const isSilent = known || hasToEnd || ('reason' in settlement && settlement.reason === 'rewind')
  if (awaited ? inputs > 0 : inputs + notes !== 1 && !isSilent)
    fail('9 one wake', `the end of ${callId} was told by ${inputs} inputs and ${notes} notes`)
}

/** Checks that a client's own tool runs only on that client. */
function checkHolder(
  { fact: { callId, name, broughtBy } }: CallEntry,
  after: State,
  { connection }: FactOf<'call-offered'>,
): void {
  const list = after.clientTools.find((other) => other.connection === connection)
  if (broughtBy !== undefined && !list?.tools.some((tool) => tool.name === name))
    fail('1 one settlement', `${callId} is offered to ${connection}, which never brought ${name}`)
}

function findCallEntry(ledger: Ledger, callId: string): CallEntry {
  return ledger.calls.get(callId) ?? fail('1 one settlement', `${callId} was never proposed`)
}

function proposeCalls(ledger: Ledger, fact: FactOf<'step-finished'>): void {
  ledger.tokens += (fact.usage.inputTokens ?? 0) + (fact.usage.outputTokens ?? 0)
  for (const proposal of fact.calls) {
    if (ledger.calls.has(proposal.callId)) fail('1 one settlement', `${proposal.callId} was proposed twice`)
    const part = fact.parts.find((candidate) => candidate.type === 'call' && candidate.callId === proposal.callId)
    if (part?.type !== 'call') fail('2 valid history', `${proposal.callId} has no part in its step`)
    const parsed = parseJson(part.arguments)
    const whole = parsed.ok && isJsonObject(parsed.value) && !part.arguments.includes('"cut"')
    const runnable = whole && ['end', 'tool-calls', 'pause'].includes(fact.finish)
    const approved = !proposal.asks
    ledger.calls.set(proposal.callId, {
      fact: proposal,
      runnable,
      approved,
      settled: 0,
      started: 0,
      claimed: 0,
      task: false,
      ended: 0,
    })
  }
}

function enterInputs(ledger: Ledger, fact: FactOf<'inputs-entered'>): void {
  for (const [callId, call] of ledger.calls)
    if (call.settled === 0) fail('4 order', `inputs entered while ${callId} was open`)
  for (const entry of fact.entries) {
    ledger.entered.set(entry.entry, entry.inputs)
    for (const inputId of entry.inputs) {
      const fate = ledger.inputs.get(inputId)
      if (fate === undefined) fail('4 no input is lost', `${inputId} entered without having been accepted`)
      ledger.inputs.set(inputId, 'entered')
    }
  }
}

function startModel(ledger: Ledger, { spec, after }: Observation, fact: FactOf<'model-started'>): void {
  for (const [callId, call] of ledger.calls)
    if (call.settled !== 1) fail('1 one settlement', `the model was called while ${callId} was open`)
  const { toolRounds, turnTokens, outputAttempts } = spec.limits
  const rounds = after.turn?.rounds ?? 0
  if (rounds >= toolRounds && fact.choice !== 'none')
    fail('6 within its limits', `the model is asked with tools after ${rounds} rounds; the limit is ${toolRounds}`)
  // A model that calls tools all the same, in an answer that is refused, is asked again without them.
  if (rounds > toolRounds + outputAttempts)
    fail('6 within its limits', `the model is asked after ${rounds} rounds; the limit is ${toolRounds}`)
  if (ledger.tokens > turnTokens)
    fail('6 within its limits', `the model is asked after ${ledger.tokens} tokens; the limit is ${turnTokens}`)
  const hard = spec.window.contextTokens
  const tokens = requestTokens(spec, after)
  if (hard !== undefined && tokens + spec.window.reserveTokens > hard + 1)
    fail('7 fits the window', `about ${tokens} tokens are sent to a window of ${hard}`)
  markSeen(ledger, fact.toEntry)
}

/** A failed or interrupted turn is a typed answer to its inputs. */
function markSeen(ledger: Ledger, toEntry: number): void {
  for (const [entry, inputs] of ledger.entered)
    if (entry <= toEntry) for (const inputId of inputs) ledger.inputs.set(inputId, 'seen')
}

/**
 * Checks that the outstanding effects are the given ones minus those answered or withdrawn, tracked from the effects
 * alone.
 */
function checkOutstanding(ledger: Ledger, { input, after, before }: Observation, effects: readonly Effect[]): void {
  const answered = input && answerKey(input, before)
  if (answered !== null) ledger.owed.delete(answered)
  for (const effect of effects) {
    const withdrawn = withdrawnKey(effect)
    if (withdrawn !== undefined) {
      if (!ledger.owed.delete(withdrawn)) fail('outstanding', `${withdrawn} was withdrawn but not owed`)
    } else ledger.owed.add(effectKey(effect as AwaitedEffect)) // every effect that withdraws nothing is awaited
  }
  const owed = [...ledger.owed].sort().join(' ')
  const said = outstanding(after).map(effectKey).sort().join(' ')
  if (owed !== said) fail('outstanding', `given minus answered: [${owed}], outstanding: [${said}]`)
  const models = [...ledger.owed].filter((key) => key.startsWith('call-model:') || key.startsWith('summarise:'))
  if (models.length > 1) fail('3 one model call', `${models.join(' and ')} run at once`)
}

function checkHistory({ after, history }: Observation, options: InvariantOptions): void {
  const entries = history.entries().map(({ entry }) => entry)
  const indexed = after.index.map(({ entry }) => entry)
  if (entries.join() !== indexed.join())
    fail('2 valid history', `state indexes [${indexed.join()}], the history holds [${entries.join()}]`)
  for (const { entry, media } of after.index) {
    const held = countMediaIn(history.messages(entry, entry))
    if (held !== (media?.parts ?? 0))
      fail('2 valid history', `entry ${entry} holds ${held} images and files, state counts ${media?.parts ?? 0}`)
  }
  const messages = history.messages(0, Infinity)
  const issues = [...validateHistory(messages), ...(options.validate?.(inlineBlobs(messages)) ?? [])]
  const first = issues[0]
  if (first) fail('2 valid history', first.message)
}

function countMediaIn(messages: readonly StoredMessage[]): number {
  let count = 0
  for (const message of messages)
    if (message.role === 'user') count += measureMedia(message.parts)?.parts ?? 0
    else if (message.role === 'tool')
      for (const { content } of message.parts) count += measureMedia(content)?.parts ?? 0
  return count
}
