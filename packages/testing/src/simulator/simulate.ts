// The simulator: the real local host in a simulated world, driven by one seed, checked after every stored record.
import type { Host, Session } from '@baton/core'
import { createSpec } from '@baton/core'
import type { ClientReport, History, SessionRecord, Snapshot, State, UserCommand } from '@baton/core/machine'
import { applyRecord, createHistory, initialState } from '@baton/core/machine'
import type { InvariantChecker, Random } from '@baton/core/testing'
import { createInvariantChecker, createRandom } from '@baton/core/testing'
import type { MemoryStore } from '@baton/host'
import { createHost, createMemoryStore } from '@baton/host'
import { validateWires } from '../validate-wires.ts'
import { checkSnapshot } from './check-snapshot.ts'
import type { TimeChecker } from './check-time.ts'
import { createTimeChecker } from './check-time.ts'
import type { SimulationCoverage } from './coverage.ts'
import { createSimulationCoverage, noteFact, noteFault } from './coverage.ts'
import { ModelWatch } from './model-watch.ts'
import type { SimulatedProcess } from './process.ts'
import { CRASH_POINTS, createProcess } from './process.ts'
import type { AgentParts, Effects } from './simulated-agent.ts'
import { createSimulatedAgent } from './simulated-agent.ts'
import type { SimulatedDevice } from './simulated-device.ts'
import { openDevice } from './simulated-device.ts'
import type { AppMemory, SimulatedApp } from './simulated-app.ts'
import { createAppMemory, openApp } from './simulated-app.ts'
import { createSimulatedStore } from './simulated-store.ts'
import type { VirtualTime } from './virtual-time.ts'
import { createVirtualTime } from './virtual-time.ts'
import { act, healAndRest } from './actions.ts'

export interface SimulateOptions {
  readonly seed: number
  /** What the driver does before it heals the world; 40 by default. */
  readonly actions?: number
  readonly coverage?: SimulationCoverage
}

/** Everything of one run. */
export interface SimulatedWorld {
  readonly time: VirtualTime
  readonly random: Random
  readonly disk: MemoryStore
  readonly effects: Effects
  readonly memory: Map<string, string>
  readonly watch: ModelWatch
  readonly coverage: SimulationCoverage
  readonly story: string[]
  readonly faults: { failing: number; slow: number; on: boolean }
  readonly observed: {
    state: State
    readonly history: History
    readonly checker: InvariantChecker
    readonly timeChecker: TimeChecker
    /** Every record, as it was stored. */
    readonly records: SessionRecord[]
    snapshots: number
    failure: unknown
  }
  /** Inputs that were sent, until they are known to be accepted or refused. */
  readonly unanswered: Map<string, UserCommand | ClientReport>
  process: SimulatedProcess
  /** Something dies: the process, or what takes its place. */
  readonly crash: () => void
  /** Its host lives in a process, which may be stopped in good order. */
  readonly stops: boolean
  session: Session | undefined
  host: Host | undefined
  readonly app: AppMemory
  devices: SimulatedDevice[]
  /** The app's newest connection. */
  speaker: SimulatedApp | undefined
  serial: number
}

/** A failing run: its seed, what broke, and what happened before, in words. */
export class SimulationError extends Error {
  readonly seed: number
  constructor(seed: number, story: readonly string[], cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause)
    super(
      `seed ${seed}: ${why}\n${story.slice(-40).join('\n')}\nRun it again: npm run simulate -- --from ${seed} --seeds 1`,
      { cause },
    )
    this.name = 'SimulationError'
    this.seed = seed
  }
}

/** The wall clock at the beginning of every world. */
const START_MS = Date.UTC(2026, 0, 1)
export const SESSION = 'simulated'
/** What only a forged result says. */
export const FORGED = 'forged'

/** @throws SimulationError when an invariant is broken or the session does not come to rest */
export async function simulate(options: SimulateOptions): Promise<SimulatedWorld> {
  const world = createSimulatedWorld(options)
  try {
    await boot(world)
    for (let action = options.actions ?? 40; action > 0; action--) {
      await act(world)
      await world.time.runUntil(world.time.nowMs() + world.random.below(world.random.chance(0.5) ? 300 : 2500))
      if (!world.process.isAlive()) await boot(world)
      if (world.observed.failure) throw world.observed.failure
    }
    await healAndRest(world)
    // The app works through what it was sent: every answer is spoken to its end.
    await world.time.runUntil(world.time.nowMs() + 10 * 60_000)
    checkEnd(world)
  } catch (cause) {
    throw new SimulationError(options.seed, world.story, cause)
  }
  return world
}

/** What a session at rest must have kept. @throws Error that says what is wrong */
export function checkEnd(world: SimulatedWorld): void {
  if (world.observed.failure) throw world.observed.failure
  world.observed.checker.finish(world.observed.state)
  checkEffects(world)
  checkSaid(world)
  if (world.app.screen === 'thinking') throw new Error('the app is left thinking')
}

export function createSimulatedWorld(options: SimulateOptions): SimulatedWorld {
  const random = createRandom(options.seed)
  const time = createVirtualTime(START_MS)
  const coverage = options.coverage ?? createSimulationCoverage()
  const none = createProcess({ time, random, points: coverage.points, onDeath: () => {} })
  const world: SimulatedWorld = {
    time,
    random,
    coverage,
    disk: createMemoryStore({ clock: { nowMs: () => time.nowMs() }, leaseMs: random.pick([10_000, 60_000]) }),
    effects: new Map(),
    memory: new Map(),
    watch: new ModelWatch(
      () => world.observed,
      (failure) => (world.observed.failure ??= failure),
    ),
    story: [],
    faults: { failing: random.chance(0.5) ? 0.03 : 0, slow: random.chance(0.5) ? 0.05 : 0, on: true },
    observed: {
      state: initialState(SESSION),
      history: createHistory({ keepAll: true }),
      checker: createInvariantChecker({ validate: validateWires }),
      timeChecker: createTimeChecker(),
      records: [],
      snapshots: 0,
      failure: undefined,
    },
    unanswered: new Map(),
    process: none,
    crash: () => killProcess(world),
    stops: true,
    session: undefined,
    host: undefined,
    app: createAppMemory(),
    devices: [],
    speaker: undefined,
    serial: 0,
  }
  return world
}

/** It dies at one of the next crash points, or right now. */
function killProcess({ process, random }: SimulatedWorld): void {
  if (random.chance(0.3)) process.kill()
  else if (random.chance(0.5)) process.killAfter(random.below(6))
  else process.killAt(random.pick(CRASH_POINTS))
}

/** A process begins: a host over the same disk; users send again what was not answered. */
export async function boot(world: SimulatedWorld): Promise<void> {
  const { time, random, coverage } = world
  const process = createProcess({
    time,
    random,
    points: coverage.points,
    onDeath: (point) => tell(world, `the process dies (${point})`),
  })
  world.process = process
  world.disk.expireLeases() // as the file of a store, which is opened only when its former owner is dead
  // Recovery must survive a crash as well.
  if (world.faults.on && random.chance(0.15)) process.killAfter(random.below(8))
  world.devices = []
  world.speaker = undefined
  world.session = undefined
  const onFault = (fault: string): void => noteFault(coverage, fault, world.observed.state)
  world.watch.forgetRunning()
  const { effects, watch } = world
  const parts: AgentParts = { process, random, effects, onFault, watch, faulty: () => world.faults.on }
  const agent = createSimulatedAgent(parts)
  const spec = createSpec(agent, [])
  const store = createSimulatedStore({
    disk: world.disk,
    process,
    random,
    faults: world.faults,
    onFault,
    onStored: (records) => observeAll(world, spec, records),
    onSnapshot: (snapshot) => observeSnapshot(world, snapshot),
  })
  const environment = {
    clock: time.clock,
    timers: { start: process.start },
    newId: () => `id-${(world.serial += 1)}`,
    transport: { post: () => Promise.reject(new Error('the simulation has no network')) },
  }
  const host = createHost({ environment, store, agent, snapshotRecords: random.pick([2, 7, 256]) })
  world.host = host
  const recovers = random.chance(0.4)
  tell(world, recovers ? 'a process begins, and looks after its sessions' : 'a process begins')
  const opened = recovers
    ? host.recover().then(() => host.session(SESSION, { principal: { id: 'ann' } }))
    : host.session(SESSION, { principal: { id: 'ann' } })
  const opening = opened.then(
    (session) => {
      world.session = session
      for (const input of world.unanswered.values()) send(world, input)
    },
    (cause: unknown) => tell(world, `the session does not open: ${String(cause)}`),
  )
  opening.catch(() => {})
  await time.runUntil(time.nowMs() + 50)
}

/** Sends an input as a user's program would: again after a crash, with the same id. */
export function send(world: SimulatedWorld, input: UserCommand | ClientReport): void {
  const id = 'inputId' in input ? input.inputId : undefined
  if (id !== undefined) world.unanswered.set(id, input)
  tell(world, `${input.type} ${id ?? ''} is sent`)
  world.session?.submit(input).then(
    (outcome) => {
      if (outcome.type === 'refused') tell(world, `${input.type} ${id ?? ''} is refused: ${outcome.code}`)
      if (id !== undefined) world.unanswered.delete(id)
    },
    () => {},
  )
}

/** A device of version 2 in this process, or an app of version 1 through the front and over a network. */
export function connect(world: SimulatedWorld, protocol: 1 | 2): void {
  const { session, host, time, random, effects, memory, coverage, process } = world
  if (!session || !host) return
  const connection = `device-${(world.serial += 1)}`
  tell(world, `${connection} connects with version ${protocol}`)
  const onFault = (fault: string): void => noteFault(coverage, fault, world.observed.state)
  const faulty = (): boolean => world.faults.on
  const newId = (): string => `id-${(world.serial += 1)}`
  const shared = { connection, time, random, effects, onFault, faulty }
  if (protocol === 2) {
    const lease = random.chance(0.3) ? { leaseMs: 5000 } : {}
    const brings = random.chance(0.4)
    world.devices.push(openDevice({ ...shared, ...lease, brings, session, memory }))
    return
  }
  // It is the same app each time, with one memory: what waits on its old connection is lost with it.
  if (world.speaker?.isOpen()) world.speaker.drop()
  world.speaker = openApp({ ...shared, host, session: SESSION, process, memory: world.app, newId })
  world.devices.push(world.speaker)
}

export function tell(world: SimulatedWorld, what: string): void {
  world.story.push(`${world.time.nowMs() - START_MS} ms: ${what}`)
}

/** Records that were stored together. */
export function observeAll(
  world: SimulatedWorld,
  spec: ReturnType<typeof createSpec>,
  records: readonly SessionRecord[],
): void {
  for (const record of records) observe(world, spec, record)
  world.watch.noteStored(records)
}

function observeSnapshot({ observed }: SimulatedWorld, snapshot: Snapshot): void {
  observed.snapshots += 1
  try {
    checkSnapshot(SESSION, snapshot, observed.records)
  } catch (failure) {
    observed.failure ??= failure
  }
}

/** Checks a record as soon as it was stored. */
function observe(world: SimulatedWorld, spec: ReturnType<typeof createSpec>, record: SessionRecord): void {
  const { observed, coverage } = world
  coverage.records += 1
  for (const fact of record.facts) noteFact(coverage, fact)
  tell(world, `${record.input.type} → ${record.facts.map((fact) => fact.type).join(', ')}`)
  const before = { ...observed.state, epoch: record.epoch }
  const after = applyRecord(before, record)
  checkForged(world, before, record)
  observed.records.push(record)
  observed.history.fold(record)
  observed.state = after
  if (JSON.stringify(record).includes('"base64"')) observed.failure ??= new Error('a record holds a picture')
  try {
    observed.checker.observe({ spec, before, after, record, history: observed.history, input: null })
    observed.timeChecker.observe({ before, after, record, nowMs: world.time.nowMs() })
  } catch (failure) {
    observed.failure ??= failure
  }
}

/**
 * A forged result settles a call only when its connection was offered that call before the record: a device that comes
 * while the store is slow may speak of a call that becomes its own.
 */
function checkForged({ observed, effects }: SimulatedWorld, before: State, { input, facts }: SessionRecord): void {
  for (const fact of facts) {
    if (fact.type !== 'call-settled' || !JSON.stringify(fact.settlement).includes(FORGED)) continue
    const call = before.step?.calls.find(({ callId }) => callId === fact.callId)
    const connection = input.type === 'tool-result' ? input.connection : undefined
    if (!call?.offer || call.offer.connection !== connection)
      observed.failure ??= new Error(`${fact.callId} is settled by a forged result`)
    else if (!effects.has(fact.callId)) effects.set(fact.callId, { tool: call.name, starts: 0 })
  }
}

/** An app is only shown its last turn when it comes back, but the server has everything that it said. */
function checkSaid({ app, observed }: SimulatedWorld): void {
  const accepted = new Set(observed.state.recentInputs.map((input) => input.inputId))
  const lost = [...app.said].filter(([id]) => !accepted.has(id)).map(([, text]) => text)
  if (lost.length > 0) throw new Error(`the server never had: ${lost.join(', ')}`)
}

/** What happened in the world against what the log says: `once` means at most once, and ok means that it happened. */
function checkEffects(world: SimulatedWorld): void {
  const once = new Set(['pay', 'pay.asked', 'ask.pay', 'phone.spawn', 'phone.own'])
  for (const [callId, effect] of world.effects)
    if (once.has(effect.tool) && effect.starts > 1)
      throw new Error(`${callId} (${effect.tool}) took effect ${effect.starts} times`)
  const spoken = world.app.spoken
  if (new Set(spoken).size < spoken.length) throw new Error('a text was spoken twice')
  for (const { callId, settlement, name } of world.observed.state.recentCalls)
    if (settlement === 'ok' && name !== 'result.read' && !world.effects.has(callId))
      throw new Error(`${callId} (${name}) is settled as ok, but nothing happened`)
}
