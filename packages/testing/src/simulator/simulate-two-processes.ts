// The simulator with two processes: two local hosts over one store, between which a session moves. Each may die, be
// stopped or be cut off from the store, and has its own wall clock. Users and devices go to the one with the session,
// or retry.
import { SimulationError } from './simulate.ts'
import { startHost, act, heal, rest, settleDown } from './actions.ts'
import type { Host, Session } from '@baton/core'
import { isBatonError } from '@baton/core'
import { createMemoryStore } from '@baton/host'
import { OwnershipWatch } from './check-ownership.ts'
import { checkEnd } from './check-world.ts'
import { checkInbox } from './office-actions.ts'
import { noteFault } from './coverage.ts'
import type { SimulatedWorld, SimulateOptions } from './simulated-world.ts'
import {
  connect,
  createSimulatedWorld,
  holdSession,
  killProcess,
  listServers,
  openPage,
  send,
  SESSION,
  tell,
} from './simulated-world.ts'
import { checkPages } from './check-pages.ts'
import type { SimulatedServer } from './simulated-front.ts'
import type { StoreLink } from './store-link.ts'
import { createStoreLink } from './store-link.ts'

interface Peer {
  /** This process's part of the world; the rest is shared. */
  readonly world: SimulatedWorld
  readonly link: StoreLink
  /** Set while a request to this host for the session is unanswered. */
  asked: Host | undefined
}

interface Peers {
  readonly base: SimulatedWorld
  readonly all: readonly Peer[]
  readonly watch: OwnershipWatch
  readonly leaseMs: number
  hasHealed: boolean
  /** When unanswered inputs were last sent again. */
  sentAgainMs: number
}

/** A cut may last for 30 s; then pending writes are stored. */
const STORING_MS = 60_000
/** Milliseconds between two checks for sessions without an owner. */
const RECOVER_MS = 2000
const MINUTE_MS = 60_000
/** Users of a healed world resend unanswered inputs after this many milliseconds. */
const AGAIN_MS = 5000

/** @throws SimulationError if an invariant is broken or the session does not come to rest */
export async function simulateTwoProcesses(options: SimulateOptions): Promise<SimulatedWorld> {
  const peers = createPeers(options)
  const { base } = peers
  const { time, random, observed, story } = base
  try {
    for (const peer of peers.all) await bootPeer(peers, peer)
    for (let pages = options.pages ?? 0; pages > 0; pages--) base.pages.push(openPage(base, () => listRouted(peers)))
    for (let action = options.actions ?? 60; action > 0; action--) {
      await actSomewhere(peers)
      await time.runUntil(time.nowMs() + random.below(random.chance(0.5) ? 300 : 2500))
      for (const peer of peers.all) if (!peer.world.process.isAlive() && random.chance(0.4)) await bootPeer(peers, peer)
      if (observed.failure) throw observed.failure
      await checkInbox(base)
    }
    await healPeers(peers)
    await checkInbox(base)
    const owner = peers.all.find(({ world }) => world.session)
    await checkPages(owner?.world ?? base)
    checkEnd(base)
    await peers.watch.checkLogs(base.disk, new Map([[SESSION, observed], ...base.below]))
  } catch (cause) {
    throw new SimulationError(options, story, cause, ' --processes 2')
  }
  return base
}

function createPeers(options: SimulateOptions): Peers {
  const base = createSimulatedWorld({ ...options, storingMs: STORING_MS })
  const { time, random, coverage, observed } = base
  const leaseMs = random.pick([4000, 10_000])
  const disk = createMemoryStore({ clock: { nowMs: () => time.nowMs() }, leaseMs })
  const watch = new OwnershipWatch({
    root: SESSION,
    working: (session) => base.watch.of(session).running(),
    fail: (failure) => (observed.failure ??= failure),
    onMove: () => noteFault(coverage, 'move', observed.state),
  })
  const isForwarding = random.chance(0.5)
  const create = (name: string): Peer => {
    const link = createStoreLink(time, random)
    const world: SimulatedWorld = {
      ...base,
      name: `${name}: `,
      time: time.seeFromElsewhere(random.pick([0, 30_000, -30_000, 3_600_000, -86_400_000])),
      reachDisk: (_, onStored) => link.reach(watch.observe(name, disk, onStored)),
      address: isForwarding ? `ws://${name}` : undefined,
      crash: () => killProcess(world),
      onDeath: () => noteFault(coverage, 'kill', observed.state),
      onOpen: (session) => void follow(world, session).catch(() => {}),
      onAnswer: (input, outcome) => watch.noteAnswer(input, outcome),
      onRejection: (session) => leaveSession(world, session),
    }
    return { world, link, asked: undefined }
  }
  return { base: { ...base, disk }, all: [create('a'), create('b')], watch, leaseMs, hasHealed: false, sentAgainMs: 0 }
}

async function bootPeer(peers: Peers, peer: Peer): Promise<void> {
  const { world, link } = peer
  const { random, time } = world
  link.mend()
  const { process, host } = startHost(world)
  if (world.faults.on && random.chance(0.15)) process.killAfter(random.below(8))
  tell(world, 'a process begins')
  host.recover({ everyMs: RECOVER_MS }).catch((cause: unknown) => tell(world, `it finds no sessions: ${String(cause)}`))
  if (random.chance(0.5)) visit(peers, peer)
  await time.runUntil(time.nowMs() + 50)
}

/**
 * Servers that a page may reach. If they do not pass connections on, a router in front of them learns who has the
 * session.
 */
function listRouted({ all, hasHealed }: Peers): readonly SimulatedServer[] {
  const owner = all.find(({ world }) => world.session)
  const worlds = hasHealed && owner?.world.address === undefined && owner ? [owner] : all
  return worlds.flatMap(({ world }) => listServers(world))
}

async function actSomewhere(peers: Peers): Promise<void> {
  const { random } = peers.base
  const open = peers.all.filter(({ world }) => world.session)
  const peer = random.pick(open.length > 0 && random.chance(0.8) ? open : peers.all)
  if (random.chance(0.2)) visit(peers, peer)
  else if (random.chance(0.1)) cut(peers, peer)
  else if (peer.world.process.isAlive()) await act(peer.world)
}

/** The process cannot reach the store for a while, possibly longer than its lease. */
function cut({ base, leaseMs }: Peers, { world, link }: Peer): void {
  const { random, time, coverage, observed } = base
  if (link.isCut()) return
  const how = random.pick(['fails', 'hangs'] as const)
  const ms = random.pick([500, leaseMs / 2, leaseMs * 1.5, leaseMs * 3])
  tell(world, `its store cannot be reached for ${ms} ms (${how})`)
  noteFault(coverage, `partition-${how}`, observed.state)
  link.cut(how)
  time.timers.start(ms, () => link.mend())
}

/** A user asks this process for the session; if another one holds it, they go there or retry. */
function visit(peers: Peers, peer: Peer): void {
  const { world } = peer
  const { host, process, random, time, coverage, observed } = world
  if (!host || !process.isAlive() || world.session || peer.asked === host) return
  peer.asked = host
  const answered = (): boolean => {
    if (peer.asked === host) peer.asked = undefined
    return world.host === host && process.isAlive()
  }
  host.session(SESSION, { principal: { id: 'ann' } }).then(
    (session) => {
      if (!answered()) return
      tell(world, 'the session is open here')
      holdSession(world, session)
    },
    (cause: unknown) => {
      if (!answered()) return
      tell(world, `the session does not open: ${String(cause)}`)
      if (isBatonError(cause) && cause.code === 'session_held') noteFault(coverage, 'held', observed.state)
      const next = random.pick(peers.all)
      const isNeeded = (): boolean => peers.all.every((one) => !one.world.session)
      time.timers.start(random.below(3000), () => {
        if (isNeeded() || (!peers.hasHealed && random.chance(0.5))) visit(peers, next)
      })
    },
  )
}

/** Follows the session until it is closed here. */
async function follow(world: SimulatedWorld, session: Session): Promise<void> {
  const events = session.events()
  while ((await events.nextBatch()) !== undefined);
  leaveSession(world, session)
}

function leaveSession(world: SimulatedWorld, session: Session): void {
  if (world.session !== session) return
  tell(world, 'the session is closed here')
  world.session = undefined
  for (const device of world.devices) if (device !== world.voice.speaker && device.isOpen()) device.drop()
  session.close().catch(() => {})
}

async function healPeers(peers: Peers): Promise<void> {
  const { base, all } = peers
  const { time } = base
  peers.hasHealed = true
  for (const { world, link } of all) {
    link.mend()
    await heal(world)
  }
  const tend = () => tendPeers(peers)
  await rest(base, tend)
  base.voice.speaker?.drop() // after a reported failure, it retries when it reconnects
  // The app processes what it received: every answer is played to the end.
  const play = async (): Promise<void> => {
    for (const untilMs = time.nowMs() + (base.pages.length > 0 ? 3 : 10) * MINUTE_MS; time.nowMs() < untilMs;) {
      await tend()
      if (!(await time.runNext(untilMs))) break
    }
  }
  await play()
  if (base.office) {
    base.office.isClosed = true
    await rest(base, tend)
    await play()
  }
  await rest(base, tend)
}

/** Keeps both processes alive, the session open in one of them, and its devices connected. */
async function tendPeers(peers: Peers): Promise<void> {
  const { all, base } = peers
  for (const peer of all) if (!peer.world.process.isAlive()) await bootPeer(peers, peer)
  const owner = all.find(({ world }) => world.session)
  if (!owner) {
    if (all.every(({ asked, world }) => asked !== world.host)) visit(peers, base.random.pick(all))
    return
  }
  const { world } = owner
  const { devices, voice } = world
  await settleDown(world)
  if (!devices.some((device) => device !== voice.speaker && device.isOpen())) connect(world, 2)
  if (!voice.speaker?.isOpen() || !devices.includes(voice.speaker)) connect(world, 1)
  if (world.time.nowMs() - peers.sentAgainMs > AGAIN_MS) {
    peers.sentAgainMs = world.time.nowMs()
    for (const input of world.unanswered.values()) send(world, input)
  }
}
