// Logs of a small world, over the real machine: equal logs are one object, and each decision is made once. The models and
// tools of its sessions are scripts. It knows nothing of processes.
import type {
  Effect,
  Fact,
  FactOf,
  History,
  Input,
  SessionRecord,
  Settlement,
  Spec,
  State,
  ToolSpec,
} from '@baton/core/machine'
import {
  applyRecord,
  createHistory,
  decide,
  DEFAULT_BATCH,
  DEFAULT_LIMITS,
  DEFAULT_RETRY,
  DEFAULT_WINDOW,
  initialState,
  makeRecord,
  openSession,
} from '@baton/core/machine'

/** The tool of the last session: with an approval, without one, or at a client. */
export type LeafTool = 'approved' | 'plain' | 'client'

/** Timers fire at any moment, so no time passes. */
const NOW_MS = 1000
const USED = { inputTokens: 10, outputTokens: 1 } as const

/** Word of a settled call about the effect of the leaf's tool. */
export type Claim = 'done' | 'denied' | 'undone' | 'unknown'

/** A log, as the list of its records from the last one back. */
export interface Log {
  readonly id: number
  readonly level: number
  readonly before: Log | null
  readonly record: SessionRecord
  readonly state: State
  readonly pos: number
  /** Numbers of facts so far, by a name of the check. */
  readonly counts: ReadonlyMap<string, number>
  /** Claim that its model has read about its call. */
  readonly claim: Claim | undefined
  /** Tokens of the session's steps. */
  readonly tokens: number
  /** The first rule that it breaks by itself. */
  readonly fault: string | undefined
}

export interface Step {
  readonly log: Log
  readonly effects: readonly Effect[]
}

export class Logs {
  readonly levels: number
  readonly leaf: LeafTool
  readonly #acts: boolean
  readonly #known = new Map<string, Log>()
  readonly #steps = new Map<string, Step | undefined>()
  readonly #histories = new Map<number, History>()
  readonly #specs: readonly Spec[]

  /** @param acts whether the delegating calls say that their children may act */
  constructor(levels: number, leaf: LeafTool, acts: boolean) {
    this.levels = levels
    this.leaf = leaf
    this.#acts = acts
    this.#specs = Array.from({ length: levels }, (_, level) => this.#createSpec(level))
  }

  spec(level: number): Spec {
    return this.#specs[level] as Spec // one for each level
  }

  /** The root's log, whose model has just called the first child. */
  begin(): Log {
    let log = this.#add(0, null, this.#openings(0))
    for (const input of this.#beginnings(log)) log = this.step(log, input)?.log ?? log
    return this.step(log, this.answer(log))?.log ?? log
  }

  #beginnings(log: Log): readonly Input[] {
    const phone = { sequential: false, claims: true, reportsPlayback: false, asks: true }
    return [
      { type: 'client-attached', connection: 'phone', principal: log.state.principal, ...phone },
      { type: 'user-input', inputId: 'go', parts: [{ type: 'text', text: 'Pay it.' }] },
    ]
  }

  open(parent: Log): Log {
    return this.#add(parent.level + 1, null, this.#openings(parent.level + 1))
  }

  #openings(level: number): SessionRecord {
    const opening = { session: `s${level}`, birth: `b${level}`, spec: this.spec(level), nowMs: NOW_MS, epoch: 1 }
    if (level === 0) return openSession(opening)
    const tools = Array.from({ length: level }, (_, above) => `help${above + 1}`)
    const place = { session: `s${level - 1}`, birth: `b${level - 1}`, callId: nameHelp(level - 1) }
    return openSession({ ...opening, child: { ...place, root: 's0', depth: level, tools } })
  }

  /** The log after an input, and what its process has to do; undefined if nothing is committed. */
  step(log: Log, input: Input): Step | undefined {
    const key = `${log.id} ${JSON.stringify(input)}`
    if (this.#steps.has(key)) return this.#steps.get(key)
    const decision = decide(this.spec(log.level), log.state, input, NOW_MS)
    const made = decision.type === 'decided' && decision.facts.length > 0
    const step = made
      ? { log: this.#add(log.level, log, makeRecord(input, decision)), effects: decision.effects }
      : undefined
    this.#steps.set(key, step)
    return step
  }

  #add(level: number, before: Log | null, record: SessionRecord): Log {
    const key = `${level} ${before?.id ?? 0} ${JSON.stringify(record.facts)}`
    const known = this.#known.get(key)
    if (known) return known
    const state = applyRecord(before?.state ?? initialState(`s${level}`), record)
    const counts = new Map(before?.counts)
    let claim = before?.claim
    let tokens = before?.tokens ?? 0
    for (const fact of record.facts) {
      const name = nameFact(fact)
      if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1)
      if (fact.type === 'call-settled' && fact.via === undefined) claim = readClaim(fact)
      if (fact.type === 'step-finished') tokens += (fact.usage.inputTokens ?? 0) + (fact.usage.outputTokens ?? 0)
    }
    const id = this.#known.size + 1
    const fault = before?.fault ?? findRepeated(level, counts)
    const log: Log = { id, level, before, record, state, pos: record.pos, counts, claim, tokens, fault }
    this.#known.set(key, log)
    return log
  }

  /** The records after a position. */
  after(log: Log, pos: number): readonly SessionRecord[] {
    const records: SessionRecord[] = []
    for (let at: Log | null = log; at && at.pos > pos; at = at.before) records.unshift(at.record)
    return records
  }

  history(log: Log): History {
    const known = this.#histories.get(log.id)
    if (known) return known
    const history = createHistory()
    for (const record of this.after(log, -1)) history.fold(record)
    this.#histories.set(log.id, history)
    return history
  }

  /** The next answer of a session's model. */
  answer({ state, level, claim }: Log): Input {
    const attempt = state.attempt?.attempt ?? 0
    const base = { type: 'model-finished', attempt, model: 'm', textBefore: '', usage: USED } as const
    if (state.turn && state.turn.steps.length > 0)
      return { ...base, parts: [{ type: 'text', text: claim ?? 'unknown' }], checks: [], finish: 'end' }
    const isLeaf = level === this.levels - 1
    const name = isLeaf ? 'pay' : `help${level + 1}`
    const task = [{ type: 'text', text: 'Pay it.' } as const]
    const delegate = { agent: `agent${level + 1}`, task, acts: this.#acts }
    const asks = isLeaf && this.leaf === 'approved' && ({ asks: true } as const)
    const check = { argumentsHash: 'h', ...asks, ...(!isLeaf && { delegate }) }
    return { ...base, parts: [{ type: 'call', name, arguments: '{}' }], checks: [check], finish: 'tool-calls' }
  }

  #createSpec(level: number): Spec {
    const once = { effect: 'once', timeoutMs: 10_000, parallel: true, onInterrupt: 'cancel' } as const
    const runs = this.leaf === 'client' ? 'client' : 'server'
    const pay: ToolSpec = { ...once, name: 'pay', runs }
    const help: ToolSpec = { ...once, name: `help${level + 1}`, runs: 'child' }
    const own = level === this.levels - 1 ? [pay] : [help]
    return {
      agent: `agent${level}`,
      hash: 'h',
      models: ['m'],
      // The phone takes all tools of the root's agent, so that it has to know this one.
      tools: level === 0 && this.leaf === 'client' ? [...own, pay] : own,
      limits: DEFAULT_LIMITS,
      window: DEFAULT_WINDOW,
      retry: DEFAULT_RETRY,
      batch: DEFAULT_BATCH,
      emptyAnswer: 'retry',
      interruptMs: 1000,
    }
  }
}

/** Id of the call that a session's model makes. */
export function nameHelp(level: number): string {
  return `call_b${level}_1_0`
}

/** Facts that may happen once in a log, by what they are about. */
function nameFact(fact: Fact): string | undefined {
  switch (fact.type) {
    case 'child-opened':
    case 'child-begun':
    case 'child-closed':
    case 'child-ending':
      return fact.type
    case 'input-accepted':
      return `task ${fact.inputId}`
    case 'approval-requested':
      return `asked ${fact.approvalId}`
    case 'request-relayed':
      return `relayed ${fact.id}`
    case 'approval-decided':
      return fact.decision === 'approve' ? 'approved' : 'refused'
    case 'call-started':
    case 'call-settled':
      return `${fact.type} ${fact.callId}`
    default:
      return undefined
  }
}

function findRepeated(level: number, counts: ReadonlyMap<string, number>): string | undefined {
  for (const [name, count] of counts) if (count > 1) return `level ${level}: ${name} happened ${count} times`
  if ((counts.get('approved') ?? 0) + (counts.get('refused') ?? 0) > 1) return `level ${level}: two decisions`
  return undefined
}

/** Reads what a model makes of the end of its call. */
function readClaim({ settlement, detail = '' }: FactOf<'call-settled'>): Claim {
  if (settlement.type === 'ok') return readSaid(settlement)
  if (settlement.type === 'unknown') return 'unknown'
  if (settlement.type === 'denied') return 'denied'
  // The words about what the child did: a tool that is not named was not begun.
  if (detail.includes('(ok)')) return 'done'
  if (detail.includes('(')) return 'unknown'
  return 'begun' in settlement && settlement.begun ? 'unknown' : 'undone'
}

function readSaid({ content: [part] }: Extract<Settlement, { readonly type: 'ok' }>): Claim {
  const said = part?.type === 'text' ? part.text : ''
  // The tool itself says this.
  if (said === 'paid') return 'done'
  return said === 'done' || said === 'denied' || said === 'undone' ? said : 'unknown'
}
