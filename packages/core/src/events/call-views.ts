// The calls of a turn as complete views: each fact about a call produces a new view of it.
import type { JsonObject, JsonValue } from '../json.ts'
import { isJsonObject, parseJson } from '../json.ts'
import type { CallFact, CallProposal, FactOf } from '../machine/fact.ts'
import type { History } from '../machine/history.ts'
import type { RelayedRequest } from '../machine/relayed-entries.ts'
import type { Call, CallState, State, Task } from '../machine/state.ts'
import { findChild, findRelayed, openTasks } from '../machine/state.ts'
import { readGiven } from '../machine/task-bodies.ts'
import type { ChildFact } from './child-views.ts'
import {
  changeChild,
  KNOWN_BELOW,
  readWithdrawal,
  viewChild,
  viewDecided,
  viewDenied,
  viewRelayed,
} from './child-views.ts'
import { readCallResult, withDetail } from './call-results.ts'
import type { CallStatus, CallView, MessageId } from './session-event.ts'

interface CallNotes {
  /** Set for a call that a person has denied or has to answer. */
  deniedByPerson: boolean
  readonly questions: Set<string>
  /** Milliseconds left when it asked: its timeout pauses until the question is answered. */
  heldMs: number | null
}

interface KnownCalls {
  readonly views: Map<string, CallView>
  readonly notes: Map<string, CallNotes>
  /** Ids of calls whose newest view has not been emitted, in order of change. */
  readonly changed: Set<string>
}

/** Never modified. */
const NONE: KnownCalls = { views: new Map(), notes: new Map(), changed: new Set() }

/** A call that was emitted before. */
export interface KnownCall {
  readonly view: CallView
  readonly heldMs: number | null
  /** Ids of its open questions. */
  readonly questions: readonly string[]
}

/** The calls of one turn. */
export class CallViews {
  /** Created with the first call, since an idle session has none. */
  #known: KnownCalls | undefined
  /** Whether `takeChanged` has anything to return. */
  hasChanged = false

  /** Restores calls that were emitted before. */
  start(calls: readonly KnownCall[]): void {
    for (const { view, heldMs, questions } of calls) {
      const { views, notes } = this.#demand()
      views.set(view.callId, view)
      notes.set(view.callId, { deniedByPerson: false, questions: new Set(questions), heldMs })
    }
  }

  /** Clears the calls at the start of a turn: all earlier ones but tasks, and calls below them, have settled. */
  clear(): void {
    const views = this.#known?.views
    const isTask = (callId = ''): boolean => views?.get(callId)?.task === 'running'
    const tasks = [...(views?.values() ?? [])].filter(({ callId, path }) => isTask(callId) || isTask(path?.[0]?.callId))
    const notes = this.#known?.notes
    this.#known = undefined
    this.hasChanged = false
    for (const view of tasks) {
      const known = this.#demand()
      known.views.set(view.callId, view)
      const kept = notes?.get(view.callId)
      if (kept) known.notes.set(view.callId, kept)
    }
  }

  find(callId: string): CallView | undefined {
    return this.#known?.views.get(callId)
  }

  propose(message: MessageId, fact: FactOf<'step-finished'>): void {
    // They are in the order of their parts.
    let next = 0
    for (const part of fact.parts) {
      if (part.type !== 'call') continue
      const here = fact.calls[next]
      const proposal = here?.callId === part.callId ? here : fact.calls.find(({ callId }) => callId === part.callId)
      next += 1
      if (proposal) this.#set(createView(message, fact.step, proposal, part.arguments))
    }
  }

  note(fact: CallFact, nowMs: number): void {
    const call = this.find(fact.callId)
    if (!call) return
    this.#set(changeView(call, { fact, nowMs, notes: this.#notesOf(fact.callId) }))
  }

  /** Views that changed since the last call of this method. */
  takeChanged(): readonly CallView[] {
    const { changed, views } = this.#known ?? NONE
    const told: CallView[] = []
    for (const callId of changed) {
      const call = views.get(callId)
      if (call) told.push(call)
    }
    changed.clear()
    this.hasChanged = false
    return told
  }

  /** Changes the view of a delegated call. */
  noteChild(fact: ChildFact): void {
    const call = this.find(fact.callId)
    if (call) this.#set({ ...call, child: changeChild(call.child, fact) })
  }

  /** Adds the view of a call below that waits for a person or a client; undefined for a question, which has none. */
  relay(request: RelayedRequest): CallView | undefined {
    const above = this.find(request.via)
    const view = above && viewRelayed(above, request, showRequest(request))
    if (view) this.#set(view)
    return view
  }

  /** Settles the view of a withdrawn request. */
  withdraw(callId: string, reason: FactOf<'request-withdrawn'>['reason']): void {
    const call = this.find(callId)
    if (!call?.path || call.status === 'settled') return
    this.#set({ ...withoutDeadline(call), status: 'settled', result: readWithdrawal(call, reason) })
  }

  /** Whether calls are open, and all of them wait for a person or a client. */
  waitForOthers(): boolean {
    let open = 0
    const { views, notes } = this.#known ?? NONE
    for (const call of views.values()) {
      if (call.status === 'settled' || call.task) continue
      open += 1
      const asks = (notes.get(call.callId)?.questions.size ?? 0) > 0
      const below = call.child?.status === 'waiting'
      if (call.status !== 'awaiting-approval' && call.runs === 'server' && !asks && !below) return false
    }
    return open > 0
  }

  #notesOf(callId: string): CallNotes {
    const { notes } = this.#demand()
    const known = notes.get(callId)
    if (known) return known
    const made: CallNotes = { deniedByPerson: false, questions: new Set(), heldMs: null }
    notes.set(callId, made)
    return made
  }

  #set(call: CallView): void {
    const { views, changed } = this.#demand()
    views.set(call.callId, call)
    changed.delete(call.callId)
    changed.add(call.callId)
    this.hasChanged = true
  }

  #demand(): KnownCalls {
    return (this.#known ??= { views: new Map(), notes: new Map(), changed: new Set() })
  }
}

type CallAbout = Pick<CallView, 'title' | 'kind' | 'locations' | 'diff' | 'destination' | 'asked' | 'waiting'>

/** Reads a call's description from a record, which names by id the people who may decide. */
export function readAbout(about: JsonObject): CallAbout {
  const shown = about as CallAbout // bounded when the tool described it
  const ids = isJsonObject(about['asked']) ? about['asked']['by'] : undefined
  if (!shown.asked || !Array.isArray(ids)) return shown
  return { ...shown, asked: { ...shown.asked, by: ids.map((id) => ({ id: String(id) })) } }
}

function createView(message: MessageId, step: number, proposal: CallProposal, text: string): CallView {
  const { callId, name, runs, effect, provenance, about, chooses, deciders } = proposal
  return {
    callId,
    message,
    step,
    name,
    ...(about && readAbout(about)),
    ...(deciders && { deciders }),
    input: readInput(readGiven(text, chooses)),
    runs: runs === 'client' ? runs : 'server',
    effect,
    ...(provenance && { provenance }),
    status: 'proposed',
  }
}

interface Change {
  readonly fact: CallFact
  readonly nowMs: number
  readonly notes: CallNotes
}

function changeView(call: CallView, { fact, nowMs, notes }: Change): CallView {
  switch (fact.type) {
    case 'approval-given':
      return call
    case 'approval-requested':
      return { ...call, status: 'awaiting-approval', deadlineMs: fact.expiresAtMs }
    case 'approval-decided': {
      notes.deniedByPerson = fact.decision === 'deny'
      const { edited } = fact
      const input = edited ? ({ input: readInput(edited.arguments), inputEdited: true } as const) : {}
      const next = { ...withoutDeadline(call), ...input }
      if (call.path && fact.decision === 'deny') return viewDenied(next, fact)
      return { ...next, status: call.path ? 'running' : 'proposed' }
    }
    case 'question-asked':
      notes.questions.add(fact.questionId)
      if (call.deadlineMs !== undefined) notes.heldMs = Math.max(0, call.deadlineMs - nowMs)
      return withoutDeadline(call)
    case 'question-answered':
      notes.questions.delete(fact.questionId)
      if (notes.questions.size > 0 || notes.heldMs === null) return call
      return { ...call, deadlineMs: nowMs + notes.heldMs }
    case 'call-started':
      if (notes.questions.size === 0) return { ...call, status: 'running', deadlineMs: fact.deadlineMs }
      notes.heldMs = fact.deadlineMs - nowMs
      return { ...call, status: 'running' }
    case 'call-offered':
      return { ...call, status: 'waiting', holder: fact.connection }
    case 'call-claimed':
      return { ...call, status: 'running', holder: fact.connection }
    case 'call-returned': {
      const { holder: _, ...free } = withoutDeadline(call)
      return { ...free, status: 'proposed' }
    }
    case 'call-taken-over':
      return { ...withoutDeadline(call), runs: 'server', ...(call.path && { status: 'settled', result: KNOWN_BELOW }) }
    case 'call-clock-set':
      if (fact.deadlineMs === null) return withoutDeadline(call)
      return {
        ...withoutDeadline(call),
        deadlineMs: fact.deadlineMs,
        ...(fact.mode === 'away' && { waitsForClient: true }),
      }
    case 'call-settled':
    case 'task-settled':
      if (fact.type === 'call-settled' && fact.task) return { ...call, task: 'running', begunMs: nowMs }
      return {
        ...withoutDeadline(call),
        ...(fact.type === 'task-settled' && { task: 'settled' as const }),
        status: 'settled',
        result: withDetail(readCallResult(fact.settlement, notes.deniedByPerson), fact.detail),
        ...(fact.provenance && { provenance: fact.provenance }),
      }
    default:
      return fact satisfies never
  }
}

function showRequest({ asking }: RelayedRequest): Pick<CallView, 'input' | 'deciders'> {
  if (asking.type === 'question') return { input: {} }
  const deciders = asking.type === 'approval' && asking.deciders && { deciders: asking.deciders }
  return { ...(asking.about && readAbout(asking.about)), ...deciders, input: readInput(asking.arguments) }
}

function withoutDeadline(call: CallView): CallView {
  if (call.deadlineMs === undefined && !call.waitsForClient) return call
  const { deadlineMs: _, waitsForClient: __, ...rest } = call
  return rest
}

/** Arguments accepted by the ledger are an object, and so are those edited by a person. */
export function readInput(text: string): JsonValue {
  const parsed = parseJson(text)
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : text
}

const STATUSES: Readonly<Record<CallState, CallStatus>> = {
  proposed: 'proposed',
  'awaiting-approval': 'awaiting-approval',
  ready: 'proposed',
  offered: 'waiting',
  claimed: 'running',
  started: 'running',
  settled: 'settled',
}

interface CallPlace {
  readonly message: MessageId
  readonly step: number
}

export interface KnownCallsOptions extends CallPlace {
  readonly history: History
  readonly relayed: readonly RelayedRequest[]
}

/** Calls of the running step and requests of sessions below, for a reader that joins. */
export function readKnownCalls(state: State, { history, relayed, ...place }: KnownCallsOptions): readonly KnownCall[] {
  const own = (state.step?.calls ?? []).map((call): KnownCall => {
    const view = viewCall(call, place, history)
    const child = findChild(state, call.callId)
    return {
      view: child ? { ...view, child: viewChild(child, (state.parent?.depth ?? 0) + 1) } : view,
      heldMs: call.heldMs,
      questions: call.questions.flatMap(({ id, deadline }) => (deadline ? [id] : [])),
    }
  })
  const tasks = readKnownTasks(state, history)
  if (relayed.length === 0) return tasks.length === 0 ? own : [...keepOpen(own, tasks), ...tasks]
  const callers = new Map([...own, ...tasks].map(({ view }) => [view.callId, view]))
  const below = relayed.flatMap((request): readonly KnownCall[] => {
    const caller = callers.get(request.via)
    const view = caller && viewRelayed(caller, request, showRequest(request))
    const one = findRelayed(state, request.id)
    if (!view || !one) return []
    const known = one.call
      ? { ...view, ...readStatus(one.call) }
      : one.isDecided
        ? viewDecided(withoutDeadline(view), request.decided ?? {})
        : view
    return [{ view: known, heldMs: null, questions: [] }]
  })
  return [...keepOpen(own, tasks), ...tasks, ...below]
}

/** A task is shown as it is, and not by its receipt. */
function keepOpen(own: readonly KnownCall[], tasks: readonly KnownCall[]): readonly KnownCall[] {
  const ids = new Set(tasks.map(({ view }) => view.callId))
  return own.filter(({ view }) => !ids.has(view.callId))
}

/** Open tasks of all turns. */
function readKnownTasks(state: State, history: History): readonly KnownCall[] {
  return openTasks(state).map((task) => readKnownCall(state, task, history))
}

export function readKnownCall(state: State, task: Task, history: History): KnownCall {
  const step = history.tasks().find(({ callId }) => callId === task.callId)?.step ?? 0
  const view = viewCall(task, { message: `t${task.task.turn}`, step }, history)
  const child = findChild(state, task.callId)
  return {
    view: {
      ...view,
      task: 'running',
      begunMs: task.task.begunMs,
      ...(child && { child: viewChild(child, (state.parent?.depth ?? 0) + 1) }),
    },
    heldMs: task.heldMs,
    questions: task.questions.flatMap(({ id, deadline }) => (deadline ? [id] : [])),
  }
}

function viewCall(call: Call, place: CallPlace, history: History): CallView {
  const { callId, name, runs, effect, provenance, editedChars, deciders } = call
  const known = history.openCall(callId)
  return {
    callId,
    ...place,
    name,
    ...(known?.about && readAbout(known.about)),
    ...(deciders && { deciders }),
    input: readInput(known?.arguments ?? '{}'),
    ...(editedChars > 0 && { inputEdited: true }),
    runs: runs === 'client' ? runs : 'server',
    effect,
    ...(provenance && { provenance }),
    ...readStatus(call),
  }
}

function readStatus(call: Call): Pick<CallView, 'status' | 'holder' | 'deadlineMs' | 'waitsForClient'> {
  const { state, offer } = call
  const deadline =
    state === 'awaiting-approval' ? call.approval?.deadline : (call.deadline ?? call.clock.deadline ?? undefined)
  return {
    status: STATUSES[state],
    ...((state === 'offered' || state === 'claimed') && offer && { holder: offer.connection }),
    ...(deadline && { deadlineMs: deadline.atMs }),
    ...(deadline && deadline === call.clock.deadline && call.clock.mode === 'away' && { waitsForClient: true }),
  }
}
