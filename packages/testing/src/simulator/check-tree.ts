// Checks of a tree of sessions, from the logs of all its sessions and from what happened in the world: what a log says
// about a child is what the child's log says, and nothing that a model reads as undone was done. It asks no link.
import type { Fact, FactOf, SessionRecord, Settlement, State } from '@baton/core/machine'
import { findTask } from '@baton/core/machine'
import { createHash } from 'node:crypto'
import type { ObservedSession } from './observed-session.ts'
import type { Effects } from './simulated-agent.ts'

export interface TreeWatchOptions {
  readonly root: string
  readonly effects: Effects
  readonly find: (session: string) => ObservedSession | undefined
  readonly fail: (failure: Error) => void
  /** Whether a model call of the session runs that was not given up. */
  readonly isAsking: (session: string) => boolean
}

/** A call of some session, from the step that made it. */
interface KnownCall {
  readonly session: string
  readonly name: string
  readonly effect: string
  readonly runs: string
  settlement: Settlement | undefined
  /** Its result counts as untrusted. */
  isUntrusted: boolean
}

/** A child as its parent's log describes it. */
interface KnownChild {
  readonly session: string
  readonly parent: string
  readonly turn: number
  cursor: number
  tokens: number
  isEnding: boolean
  isClosed: boolean
}

/** A session's own usage, as its log counts it. */
interface Counted {
  /** Tokens of its steps. */
  own: number
  /** Tokens of the running turn, those of its children included. */
  turn: number
  /** Tokens of its closed children. */
  below: number
}

export class TreeWatch {
  readonly #init: TreeWatchOptions
  readonly #calls = new Map<string, KnownCall>()
  /** By delegating call. */
  readonly #children = new Map<string, KnownChild>()
  /** The delegating call of each child. */
  readonly #openings = new Map<string, FactOf<'child-opened'>>()
  readonly #counted = new Map<string, Counted>()
  /** Requests that people decided, and their hosts acknowledged. */
  readonly #acknowledged = new Set<string>()

  constructor(init: TreeWatchOptions) {
    this.#init = init
  }

  /** Called when a person's decision was accepted. */
  noteDecision(approvalId: string): void {
    this.#acknowledged.add(approvalId)
  }

  /** Called when a tool takes effect, on a host or a client. */
  noteEffect(callId: string, tool: string): void {
    const call = this.#calls.get(callId)
    // A pure tool may begin before its call is stored.
    if (!call || call.effect === 'pure') return
    if (call.settlement && isUndone(call.settlement))
      this.#fail(`${callId} (${tool}) takes effect after its model read that it did not run`)
    for (const above of this.#listAbove(call.session)) {
      const { settlement } = this.#calls.get(above) ?? {}
      if (settlement && isUndone(settlement))
        this.#fail(`${callId} (${tool}) takes effect, and ${above} above it was told as undone`)
      // A client that took it acts when it can, and its model was told that it may have begun: checked above.
      const isWithClient = call.runs === 'client' && call.settlement !== undefined
      if (this.#children.get(above)?.isClosed && !isWithClient)
        this.#fail(`${callId} (${tool}) takes effect, and its session was closed by ${above}`)
    }
  }

  /** Called after a record was stored and folded. `before`: the state that it was applied to. */
  noteStored(session: string, before: State, record: SessionRecord): void {
    for (const fact of record.facts) this.#noteFact(session, before, { fact, record })
    this.#checkTurn(session)
    const opened = this.#openings.get(session)
    if (opened && this.#children.get(opened.callId)?.isClosed) this.#checkAfterEnd(session, record)
  }

  /** Checks the tree at rest. `sessions`: children with records. @throws Error */
  finish(sessions: readonly string[]): void {
    for (const [callId, { isClosed }] of this.#children) if (!isClosed) throw new Error(`${callId} was never closed`)
    for (const session of sessions) {
      const state = this.#init.find(session)?.state
      const opened = this.#openings.get(session)
      if (!opened || !this.#children.has(opened.callId)) throw new Error(`${session} has no call that began it`)
      if (state && state.children.length + state.relayed.length + state.tasks.length > 0)
        throw new Error(`${session} is left with children, requests or tools`)
      const tasks = this.#facts(session).filter(
        (fact) => fact.type === 'input-accepted' && fact.body.type !== 'task',
      ).length
      if (tasks > 1) throw new Error(`${session} was given ${tasks} tasks`)
    }
    for (const id of this.#acknowledged) this.#checkArrived(id, sessions)
  }

  #noteFact(session: string, before: State, stored: Stored): void {
    const { fact, record } = stored
    switch (fact.type) {
      case 'step-finished':
        for (const { callId, name, effect, runs, provenance } of fact.calls) {
          const isUntrusted = provenance?.trust === 'untrusted'
          this.#calls.set(callId, { session, name, effect, runs, settlement: undefined, isUntrusted })
        }
        this.#count(session, fact)
        break
      case 'model-used':
      case 'summary-finished':
        this.#count(session, fact)
        break
      case 'turn-started':
        this.#countOf(session).turn = 0
        break
      case 'child-begun':
        this.#begin(session, before, fact)
        break
      case 'child-opened':
        this.#open(session, fact)
        break
      case 'parent-told':
        this.#checkTold(session, before, fact)
        break
      case 'child-reported':
        this.#report(session, fact)
        break
      case 'child-ending':
        this.#child(fact.callId).isEnding = true
        break
      case 'child-closed':
        this.#close(session, fact)
        break
      case 'child-lost':
        this.#fail(`${fact.callId} is lost: ${fact.message}`)
        break
      case 'call-settled':
        // A receipt says nothing of what its child does.
        if (fact.task) break
        this.#settle(fact)
        break
      case 'task-settled':
        this.#settle(fact)
        break
      case 'approval-decided':
        if (record.input.type === 'parent-told') this.#checkDecision(fact)
        break
      default:
        break
    }
  }

  #begin(session: string, { turn, tasks }: State, { callId }: FactOf<'child-begun'>): void {
    if (this.#children.has(callId)) this.#fail(`${callId} begins a second child`)
    const known = {
      session: nameChild(session, callId),
      parent: session,
      turn: findTask(tasks, callId)?.task.turn ?? turn?.turn ?? 0,
    }
    this.#children.set(callId, { ...known, cursor: -1, tokens: 0, isEnding: false, isClosed: false })
  }

  #open(session: string, fact: FactOf<'child-opened'>): void {
    const child = this.#children.get(fact.callId)
    if (this.#openings.has(session)) this.#fail(`${session} is opened twice`)
    this.#openings.set(session, fact)
    if (child?.session !== session || child.parent !== fact.session)
      this.#fail(`${session} is opened for ${fact.callId}, which has no child of this name`)
    else if (child.isClosed) this.#fail(`${session} is opened, and ${fact.callId} was told that it never began`)
  }

  #checkTold(session: string, { parent }: State, { to }: FactOf<'parent-told'>): void {
    const above = parent && this.#init.find(parent.session)
    if (!parent || !above) return this.#fail(`${session} is told something, and has no parent`)
    if (to <= parent.pos || to > above.state.pos)
      this.#fail(`${session} was told up to ${to} after ${parent.pos}; its parent's log ends at ${above.state.pos}`)
  }

  #report(session: string, { callId, to, spent }: FactOf<'child-reported'>): void {
    const child = this.#child(callId)
    const end = this.#init.find(child.session)?.state.pos ?? -1
    if (to < child.cursor || to > end)
      this.#fail(`${callId} was read up to ${to} after ${child.cursor}; its log ends at ${end}`)
    if (spent.tokens < child.tokens) this.#fail(`${callId} has spent ${spent.tokens} tokens after ${child.tokens}`)
    const counted = this.#countOf(session)
    if (child.turn === this.#init.find(session)?.state.turn?.turn) counted.turn += spent.tokens - child.tokens
    child.cursor = to
    child.tokens = spent.tokens
  }

  #close(session: string, fact: FactOf<'child-closed'>): void {
    const { callId, stop, spent, untrusted } = fact
    const child = this.#child(callId)
    if (child.isClosed) this.#fail(`${callId} is closed twice`)
    child.isClosed = true
    this.#countOf(session).below += spent.tokens
    const state = this.#init.find(child.session)?.state
    if (stop === 'never') {
      if (state) this.#fail(`${callId} was told that its child never began, and its log has ${state.pos + 1} records`)
      return
    }
    if (!state || state.turn || state.step || state.children.length > 0 || state.queue.length > 0)
      this.#fail(`${callId} is closed (${stop}), and its child is at work`)
    if (child.cursor !== state?.pos) this.#checkTail(child)
    if (this.#init.isAsking(child.session)) this.#fail(`${callId} is closed, and a model of its child is being asked`)
    const { own, below } = this.#countOf(child.session)
    const late = this.#countAfter(child)
    if (spent.tokens !== own + below - late)
      this.#fail(`${callId} has spent ${spent.tokens} tokens, and its log says ${own} and ${below} below, ${late} late`)
    const call = this.#calls.get(callId)
    if (!this.#hasRead(child.session)) return
    if (untrusted.length === 0) this.#fail(`${callId} read untrusted data, and its parent was not told so`)
    if (call?.settlement?.type === 'ok' && !call.isUntrusted)
      this.#fail(`${callId} read untrusted data, and its result is trusted`)
  }

  /** Tokens in records after the report that closed the child: an aborted model may answer in the same moment. */
  #countAfter({ session, cursor }: KnownChild): number {
    const { records = [] } = this.#init.find(session) ?? {}
    const facts = records.slice(cursor + 1).flatMap((record) => record.facts)
    return facts.reduce((sum, fact) => {
      if (fact.type !== 'model-used') return sum
      return sum + (fact.usage.inputTokens ?? 0) + (fact.usage.outputTokens ?? 0)
    }, 0)
  }

  /** Records after the report that closed the child say nothing to its parent. */
  #checkTail({ session, cursor }: KnownChild): void {
    const { records = [] } = this.#init.find(session) ?? {}
    for (const record of records.slice(cursor + 1)) this.#checkAfterEnd(session, record)
  }

  #checkAfterEnd(session: string, { pos, facts }: SessionRecord): void {
    const late = facts.find(({ type }) => WORK.has(type))
    if (late) this.#fail(`record ${pos} of ${session} has ${late.type} after its parent has closed it`)
  }

  #settle(fact: FactOf<'call-settled' | 'task-settled'>): void {
    const { callId, settlement, provenance } = fact
    const via = 'via' in fact ? fact.via : undefined
    const call = this.#calls.get(callId)
    if (!call || via !== undefined) return
    if (call.settlement) this.#fail(`${callId} is settled twice`)
    call.settlement = settlement
    if (provenance) call.isUntrusted = provenance.trust === 'untrusted'
    const child = this.#children.get(callId)
    if (!child || !isUndone(settlement)) return
    const done = this.#listEffects(child.session)
    if (done.length > 0) this.#fail(`${callId} is settled as ${settlement.type}, and did ${done.join(', ')}`)
  }

  /** Compares a decision of a child with the root's: same request, same arguments. */
  #checkDecision({ approvalId, decision, edited }: FactOf<'approval-decided'>): void {
    const taken = this.#facts(this.#init.root).find(
      (fact) => fact.type === 'approval-decided' && fact.approvalId === approvalId,
    )
    if (taken?.type !== 'approval-decided' || taken.decision !== decision)
      return this.#fail(`${approvalId} is decided below (${decision}), and not by the root`)
    if (edited?.argumentsHash !== taken.edited?.argumentsHash)
      this.#fail(`${approvalId} has other arguments than those that the root approved`)
  }

  /** An acknowledged decision is in the log of the session that asked, or that log, or one between, says why not. */
  #checkArrived(id: string, sessions: readonly string[]): void {
    const decided = (session: string): boolean =>
      this.#facts(session).some((fact) => fact.type === 'approval-decided' && fact.approvalId === id)
    if (!decided(this.#init.root)) throw new Error(`${id} was acknowledged, and is not in the root's log`)
    const asks = sessions.find((session) =>
      this.#facts(session).some((fact) => fact.type === 'approval-requested' && fact.approvalId === id),
    )
    if (asks === undefined || decided(asks)) return
    const isStale = this.#facts(asks).some((fact) => fact.type === 'decision-ignored' && fact.id === id)
    // The root refuses decisions after it has ended its child: only a level between can end it in the same moment.
    const isEnded = this.#listAbove(asks)
      .slice(0, -1)
      .some((callId) => this.#child(callId).isEnding)
    if (!isStale && !isEnded && !this.#hasClosed(asks, id))
      throw new Error(`${id} was acknowledged, and ${asks} was not told`)
  }

  /** Whether the session settled the call of the approval by itself. */
  #hasClosed(session: string, approvalId: string): boolean {
    const { records = [] } = this.#init.find(session) ?? {}
    const asked = this.#facts(session).find(
      (fact) => fact.type === 'approval-requested' && fact.approvalId === approvalId,
    )
    return records.some(
      ({ input, facts }) =>
        input.type !== 'parent-told' &&
        facts.some(
          (fact) =>
            (fact.type === 'call-settled' || fact.type === 'task-settled') &&
            asked?.type === 'approval-requested' &&
            fact.callId === asked.callId,
        ),
    )
  }

  #count(session: string, { usage }: FactOf<'step-finished' | 'model-used' | 'summary-finished'>): void {
    const { inputTokens = 0, outputTokens = 0 } = usage
    const counted = this.#countOf(session)
    counted.own += inputTokens + outputTokens
    counted.turn += inputTokens + outputTokens
  }

  #countOf(session: string): Counted {
    const known = this.#counted.get(session) ?? { own: 0, turn: 0, below: 0 }
    this.#counted.set(session, known)
    return known
  }

  #checkTurn(session: string): void {
    const turn = this.#init.find(session)?.state.turn
    const { turn: said } = this.#countOf(session)
    if (turn && turn.tokens !== said)
      this.#fail(`turn ${turn.turn} of ${session} has counted ${turn.tokens} tokens, and the logs say ${said}`)
  }

  /** Delegating calls from the session up to the root. */
  #listAbove(session: string): readonly string[] {
    const above: string[] = []
    for (let at = this.#openings.get(session); at; at = this.#openings.get(at.session)) above.push(at.callId)
    return above
  }

  /** Calls with an effect that happened in the session or below it. */
  #listEffects(session: string): readonly string[] {
    return [...this.#init.effects].flatMap(([callId, { tool }]) => (this.#isOf(session, callId, tool) ? [callId] : []))
  }

  #isOf(session: string, callId: string, tool: string): boolean {
    const call = this.#calls.get(callId)
    // A pure tool that began early, and was lost, leaves its id to another call.
    if (!call || call.effect === 'pure' || call.name !== tool) return false
    if (call.session === session) return true
    return this.#listAbove(call.session).some((above) => this.#children.get(above)?.session === session)
  }

  /** Whether a result in the session's log, or in one below it, counts as untrusted. */
  #hasRead(session: string): boolean {
    return [...this.#calls.values()].some(
      (call) =>
        call.isUntrusted &&
        call.settlement !== undefined &&
        call.settlement.type === 'ok' &&
        (call.session === session ||
          this.#listAbove(call.session).some((above) => this.#children.get(above)?.session === session)),
    )
  }

  #facts(session: string): readonly Fact[] {
    return this.#init.find(session)?.records.flatMap(({ facts }) => facts) ?? []
  }

  #child(callId: string): KnownChild {
    const child = this.#children.get(callId)
    if (!child) throw new Error(`${callId} never began a child`)
    return child
  }

  #fail(message: string): void {
    this.#init.fail(new Error(message))
  }
}

interface Stored {
  readonly fact: Fact
  readonly record: SessionRecord
}

/** Facts that a session's log has while it works. */
const WORK: ReadonlySet<Fact['type']> = new Set(['turn-started', 'model-started', 'call-started', 'call-offered'])

/** Whether a model reads that nothing was done. */
function isUndone(settlement: Settlement): boolean {
  const { type } = settlement
  if (type === 'denied') return true
  return (type === 'cancelled' || type === 'timed-out') && !settlement.begun
}

/** The name that the design gives the child of a call. */
function nameChild(parent: string, callId: string): string {
  return `baton.child.${createHash('sha256').update(`${parent}\n${callId}`).digest('base64url')}`
}
