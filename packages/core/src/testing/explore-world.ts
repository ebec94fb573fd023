// The world around an explored machine: its outstanding effects, its clients, and answers that may still arrive late.
import type {
  AwaitedEffect,
  Call,
  Effect,
  History,
  Input,
  SessionRecord,
  Snapshot,
  Spec,
  State,
} from '../machine/index.ts'
import {
  applyRecord,
  createHistory,
  decide,
  DEFAULT_BATCH,
  DEFAULT_INTERRUPT_MS,
  DEFAULT_LIMITS,
  DEFAULT_RETRY,
  DEFAULT_WINDOW,
  effectKey,
  initialState,
  openCalls,
  openSession,
  openTasks,
  outstanding,
  makeRecord,
  takeSnapshot,
} from '../machine/index.ts'
import type { InvariantChecker } from './invariants.ts'
import { InvariantError } from './invariant-error.ts'
import type { Random } from './random.ts'

export interface World {
  readonly random: Random
  readonly checker: InvariantChecker
  readonly coverage: Coverage
  readonly story: string[]
  readonly records: SessionRecord[]
  spec: Spec
  state: State
  history: History
  nowMs: number
  /** Work that a host would be doing, by key. */
  running: Map<string, AwaitedEffect>
  /** Aborted work that may still answer. */
  zombies: AwaitedEffect[]
  /** Model attempts that were aborted and have not answered. */
  aborted: number[]
  texts: Map<number, string>
  counted: number
  serial: number
}

/** How often each cell was reached: by inputs that made facts, that made none, and that were refused. */
export interface Coverage {
  readonly cells: Map<string, { accepted: number; quiet: number; refused: number }>
  readonly moves: Set<string>
  readonly calls: Set<string>
  records: number
}

export function createCoverage(): Coverage {
  return { cells: new Map(), moves: new Set(), calls: new Set(), records: 0 }
}

export function createWorld(init: Pick<World, 'random' | 'checker' | 'coverage' | 'spec'>): World {
  const opening = openSession({ session: 'explored', spec: init.spec, nowMs: 1000, epoch: 1 })
  const world: World = {
    ...init,
    story: [],
    records: [opening],
    state: applyRecord(initialState('explored'), opening),
    history: createHistory({ keepAll: true }),
    nowMs: 1000,
    running: new Map(),
    zombies: [],
    aborted: [],
    texts: new Map(),
    counted: 0,
    serial: 0,
  }
  world.history.fold(opening)
  return world
}

/** Calls of the open step, and those in the background. */
export function liveCalls(state: State): readonly Call[] {
  return [...openCalls(state), ...openTasks(state)]
}

/** Submits one input to the machine, and its effects to the world. Returns whether it made a fact. */
export function submit(world: World, input: Input): boolean {
  const before = world.state
  const decision = decide(world.spec, before, input, world.nowMs)
  const cell = findCell(world.coverage, `${before.phase} × ${input.type}`)
  if (decision.type === 'refused') {
    cell.refused += 1
    world.story.push(`${world.nowMs} ${describe(input)} is refused in ${before.phase}: ${decision.refusal.code}`)
    return false
  }
  if (decision.facts.length === 0) {
    cell.quiet += 1
    return false
  }
  cell.accepted += 1
  world.counted += 1
  world.coverage.records += 1
  world.coverage.moves.add(`${before.phase} × ${input.type} → ${decision.state.phase}`)
  const record = makeRecord(input, decision)
  noteCalls(world.coverage, before, decision.state, input.type)
  world.story.push(
    `${world.nowMs} ${describe(input)} in ${before.phase} → ${record.facts.map((fact) => fact.type).join(', ')}`,
  )
  world.records.push(record)
  world.history.fold(record)
  world.state = decision.state
  perform(world, input, decision.effects)
  const { spec, history } = world
  const { effects, state: after } = decision
  world.checker.observe({ spec, before, after, input, record, effects, isDecided: true, history })
  return true
}

function findCell(coverage: Coverage, key: string): { accepted: number; quiet: number; refused: number } {
  const cell = coverage.cells.get(key) ?? { accepted: 0, quiet: 0, refused: 0 }
  coverage.cells.set(key, cell)
  return cell
}

function noteCalls(coverage: Coverage, before: State, after: State, input: string): void {
  for (const call of before.step?.calls ?? []) {
    const now = after.step?.calls.find((other) => other.callId === call.callId)
    const to = now?.state === 'settled' ? (now.settlement ?? '') : (now?.state ?? 'closed')
    coverage.calls.add(`${call.state} × ${input} → ${to}`)
  }
}

function perform(world: World, input: Input, effects: readonly Effect[]): void {
  for (const answered of answeredKeys(input)) world.running.delete(answered)
  for (const [key, effect] of world.running)
    if (
      input.type === 'tool-result' &&
      effect.type === 'offer-call' &&
      effect.callId === input.callId &&
      effect.connection === input.connection
    )
      world.running.delete(key)
  for (const effect of effects) {
    switch (effect.type) {
      case 'abort-model':
        retire(world, `call-model:${effect.attempt}`)
        world.aborted.push(effect.attempt)
        break
      case 'abort-summary':
        retire(world, `summarise:${effect.attempt}`)
        break
      case 'abort-tool':
        retire(world, `run-tool:${effect.callId}:${effect.attempt}`)
        break
      case 'withdraw-offer':
        retire(world, `offer-call:${effect.callId}:${effect.offer}`)
        break
      case 'withdraw-approval':
        retire(world, `ask-approval:${effect.approvalId}`)
        break
      case 'withdraw-question':
        retire(world, `ask-question:${effect.questionId}`)
        break
      case 'leave-child':
        retire(world, `run-child:${effect.callId}`)
        break
      case 'clear-timer':
        retire(world, `set-timer:${effect.timer}:${effect.generation}`)
        break
      default:
        world.running.set(effectKey(effect), effect)
    }
  }
}

function retire(world: World, key: string): void {
  const effect = world.running.get(key)
  if (effect) world.zombies = [...world.zombies, effect].slice(-20)
  world.running.delete(key)
}

function answeredKeys(input: Input): readonly string[] {
  switch (input.type) {
    case 'tool-finished':
      return [`run-tool:${input.callId}:${input.attempt}`]
    case 'timer-fired':
      return [`set-timer:${input.timer}:${input.generation}`]
    case 'model-finished':
    case 'model-failed':
      return [`call-model:${input.attempt}`]
    case 'summary-finished':
    case 'summary-failed':
      return [`summarise:${input.attempt}`]
    case 'work-lost': {
      const { work } = input
      if (work.type === 'tool') return [`run-tool:${work.callId}:${work.attempt}`]
      return [`call-model:${work.attempt}`, `summarise:${work.attempt}`]
    }
    case 'approval':
      return [`ask-approval:${input.approvalId}`]
    case 'question-answer':
      return [`ask-question:${input.questionId}`]
    default:
      return []
  }
}

/** The process dies and restarts: state and history are folded from the log, and outstanding work is repeated. */
export function restart(world: World): boolean {
  world.zombies = []
  world.aborted = []
  world.running = new Map()
  let state = initialState('explored')
  // As a store does it: a snapshot taken at some record, stored as text, and folded on from there.
  const cut = world.random.below(world.records.length)
  let restored: { state: State; readonly history: History } | undefined
  const history = createHistory({ keepAll: true })
  for (const record of world.records) {
    state = applyRecord(state, record)
    history.fold(record)
    if (restored) {
      restored.state = applyRecord(restored.state, record)
      restored.history.fold(record)
    }
    if (record.pos === cut) restored = reread(takeSnapshot(state, history))
  }
  if (!restored || foldedTo(restored.state, restored.history) !== foldedTo(state, history))
    throw new InvariantError('0 fold', `from the snapshot at ${cut} the log folds to another state`)
  world.state = { ...state, epoch: state.epoch + 1 }
  world.history = history
  const made = submit(world, { type: 'host-restarted', downMs: world.random.below(20_000) })
  world.running = new Map(outstanding(world.state).map((effect) => [effectKey(effect), effect]))
  return made
}

/** A snapshot as a store returns it. */
function reread(snapshot: Snapshot): { readonly state: State; readonly history: History } {
  const read = JSON.parse(JSON.stringify(snapshot)) as Snapshot // the same type after JSON
  return { state: read.state, history: createHistory({ snapshot: read.history }) }
}

function foldedTo(state: State, history: History): string {
  return JSON.stringify([state, history.takeSnapshot()])
}

function describe(input: Input): string {
  const told = [
    'callId',
    'connection',
    'timer',
    'attempt',
    'inputId',
    'delivery',
    'decision',
    'finish',
    'exchange',
    'again',
  ]
  const values = Object.entries(input).filter(([key]) => told.includes(key))
  return [input.type, ...values.map(([key, value]) => `${key}=${String(value)}`)].join(' ')
}

/** Small limits, so that short runs reach them; variants by seed. */
export function exploredSpec(random: Random): Spec {
  const tight = random.chance(0.3)
  const summarise = random.chance(0.3)
  const server = { runs: 'server', timeoutMs: 3000, parallel: true, onInterrupt: 'cancel' } as const
  const client = { ...server, runs: 'client' } as const
  const machine = { ...server, effect: 'pure', runs: 'machine' } as const
  const hasTasks = random.chance(0.6)
  return {
    agent: 'explored',
    hash: 'a',
    models: random.chance(0.5) ? ['one'] : ['one', 'two'],
    tools: [
      { ...server, name: 'read', effect: 'pure' },
      { ...server, name: 'put', effect: 'idempotent', onInterrupt: 'finish' },
      { ...server, name: 'pay', effect: 'once', onInterrupt: 'finish' },
      { ...server, name: 'send', effect: 'once' },
      { ...server, name: 'book', effect: 'once', onInterrupt: 'detach' },
      { ...server, name: 'dig', effect: 'pure', onInterrupt: 'detach' },
      { ...server, name: 'alone', effect: 'pure', parallel: false },
      { ...client, name: 'look', effect: 'pure' },
      { ...client, name: 'spawn', effect: 'once', awayMs: random.pick([0, 3000]), fallback: true },
      { ...client, name: 'cancel', effect: 'idempotent', parallel: random.chance(0.7) },
      ...(hasTasks
        ? [
            { ...server, name: 'export', effect: 'once', onInterrupt: 'background' } as const,
            { ...server, name: 'index', effect: 'pure', wake: 'note' } as const,
            ...['list', 'read', 'wait', 'cancel'].map((name) => ({ ...machine, name: `tasks.${name}` })),
          ]
        : []),
    ],
    limits: {
      ...DEFAULT_LIMITS,
      toolRounds: 2 + random.below(3),
      callsPerTurn: 5,
      parallelCalls: 2,
      turnMs: 30_000,
      turnTokens: random.chance(0.2) ? 3000 : 1_000_000,
      queueInputs: 6,
      awayMs: 8000,
      approvalMs: 5000,
      pauses: 2,
      resultChars: 500,
      tasks: 3,
      wakes: 2,
    },
    window: {
      ...DEFAULT_WINDOW,
      exchanges: 2 + random.below(4),
      summarise,
      keepExchanges: 1 + random.below(2),
      overheadTokens: 20,
      reserveTokens: 50,
      ...(tight && { contextTokens: 300, actAtTokens: 250 }),
    },
    retry: { ...DEFAULT_RETRY, attempts: 2 },
    batch: { ...DEFAULT_BATCH, entries: 3 },
    emptyAnswer: random.chance(0.5) ? 'retry' : 'silence',
    interruptMs: DEFAULT_INTERRUPT_MS,
    ...(random.chance(0.1) && { firstTool: 'read' }),
    ...(random.chance(0.1) && { order: [{ tool: 'pay', after: ['put'] } as const, { answer: true, after: ['read'] }] }),
  }
}
