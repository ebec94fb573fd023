// Actions of a simulation's driver: users talk, devices come and go, processes die, and finally the world heals.
import { createSpec } from '@baton/core/internal'
import type { UserCommand } from '@baton/core/machine'
import type { LocalHost } from '@baton/host'
import { createHost } from '@baton/host'
import { DeviceNames } from '@baton/server/internal'
import { noteFault } from './coverage.ts'
import type { SimulatedProcess } from './process.ts'
import { createProcess } from './process.ts'
import type { AgentParts } from './simulated-agent.ts'
import { createSimulatedAgent, listSimulatedAgents, SIMULATED_PICTURE } from './simulated-agent.ts'
import { createSimulatedStore } from './simulated-store.ts'
import { observeAll, observeSnapshot } from './check-world.ts'
import { actInOffice, cancelRules } from './office-actions.ts'
import type { QuestionAnswer } from '@baton/core'
import type { SimulatedWorld } from './simulated-world.ts'
import { connect, FORGED, holdSession, send, SESSION, tell } from './simulated-world.ts'

type Act = (world: SimulatedWorld) => unknown

const ACTIONS: readonly (readonly [number, Act])[] = [
  [
    10,
    (world) =>
      send(world, {
        type: 'user-input',
        inputId: nextId(world),
        parts: [{ type: 'text', text: 'do something' }, ...(world.random.chance(0.2) ? [SIMULATED_PICTURE] : [])],
        delivery: world.random.pick(['queue', 'steer', 'interrupt']),
        // Some users cannot be asked, such as those on a telephone.
        ...(world.random.chance(0.2) && { asks: false }),
      }),
  ],
  [3, (world) => send(world, { type: 'transcript', inputId: nextId(world), speaker: 'bob', text: 'we talk' })],
  [2, (world) => send(world, { type: 'urgent-event', inputId: nextId(world), name: 'offer', detail: { price: 3 } })],
  [6, (world) => connect(world, world.random.chance(0.5) ? 1 : 2)],
  [4, drop],
  [3, crash],
  [2, interrupt],
  [6, (world) => world.voice.speaker?.isOpen() && world.voice.speaker.say(`do ${nextId(world)}`)],
  [2, (world) => world.voice.speaker?.isOpen() && world.voice.speaker.interrupt()],
  [3, approve],
  [2, editWhilePaused],
  [5, answer],
  [1, describe],
  [1, (world) => send(world, { type: 'set-model', model: world.random.pick(['sim/one', 'sim/two']) })],
  [1, pauseOrStop],
  [
    1,
    (world) =>
      send(world, {
        type: 'rewind',
        inputId: nextId(world),
        exchange: Math.max(1, world.observed.state.counters.exchange),
        again: true,
      }),
  ],
  [1, forge],
  [2, leave],
  [2, setClock],
  [1, stop],
]
const TOTAL = ACTIONS.reduce((sum, [weight]) => sum + weight, 0)

/** Acts on one of the pages, if there are any. */
function actOnPage(world: SimulatedWorld): void {
  const { random, coverage, observed } = world
  const page = random.pick(world.pages)
  const what = random.pick(['say', 'say', 'drop', 'drop', 'reload', 'interrupt'] as const)
  tell(world, `a page: ${what}`)
  if (what === 'say') page.say(`do ${nextId(world)}`)
  else if (what === 'drop') page.drop()
  else if (what === 'reload') page.reload()
  else page.client.interrupt({ heard: { type: 'chars', chars: random.below(40) } }).catch(() => {})
  if (what !== 'say') noteFault(coverage, `page-${what}`, observed.state)
}

export async function act(world: SimulatedWorld): Promise<void> {
  if (world.pages.length > 0 && world.random.chance(0.4)) {
    actOnPage(world)
    return
  }
  // Requests of sessions below are rare, and people look at them.
  if (world.observed.state.relayed.some(({ isDecided }) => !isDecided) && world.random.chance(0.5)) {
    approve(world)
    answer(world)
    return
  }
  if (world.office && world.random.chance(0.25)) {
    actInOffice(world, world.office)
    return
  }
  let left = world.random.below(TOTAL)
  for (const [weight, action] of ACTIONS) {
    left -= weight
    if (left < 0) {
      await action(world)
      return
    }
  }
}

function nextId(world: SimulatedWorld): string {
  return `input-${world.count()}`
}

/** Its program releases the session, which may come to rest and leave memory, and opens it again. */
function leave(world: SimulatedWorld): void {
  const { session, host, devices } = world
  if (!session || !host || devices.some((device) => device.isOpen())) return
  tell(world, 'no handle holds the session')
  world.session = undefined
  session
    .close()
    .then(() => host.session(SESSION, { principal: { id: 'ann' } }))
    .then(
      (again) => {
        if (world.host !== host) return
        holdSession(world, again)
      },
      (cause: unknown) => tell(world, `the session does not open: ${String(cause)}`),
    )
}

function drop(world: SimulatedWorld): void {
  const open = world.devices.filter((device) => device.isOpen())
  if (open.length === 0) return
  const device = world.random.pick(open)
  tell(world, `${device.connection} loses its connection`)
  noteFault(world.coverage, 'disconnect', world.observed.state)
  device.drop()
}

function crash(world: SimulatedWorld): void {
  noteFault(world.coverage, 'crash', world.observed.state)
  world.crash()
}

const SECOND_MS = 1000
const DAY_MS = 86_400_000

/** Stops the process in an orderly way: its work is aborted, and the next process starts from what was stored. */
async function stop(world: SimulatedWorld): Promise<void> {
  const { host, process, random, time, watch } = world
  if (!host || !world.stops || !process.isAlive()) return
  tell(world, 'the host is stopped')
  noteFault(world.coverage, 'stop', world.observed.state)
  let hasStopped = false
  host.stop({ drainMs: random.pick([0, 500]) }).then(
    () => (hasStopped = true),
    (cause: unknown) => tell(world, `the host does not stop: ${String(cause)}`),
  )
  const untilMs = time.nowMs() + STOP_MS
  while (!hasStopped && process.isAlive() && (await time.runNext(untilMs)));
  if (!process.isAlive()) return
  if (hasStopped) watch.checkStopped(process)
  else world.observed.failure ??= new Error(`the host did not stop within ${STOP_MS} ms`)
  process.end()
}

/** Virtual milliseconds in which a host stops, whatever its store does. */
const STOP_MS = 60_000

/** Sets the wall clock, like a person or a time service. */
function setClock(world: SimulatedWorld): void {
  const { random, time } = world
  const stepMs = random.pick([3 * SECOND_MS, 3600 * SECOND_MS, DAY_MS, 40 * DAY_MS, 365 * DAY_MS])
  const ms = random.chance(0.5) ? stepMs : -stepMs
  tell(world, `the wall clock is set by ${ms} ms`)
  noteFault(world.coverage, ms > 0 ? 'clock-forward' : 'clock-back', world.observed.state)
  time.setWall(ms)
  world.office?.noteClockSet(time.nowMs())
}

function interrupt(world: SimulatedWorld): void {
  noteFault(world.coverage, 'interrupt', world.observed.state)
  const heard = world.random.pick([
    { type: 'all' },
    { type: 'display' },
    { type: 'chars', chars: world.random.below(40) },
  ] as const)
  send(world, { type: 'interrupt', reason: 'barge_in', heard })
}

/** One person decides, or two; editing the request may trigger a policy. */
function approve(world: SimulatedWorld): void {
  const { random, session } = world
  const approvalId = findAsked(world)
  if (approvalId === undefined) return
  const remember = random.chance(0.15) ? { remember: random.pick(['tool', 'arguments'] as const) } : {}
  for (let people = random.chance(0.2) ? 2 : 1; people > 0; people--) {
    const decision = random.pick(['approve', 'approve', 'deny', 'edit'] as const)
    const n = random.pick([3, 3, 4, 'wrong'])
    const given = decision === 'edit' ? { decision, input: { n } } : { decision }
    session?.decide({ approvalId, ...given, ...remember }).then(
      () => world.tree.noteDecision(approvalId),
      () => {},
    )
  }
}

/** An open approval of the session, or of one below it. */
function findAsked({ random, observed: { state } }: SimulatedWorld): string | undefined {
  const own = state.step?.calls.flatMap(({ state: at, approval }) => (at === 'awaiting-approval' && approval?.id) || [])
  const below = state.relayed.flatMap(({ id, type, isDecided }) => (type === 'approval' && !isDecided ? [id] : []))
  const asked = [...(own ?? []), ...below]
  return asked.length > 0 ? random.pick(asked) : undefined
}

/** The user answers, declines, or answers nonsense; most often there is no answer. */
function answer(world: SimulatedWorld): void {
  const { random, session, observed } = world
  const own = observed.history.openQuestions().map(({ questionId }) => questionId)
  const below = observed.state.relayed.flatMap(({ id, type, isDecided }) =>
    type === 'question' && !isDecided ? [id] : [],
  )
  if (own.length + below.length === 0) return
  const questionId = random.pick([...own, ...below])
  const reply = random.pick([{ value: { ok: true } }, { value: { ok: 'perhaps' } }, { decline: true, reason: 'no' }])
  session?.answer({ questionId, ...reply } as QuestionAnswer).catch(() => {}) // one of its two forms
}

function describe(world: SimulatedWorld): void {
  const title = world.random.pick(['a title', 'another', null])
  world.session?.describe({ title, meta: { serial: world.count() } }).catch(() => {})
}

/** An edit is an approval: the call is ready, and starts when the session continues. */
function editWhilePaused(world: SimulatedWorld): void {
  const call = world.observed.state.step?.calls.find((candidate) => candidate.state === 'awaiting-approval')
  if (!call?.approval) return
  send(world, { type: 'pause' })
  world.session?.decide({ approvalId: call.approval.id, decision: 'edit', input: { n: 3 } }).catch(() => {})
}

function pauseOrStop(world: SimulatedWorld): void {
  const { phase } = world.observed.state
  const input: UserCommand =
    phase === 'paused'
      ? { type: 'continue' }
      : phase === 'stopped'
        ? { type: 'start' }
        : { type: world.random.pick(['pause', 'stop']) }
  send(world, input)
}

function forge(world: SimulatedWorld): void {
  noteFault(world.coverage, 'forged-result', world.observed.state)
  const { step, recentCalls, relayed } = world.observed.state
  const below = relayed.flatMap(({ call }) => call ?? [])
  const calls = [...(step?.calls ?? []), ...below, ...recentCalls.slice(-3)]
  const call = calls.length > 0 ? world.random.pick(calls) : undefined
  // A client of the same handle that was not asked: a report from the asked one about its own call is not forged.
  const others = world.devices.filter(({ connection }) => connection !== call?.offer?.connection)
  const device = others.length > 0 ? world.random.pick(others) : undefined
  send(world, {
    type: 'tool-result',
    callId: call?.callId ?? 'call_77_0',
    connection: world.random.chance(0.5) ? 'nobody' : (device?.connection ?? 'nobody'),
    outcome: { type: 'ok', content: [{ type: 'text', text: FORGED }] },
  })
}

/** Virtual milliseconds in which a healed session must come to rest: many times every limit of a turn. */
const REST_MS = 30 * 60_000

/** Every wait must now end, in the session's own time. */
export async function healAndRest(world: SimulatedWorld): Promise<void> {
  await heal(world)
  if (!world.process.isAlive()) await boot(world)
  await settleDown(world)
  // A session that is still opening accepts no devices yet.
  for (let wait = 0; wait < 100 && !world.session; wait++) await world.time.runUntil(world.time.nowMs() + 1000)
  connect(world, 2)
  connect(world, 1)
  await rest(world, async () => {
    if (!world.process.isAlive()) await boot(world)
    await settleDown(world)
  })
}

/** Turns off all faults. */
export async function heal(world: SimulatedWorld): Promise<void> {
  tell(world, 'the world heals')
  world.faults.on = false
  world.faults.failing = 0
  world.faults.slow = 0
  await world.time.runUntil(world.time.nowMs() + 100)
  world.process.killAfter(Infinity)
  world.process.killAt('none')
}

/** `tend` is called before each event. @throws Error if the session does not come to rest */
export async function rest(world: SimulatedWorld, tend: () => Promise<void>): Promise<void> {
  const untilMs = world.time.nowMs() + REST_MS
  while (world.time.nowMs() < untilMs) {
    await tend()
    if (isAtRest(world)) return
    if (!(await world.time.runNext(untilMs))) break
  }
  await world.time.runUntil(world.time.nowMs() + 1)
  if (!isAtRest(world)) {
    const { phase, queue, step, children, relayed } = world.observed.state
    const below = [...children, ...relayed].map((one) => JSON.stringify(one)).join('\n')
    const calls = step?.calls.map((call) => `${call.callId} ${call.name} ${call.state}`).join(', ') ?? ''
    throw new Error(
      `the session does not come to rest: ${phase}, ${queue.length} waiting, ${calls}, ${world.unanswered.size} unanswered${below && '\n'}${below}`,
    )
  }
}

/** Resumes the session after a pause or stop. */
export async function settleDown(world: SimulatedWorld): Promise<void> {
  const { phase } = world.observed.state
  if (phase === 'paused') send(world, { type: 'continue' })
  if (phase === 'stopped') send(world, { type: 'start' })
  if (phase === 'paused' || phase === 'stopped') await world.time.runUntil(world.time.nowMs() + 10)
  if (world.office) cancelRules(world, world.office)
  // The end of a task waits for an input.
  const { queue, phase: now } = world.observed.state
  if (
    now === 'idle' &&
    queue.length > 0 &&
    queue.every(({ ready }) => !ready) &&
    world.unanswered.size === 0 &&
    world.session
  )
    send(world, { type: 'user-input', inputId: `go-on-${world.count()}`, parts: [{ type: 'text', text: 'go on' }] })
}

function isAtRest(world: SimulatedWorld): boolean {
  const { phase, queue, step, turn, children, relayed } = world.observed.state
  const isIdle = phase === 'idle' && queue.length === 0 && step === null && turn === null
  return isIdle && children.length + relayed.length === 0 && world.unanswered.size === 0
}

/** Starts a process: a host over the same disk; users send unanswered inputs again. */
export async function boot(world: SimulatedWorld): Promise<void> {
  const { time, random } = world
  const { process, host } = startHost(world)
  // Recovery must survive a crash too.
  if (world.faults.on && random.chance(0.15)) process.killAfter(random.below(8))
  const recovers = random.chance(0.4)
  tell(world, recovers ? 'a process begins, and looks after its sessions' : 'a process begins')
  const opened = recovers
    ? host.recover().then(() => host.session(SESSION, { principal: { id: 'ann' } }))
    : host.session(SESSION, { principal: { id: 'ann' } })
  const opening = opened.then(
    (session) => holdSession(world, session),
    (cause: unknown) => tell(world, `the session does not open: ${String(cause)}`),
  )
  opening.catch(() => {})
  await time.runUntil(time.nowMs() + 50)
}

/** A new process with a host that has received no requests yet. */
export function startHost(world: SimulatedWorld): { readonly process: SimulatedProcess; readonly host: LocalHost } {
  const { time, random, coverage, voice } = world
  const process = createProcess({
    time,
    random,
    points: coverage.points,
    onDeath: (point) => {
      tell(world, `the process dies (${point})`)
      world.onDeath()
    },
  })
  world.process = process
  if (voice.speaker && world.devices.includes(voice.speaker)) voice.speaker = undefined
  world.devices = []
  world.deviceNames = new DeviceNames()
  world.session = undefined
  const onFault = (fault: string): void => noteFault(coverage, fault, world.observed.state)
  const { effects, watch, delegates, tasks } = world
  const faulty = (): boolean => world.faults.on
  const office = world.office !== undefined
  const parts: AgentParts = { process, random, effects, onFault, watch, delegates, tasks, office, faulty }
  const agent = createSimulatedAgent(parts)
  const specs = new Map(listSimulatedAgents(agent).map((one) => [one.name, createSpec(one, [])]))
  const store = createSimulatedStore({
    disk: world.reachDisk(process, (records, name) => observeAll(world, specs, records, name)),
    process,
    random,
    faults: world.faults,
    onFault,
    onSnapshot: (snapshot) => observeSnapshot(world, snapshot),
  })
  const environment = {
    clock: time.clock,
    timers: { start: process.start },
    newId: () => `id-${world.count()}`,
    transport: { post: () => Promise.reject(new Error('the simulation has no network')) },
  }
  const { address } = world
  const snapshotRecords = random.pick([2, 7, 256])
  const host = createHost({ environment, store, agent, snapshotRecords, ...(address !== undefined && { address }) })
  world.host = host
  return { process, host }
}
