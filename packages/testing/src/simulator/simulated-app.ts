// A version 1 voice app in the simulation: processes its frames strictly in order, ignores frames with a known id, runs
// tools, and talks to the real front over a network that delays and breaks.
import type { Host, Logger } from '@baton/core'
import type { Random } from '@baton/core/testing'
import { openV1Connection, DEFAULT_CONNECTION_LIMITS } from '@baton/server/internal'
import type { ClientFrame, ServerFrame } from '@baton/protocol'
import { decodeServerFrame, encodeFrame } from '@baton/protocol'
import type { SimulatedProcess } from './process.ts'
import type { Effects } from './simulated-agent.ts'
import type { SimulatedDevice } from './simulated-device.ts'
import { createNetwork } from './simulated-network.ts'
import type { VirtualTime } from './virtual-time.ts'

/** State that an app keeps across its connections. */
export interface AppMemory {
  readonly seen: Set<string>
  /** Results by call id: a call that is delivered twice runs once. */
  readonly results: Map<string, string>
  /** The last state shown on its screen; an app must never be left thinking. */
  screen: string
  readonly spoken: string[]
  /** The user's messages by frame id, until the app is shown them, which means that the server has them. */
  readonly said: Map<string, string>
}

export function createAppMemory(): AppMemory {
  return { seen: new Set(), results: new Map(), screen: 'idle', spoken: [], said: new Map() }
}

export interface AppOptions {
  readonly host: Host
  readonly session: string
  readonly connection: string
  readonly process: SimulatedProcess
  readonly time: VirtualTime
  readonly random: Random
  readonly memory: AppMemory
  readonly effects: Effects
  readonly newId: () => string
  readonly onFault: (fault: string) => void
  readonly faulty: () => boolean
}

const RETRY_MS = 1000
const RETRIES = 5

/** An app through which its user also speaks. */
export interface SimulatedApp extends SimulatedDevice {
  say(text: string): void
  interrupt(): void
}

export function openApp(init: AppOptions): SimulatedApp {
  const { time, random, process, connection, memory } = init
  const network = createNetwork(init)
  openV1Connection({
    socket: network.socket,
    connection,
    host: init.host,
    principal: { id: 'ann' },
    clock: time.clock,
    timers: { start: process.start },
    newId: init.newId,
    log: SILENT,
    limits: DEFAULT_CONNECTION_LIMITS,
    isDraining: () => false,
  })

  const send = (type: ClientFrame['type'], payload: Record<string, unknown>, id = init.newId()): void => {
    const timestamp = new Date(time.nowMs()).toISOString()
    const envelope = { id, sessionId: init.session, timestamp }
    // The payloads match their types.
    network.sendToServer(encodeFrame({ ...envelope, type, payload } as Parameters<typeof encodeFrame>[0]))
  }

  const work = async (frame: ServerFrame): Promise<void> => {
    if (memory.seen.has(frame.id)) return
    memory.seen.add(frame.id)
    if (frame.type !== 'tool.call') return
    const { callId, name } = frame.payload
    const result = await runTool(init, frame.payload)
    if (init.faulty() && random.chance(0.1)) {
      init.onFault('result-lost')
      return
    }
    send('tool.result', { callId, result, error: null })
    if (init.faulty() && random.chance(0.1)) {
      init.onFault('result-repeated')
      send('tool.result', { callId, result: `${name} again`, error: null })
    }
  }

  let line = Promise.resolve()
  let retries = 0
  network.onFrame((text) => {
    const decoded = decodeServerFrame(text)
    if (!decoded.ok || !decoded.frame) throw new Error(`the front wrote an invalid frame: ${text}`)
    const { frame } = decoded
    // A stopped session refuses what its user says: the app tries again a few times.
    if (frame.type === 'error' && frame.payload.code === 'session_stopped' && retries < RETRIES) {
      retries += 1
      time.timers.start(RETRY_MS, () => void (network.isOpen() && sayAllAgain()))
    }
    line = line.then(() => (network.isOpen() ? work(frame) : undefined))
  })
  const sayAgain = ([id, text]: readonly [string, string]): void => send('user.audio.transcript.final', { text }, id)
  send('session.start', { sessionId: init.session })
  // Messages that the server may not have are sent again with their old ids.
  const sayAllAgain = (): void => [...memory.said].forEach(sayAgain)
  sayAllAgain()
  return {
    connection,
    isOpen: network.isOpen,
    drop: network.drop,
    say: (text) => {
      const said = [init.newId(), text] as const
      memory.said.set(...said)
      sayAgain(said)
    },
    interrupt: () => send('audio.output.interrupted', { reason: 'barge_in' }),
  }
}

/** Display tools change the app; the model's tools take effect in the world. */
async function runTool(
  init: AppOptions,
  call: { readonly callId: string; readonly name: string; readonly arguments: string },
): Promise<string> {
  const { memory, time, random, effects } = init
  const known = memory.results.get(call.callId)
  if (known !== undefined) return known
  if (call.name === 'convo.setState') memory.screen = (JSON.parse(call.arguments) as { state: string }).state
  else if (call.name === 'convo.appendMessage') {
    const { role, text } = JSON.parse(call.arguments) as { role: string; text: string }
    const [id] = [...memory.said].find(([, said]) => role === 'user' && said === text) ?? []
    if (id !== undefined) memory.said.delete(id)
  } else if (call.name === 'tts.speak') {
    memory.spoken.push(call.callId)
    await time.wait(random.below(1200))
  } else if (!call.name.startsWith('convo.')) {
    const effect = effects.get(call.callId) ?? { tool: call.name, starts: 0 }
    effects.set(call.callId, { ...effect, starts: effect.starts + 1 })
    memory.results.set(call.callId, `${call.name} done`)
    await time.wait(random.below(1500))
  }
  return `${call.name} done`
}

const SILENT: Logger = { info: () => {}, warn: () => {} }
