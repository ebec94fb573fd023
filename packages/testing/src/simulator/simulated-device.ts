// A user's device: runs client tools over a network that delays, loses, repeats and breaks.
import type { FrontSession } from '@baton/core/internal'
import type { ClientToolSpec } from '@baton/core/machine'
import type { Random } from '@baton/core/testing'
import type { Effects } from './simulated-agent.ts'
import type { VirtualTime } from './virtual-time.ts'

/** A device's results by call id, including earlier connections: a call delivered twice runs once on it. */
export type DeviceMemory = Map<string, string>

export interface SimulatedDevice {
  readonly connection: string
  /** Absent for the app, which has a different kind of memory. */
  readonly memory?: DeviceMemory
  /** Breaks the connection; the host notices later, or never if it dies first. */
  drop(): void
  isOpen(): boolean
}

export interface DeviceOptions {
  readonly session: FrontSession
  readonly connection: string
  /** Milliseconds. If set, it has no connection that could break, and holds its place by a lease. */
  readonly leaseMs?: number
  /** Names of the agents' client tools that it runs; those of its session's agent by default. */
  readonly tools?: readonly string[]
  /** Whether it provides its own tool. */
  readonly brings: boolean
  readonly time: VirtualTime
  readonly random: Random
  readonly effects: Effects
  readonly memory: DeviceMemory
  readonly onFault: (fault: string) => void
  readonly faulty: () => boolean
}

export function openDevice(init: DeviceOptions): SimulatedDevice {
  const { session, connection, leaseMs, tools, time, random } = init
  let open = true
  const events = session.events({ delivery: true })
  const principal = 'ann'
  const can = { ...ABILITIES, ...(leaseMs && { leaseMs }), ...(tools && { tools }) }
  const attach = (): void => {
    const attached = session.submit({ type: 'client-attached', connection, principal, ...can })
    attached.catch(() => {}) // a dead host answers nothing
  }
  attach()
  if (init.brings) session.submit({ type: 'client-tools', connection, tools: [OWN_TOOL] }).catch(() => {})
  if (leaseMs !== undefined) keepRenewing(init, leaseMs, () => open && attach())

  const serve = async (): Promise<void> => {
    for await (const event of events) {
      if (!open) return
      if (event.type === 'call-offered' && event.client === connection) run(event.callId, event.offer).catch(() => {})
    }
    open = false // the session is closed here
  }

  const run = async (callId: string, offer: number): Promise<void> => {
    const call = session.openCall(callId)
    if (!call) return
    await time.wait(random.below(200))
    if (!open) return
    if (!(await claimed(init, callId, offer))) return
    const known = init.memory.get(callId)
    if (known === undefined) {
      const effect = init.effects.get(callId) ?? { tool: call.name, starts: 0 }
      if (effect.starts > 0) init.onFault('second-device')
      init.effects.set(callId, { ...effect, starts: effect.starts + 1 })
      init.memory.set(callId, `${call.name} done`)
    }
    await time.wait(random.below(1500))
    await answer(callId)
  }

  const answer = async (callId: string): Promise<void> => {
    if (init.faulty() && random.chance(0.15)) {
      init.onFault('result-lost')
      return
    }
    const times = init.faulty() && random.chance(0.2) ? 2 : 1
    if (times > 1) init.onFault('result-repeated')
    const outcome = { type: 'ok', content: [{ type: 'text', text: init.memory.get(callId) ?? '' }] } as const
    for (let time = 0; time < times && open; time++)
      await session.submit({ type: 'tool-result', callId, connection, outcome }).catch(() => {})
  }

  serve().catch(() => {})
  return {
    connection,
    memory: init.memory,
    isOpen: () => open,
    drop: () => {
      open = false
      if (leaseMs !== undefined) return // unnoticed, until its lease ends
      time.timers.start(random.below(3000), () => {
        session.submit({ type: 'client-detached', connection }).catch(() => {})
      })
    },
  }
}

/** Eventually it is forgotten, like a background tab, and its lease expires. */
function keepRenewing({ time, random }: DeviceOptions, leaseMs: number, renew: () => void): void {
  let left = random.below(12)
  const next = (): void => {
    if (left <= 0) return
    left -= 1
    renew()
    time.timers.start(leaseMs / 2, next)
  }
  time.timers.start(leaseMs / 2, next)
}

const ABILITIES = { sequential: false, claims: true, reportsPlayback: true, asks: true }

const OWN_TOOL: ClientToolSpec = {
  name: 'phone.own',
  description: 'what only this device can do',
  inputSchema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
  effect: 'once',
  runs: 'client',
  timeoutMs: 5000,
  parallel: true,
  onInterrupt: 'finish',
}

async function claimed({ session, connection }: DeviceOptions, callId: string, offer: number): Promise<boolean> {
  const outcome = await session.submit({ type: 'call-claimed', callId, connection, offer }).catch(() => undefined)
  return outcome?.type === 'accepted'
}
