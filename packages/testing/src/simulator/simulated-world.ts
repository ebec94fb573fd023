// The simulated world: disk, time, devices and pages around the real local host, all from one seed, and the checkers that
// each record passes. It does not know what happens in it.
import type {
  Accepted,
  Host,
  Refused,
  Session,
  SessionDirectory,
  Store,
  Message,
  ModelRequest,
} from '@baton/core/internal'
import { frontOf } from '@baton/core/internal'
import type { ClientReport, SessionRecord, UserCommand } from '@baton/core/machine'
import type { Random } from '@baton/core/testing'
import { createRandom } from '@baton/core/testing'
import { createMemoryStore } from '@baton/host'
import { DeviceNames } from '@baton/server/internal'
import type { SimulationCoverage } from './coverage.ts'
import { createSimulationCoverage, noteFault } from './coverage.ts'
import { ModelWatches } from './model-watch.ts'
import type { ObservedSession } from './observed-session.ts'
import { observeSession } from './observed-session.ts'
import type { SimulatedProcess } from './process.ts'
import { CRASH_POINTS, createProcess } from './process.ts'
import type { Effects } from './simulated-agent.ts'
import { BELOW_TOOL, CLIENT_TOOLS, createEffects, SIGNED_TOOL } from './simulated-agent.ts'
import type { DeviceMemory, SimulatedDevice } from './simulated-device.ts'
import { openDevice } from './simulated-device.ts'
import type { AppMemory, SimulatedApp } from './simulated-app.ts'
import { createAppMemory, openApp } from './simulated-app.ts'
import { observeDisk } from './simulated-store.ts'
import { OfficeWatch } from './check-office.ts'
import { TreeWatch } from './check-tree.ts'
import type { VirtualTime } from './virtual-time.ts'
import { createVirtualTime } from './virtual-time.ts'
import type { SimulatedServer } from './simulated-front.ts'
import { SimulatedPage } from './simulated-page.ts'
import {
  validateAnthropicRequest,
  validateBedrockRequest,
  validateGeminiRequest,
  validateOpenAiResponsesRequest,
} from '../wires/index.ts'
import {
  encodeAnthropicRequest,
  encodeBedrockRequest,
  encodeGeminiRequest,
  encodeOpenAiResponsesRequest,
} from '@baton/models/internal'

export interface SimulateOptions {
  readonly seed: number
  /** Actions of the driver before it heals the world; 40 by default. */
  readonly actions?: number
  readonly coverage?: SimulationCoverage
  /** Maximum milliseconds between a decision and its record. */
  readonly storingMs?: number
  /** Version 2 pages that follow the session throughout; 0 by default. */
  readonly pages?: number
  /** Whether the agent calls other agents; by default those of even seeds do. */
  readonly delegates?: boolean
  /** Whether calls run in the background; by default in two thirds of the seeds. */
  readonly tasks?: boolean
  /** Whether the session has reminders, and a call that two other people decide; by default in a quarter of the seeds. */
  readonly office?: boolean
}

/** Everything that belongs to one run. */
export interface SimulatedWorld {
  readonly time: VirtualTime
  readonly random: Random
  readonly disk: Store
  /** Connects one process to the disk; `onStored` receives what the disk has. */
  readonly reachDisk: (process: SimulatedProcess, onStored: OnStored) => Store
  readonly effects: Effects
  /** One for each version 2 device that ever existed: none knows what another has done. */
  readonly memories: DeviceMemory[]
  readonly watch: ModelWatches
  readonly coverage: SimulationCoverage
  readonly story: string[]
  readonly faults: { failing: number; slow: number; on: boolean }
  /** The session of people and apps: the root of its tree. */
  readonly observed: ObservedSession & { failure: unknown }
  /** The sessions below it, by name. */
  readonly below: Map<string, ObservedSession>
  readonly tree: TreeWatch
  /** Maximum milliseconds between a decision and its record, if not the usual ones. */
  readonly storingMs: number | undefined
  /** The agent has tools that call other agents. */
  readonly delegates: boolean
  /** Its model may run calls in the background. */
  readonly tasks: boolean
  /** The session has reminders, and a call that two other people decide. */
  readonly office: OfficeWatch | undefined
  /** Sent inputs, until they are known to be accepted or refused. */
  readonly unanswered: Map<string, UserCommand | ClientReport>
  process: SimulatedProcess
  /** Kills the process, or its equivalent. */
  readonly crash: () => void
  /** Whether its host lives in a process that can be stopped in an orderly way. */
  readonly stops: boolean
  session: Session | undefined
  host: (Host & Partial<SessionDirectory>) | undefined
  readonly app: AppMemory
  devices: SimulatedDevice[]
  /** Version 2 pages, across all processes. */
  readonly pages: SimulatedPage[]
  deviceNames: DeviceNames
  /** The app's latest connection. */
  readonly voice: { speaker: SimulatedApp | undefined }
  /** Returns each number once. */
  readonly count: () => number
  /** Prefix of the story; empty if there is only one process. */
  readonly name: string
  /** Address at which other hosts pass on requests for its sessions. */
  readonly address: string | undefined
  /** Called when the process was killed. */
  readonly onDeath: () => void
  /** Called when the session is open in its process. */
  readonly onOpen: (session: Session) => void
  /** Called when an input was answered. */
  readonly onAnswer: (input: UserCommand | ClientReport, outcome: Accepted | Refused) => void
  /** Called when the session no longer accepted an input. */
  readonly onRejection: (session: Session) => void
}

export type OnStored = (records: readonly SessionRecord[], session: string) => void

/** Wall-clock time at the start of every world. */
const START_MS = Date.UTC(2026, 0, 1)
export const SESSION = 'simulated'
/** Text that occurs only in forged results. */
export const FORGED = 'forged'

export function createSimulatedWorld(options: SimulateOptions): SimulatedWorld {
  const random = createRandom(options.seed)
  const time = createVirtualTime(START_MS)
  const coverage = options.coverage ?? createSimulationCoverage()
  const none = createProcess({ time, random, points: coverage.points, onDeath: () => {} })
  // Behaves like a store file that is opened only after its former owner died, so nothing is held.
  const clock = { nowMs: () => time.nowMs() }
  const disk = createMemoryStore({ clock, leaseMs: random.pick([10_000, 60_000]) })
  const effects = createEffects((callId, tool) => {
    world.tree.noteEffect(callId, tool)
    const failure = tool === SIGNED_TOOL && world.office?.findUnsigned(callId, world.observed.records)
    if (failure) fail(world, new Error(failure))
  })
  let last = 0
  const world: SimulatedWorld = {
    time,
    random,
    coverage,
    disk,
    reachDisk: (_, onStored) => {
      disk.expireLeases()
      return observeDisk(disk, onStored)
    },
    effects,
    memories: [],
    watch: new ModelWatches(
      (session) => findObserved(world, session),
      (failure) => fail(world, failure),
      () => time.nowMs(),
    ),
    delegates: options.delegates ?? options.seed % 2 === 0,
    tasks: options.tasks ?? options.seed % 3 !== 0,
    office: (options.office ?? options.seed % 4 === 1) ? new OfficeWatch() : undefined,
    below: new Map(),
    storingMs: options.storingMs,
    tree: new TreeWatch({
      root: SESSION,
      effects,
      find: (session) => findObserved(world, session),
      fail: (failure) => fail(world, failure),
      isAsking: (session) => world.watch.of(session).running().length > 0,
    }),
    story: [],
    faults: { failing: random.chance(0.5) ? 0.03 : 0, slow: random.chance(0.5) ? 0.05 : 0, on: true },
    observed: {
      ...observeSession(SESSION, { validate: validateWires, storingMs: options.storingMs }),
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
    pages: [],
    deviceNames: new DeviceNames(),
    voice: { speaker: undefined },
    count: () => (last += 1),
    name: '',
    address: undefined,
    onDeath: () => {},
    onOpen: () => {},
    onAnswer: () => {},
    onRejection: () => {},
  }
  return world
}

/** The session of this name, once it has a record. */
export function findObserved({ observed, below }: SimulatedWorld, session: string): ObservedSession | undefined {
  return session === SESSION ? observed : below.get(session)
}

/** Notes the first failure. */
export function fail({ observed }: SimulatedWorld, failure: unknown): void {
  observed.failure ??= failure
}

/** Dies at one of the next crash points, or right now. */
export function killProcess({ process, random }: SimulatedWorld): void {
  if (random.chance(0.3)) process.kill()
  else if (random.chance(0.5)) process.killAfter(random.below(6))
  else process.killAt(random.pick(CRASH_POINTS))
}

/** Sends unanswered inputs again. */
export function holdSession(world: SimulatedWorld, session: Session): void {
  world.session = session
  world.onOpen(session)
  for (const input of world.unanswered.values()) send(world, input)
}

/** Sends an input like a user's program: again after a crash, with the same id. */
export function send(world: SimulatedWorld, input: UserCommand | ClientReport): void {
  const id = 'inputId' in input ? input.inputId : undefined
  if (id !== undefined) world.unanswered.set(id, input)
  tell(world, `${input.type} ${id ?? ''} is sent`)
  const session = world.session && frontOf(world.session)
  session?.submit(input).then(
    (outcome) => {
      if (outcome.type === 'refused') tell(world, `${input.type} ${id ?? ''} is refused: ${outcome.code}`)
      if (id !== undefined) world.unanswered.delete(id)
      world.onAnswer(input, outcome)
    },
    () => world.onRejection(session),
  )
}

/** A version 2 device in this process, or a version 1 app through the front and a network. */
export function connect(world: SimulatedWorld, protocol: 1 | 2): void {
  const { session, host, time, random, effects, coverage, process, voice } = world
  if (!session || !host) return
  const connection = `device-${world.count()}`
  tell(world, `${connection} connects with version ${protocol}`)
  const onFault = (fault: string): void => noteFault(coverage, fault, world.observed.state)
  const faulty = (): boolean => world.faults.on
  const newId = (): string => `id-${world.count()}`
  const shared = { connection, time, random, effects, onFault, faulty }
  if (protocol === 2) {
    const lease = random.chance(0.3) ? { leaseMs: 5000 } : {}
    const brings = random.chance(0.4)
    world.devices.push(
      openDevice({
        ...shared,
        ...lease,
        ...chooseTools(world),
        brings,
        session: frontOf(session),
        memory: chooseMemory(world),
      }),
    )
    return
  }
  // Always the same app with one memory: anything pending on its old connection is lost with it.
  if (voice.speaker?.isOpen()) voice.speaker.drop()
  voice.speaker = openApp({ ...shared, host, session: SESSION, process, memory: world.app, newId })
  world.devices.push(voice.speaker)
}

/** `servers`: the servers that answer the page; by default that of this world. */
export function openPage(
  world: SimulatedWorld,
  servers = (): readonly SimulatedServer[] => listServers(world),
): SimulatedPage {
  const { time, random, effects, coverage } = world
  return new SimulatedPage({
    time,
    random,
    effects,
    session: SESSION,
    newId: () => `id-${world.count()}`,
    tell: (what) => tell(world, what),
    faulty: () => world.faults.on,
    onFault: (fault) => noteFault(coverage, fault, world.observed.state),
    servers,
  })
}

/** Empty until a host has started. */
export function listServers({ host, process, time, deviceNames, address }: SimulatedWorld): readonly SimulatedServer[] {
  return host ? [{ host, process, time, deviceNames, address }] : []
}

/** Some devices name their tools, among them a tool of agents below. */
function chooseTools({ delegates, random }: SimulatedWorld): { readonly tools?: readonly string[] } {
  return delegates && random.chance(0.5) ? { tools: [...CLIENT_TOOLS, BELOW_TOOL] } : {}
}

/** An earlier device returns, or a new one connects. */
function chooseMemory({ memories, devices, random }: SimulatedWorld): DeviceMemory {
  const away = memories.filter((memory) => !devices.some((device) => device.memory === memory && device.isOpen()))
  if (away.length > 0 && random.chance(0.5)) return random.pick(away)
  const memory: DeviceMemory = new Map()
  memories.push(memory)
  return memory
}

export function tell(world: SimulatedWorld, what: string): void {
  world.story.push(`${world.time.nowMs() - START_MS} ms: ${world.name}${what}`)
}

/**
 * Checks a history against every wire with an adapter: encoded as it would be sent, then validated by the provider's
 * rules.
 */
export function validateWires(messages: readonly Message[]): readonly { readonly message: string }[] {
  if (messages.length === 0) return []
  const toolsUsed = new Set(
    messages.flatMap((message) => (message.role === 'user' ? [] : message.parts.flatMap(readName))),
  )
  const request: ModelRequest = {
    instructions: 'validate',
    messages,
    tools: [...toolsUsed].map((name) => ({ name, description: name, inputSchema: { type: 'object' } })),
    toolChoice: { type: 'auto' },
    settings: {},
    session: 'validated',
  }
  const gemini = { model: 'gemini-3-pro-preview' }
  return [
    ...validateAnthropicRequest(encodeAnthropicRequest(request, { model: 'claude-haiku-4-5' })),
    ...validateBedrockRequest(encodeBedrockRequest(request, { model: 'amazon.nova-lite-v1:0' })),
    ...validateGeminiRequest(encodeGeminiRequest(request, gemini), gemini),
    ...validateOpenAiResponsesRequest(encodeOpenAiResponsesRequest(request, { model: 'gpt-5-mini' })),
  ]
}

function readName(part: { readonly type: string; readonly name?: string }): readonly string[] {
  return part.type === 'call' && part.name !== undefined ? [part.name] : []
}
