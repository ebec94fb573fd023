// Voice apps on an in-memory connection: one speaks version 1, one version 2. Both run the client tool.
import type { JsonObject } from '@baton/core'
import type { ToolCallPayload } from '@baton/protocol'
import type { AppConnectionOptions, MemorySocket } from '@baton/server/internal'
import {
  createMemorySocket,
  DEFAULT_CONNECTION_LIMITS,
  DeviceNames,
  openV1Connection,
  openV2Connection,
} from '@baton/server/internal'
import type { ContractWorld } from '../host-contract/host-kind.ts'
import type { Cell } from './cells.ts'

export interface BargeApp {
  /** Sends a message without interrupting. */
  say(text: string): Promise<void>
  /** Interrupts the voice, which has played this many words, with a message. */
  interrupt(text: string): Promise<void>
  /** Ends the client tool, if this app has started it. */
  finishTool(): Promise<void>
  /** How often this app has started the client tool. */
  readonly runs: () => number
  /** Rejections received. */
  readonly errors: () => readonly string[]
  /** Sentences given to the voice. */
  readonly spoken: () => readonly string[]
}

type Frame = JsonObject & { readonly type: string }

function connect(world: ContractWorld, open: (init: AppConnectionOptions) => void): MemorySocket {
  const memory = createMemorySocket()
  const { clock, timers } = world.time
  let ids = 0
  open({
    clock,
    timers,
    newId: () => `front-${(ids += 1)}`,
    socket: memory.socket,
    connection: `connection-${world.session}`,
    host: world.host,
    principal: { id: 'anonymous' },
    log: { info: () => {}, warn: () => {} },
    limits: { ...DEFAULT_CONNECTION_LIMITS, sessionFramesPerMinute: 10_000, addressFramesPerMinute: 10_000 },
    isDraining: () => false,
  })
  return memory
}

/** Reads frames and handles each new one. */
function readFrames(memory: MemorySocket, take: (frame: Frame) => void): () => void {
  let read = 0
  return () => {
    for (; read < memory.sent.length; read++) take(JSON.parse(memory.sent[read] ?? '{}') as Frame) // written by a front
  }
}

export function openV2App(world: ContractWorld, { tool, phase, played }: Cell): BargeApp {
  const memory = connect(world, (init) => openV2Connection({ ...init, allow: {}, deviceNames: new DeviceNames() }))
  const errors: string[] = []
  const spoken: string[] = []
  let serial = 0
  let runs = 0
  let offered: string | undefined
  const send = (type: string, given: object): void =>
    memory.deliver(JSON.stringify({ id: `r${(serial += 1)}`, type, ...given }))
  const read = readFrames(memory, (frame) => {
    if (frame.type === 'error') errors.push(JSON.stringify(frame))
    if (frame.type === 'sentence') spoken.push(frame['text'] as string)
    if (frame.type === 'ok' && 'call' in frame) runs += 1
    for (const event of (frame['events'] ?? []) as readonly Frame[]) if (event.type === 'call') takeCall(event)
  })
  const takeCall = ({ call }: Frame): void => {
    const { callId, status, runs: by } = call as Readonly<Record<'callId' | 'status' | 'runs', string>>
    if (status !== 'waiting' || by !== 'client') return
    offered = callId
    if (phase === 'claimed') send('call.claim', { callId: offered })
  }
  const pass = async (ms = 0): Promise<void> => {
    await world.time.pass(ms)
    read()
    await world.time.pass(ms)
    read()
  }
  send('session.open', {
    session: world.session,
    speech: true,
    device: { name: 'app', runs: tool === 'client' ? ['act'] : [], asks: true },
  })
  const words = { type: 'words', words: played, message: 't1' }
  return {
    say: async (content) => {
      send('input.send', { input: `said ${content}`, content })
      await pass()
    },
    // Both ways report what was heard.
    interrupt: async (content) => {
      read()
      await pass()
      if (played % 2 === 0) send('turn.interrupt', { heard: words })
      const how = played % 2 === 0 ? {} : { delivery: 'interrupt', heard: words }
      send('input.send', { input: `said ${content}`, content, ...how })
      await pass()
    },
    finishTool: async () => {
      if (runs > 0) send('call.result', { callId: offered, outcome: { output: 'booked' } })
      await pass()
    },
    runs: () => runs,
    errors: () => errors,
    spoken: () => spoken,
  }
}

/** Follows the server's speech requests but cannot report how much was heard. */
export function openV1App(world: ContractWorld): BargeApp {
  const memory = connect(world, openV1Connection)
  const errors: string[] = []
  const spoken: string[] = []
  let serial = 0
  let callId: string | undefined
  const send = (type: string, payload: object): void => {
    const id = `f${(serial += 1)}`
    const timestamp = new Date(world.time.clock.nowMs()).toISOString()
    memory.deliver(JSON.stringify({ id, type, sessionId: world.session, timestamp, protocolVersion: 1, payload }))
  }
  const read = readFrames(memory, ({ type, payload }) => {
    if (type === 'error') errors.push(JSON.stringify(payload))
    if (type !== 'tool.call') return
    const call = payload as unknown as ToolCallPayload
    if (call.name === 'act') callId = call.callId
    else if (call.name === 'tts.speak') spoken.push(call.arguments)
    // A speech has not ended when the user interrupts it.
    else send('tool.result', { callId: call.callId, result: '{"ok":true}' })
  })
  const pass = async (): Promise<void> => {
    for (let times = 0; times < 4; times++) {
      await world.time.pass(0)
      read()
    }
  }
  send('session.start', { sessionId: world.session })
  return {
    say: async (text) => {
      send('user.audio.transcript.final', { text })
      await pass()
    },
    interrupt: async (text) => {
      await pass()
      send('audio.output.interrupted', { reason: 'barge_in' })
      send('user.audio.transcript.final', { text })
      await pass()
    },
    finishTool: async () => {
      if (callId !== undefined) send('tool.result', { callId, result: '"booked"' })
      await pass()
    },
    runs: () => (callId === undefined ? 0 : 1),
    errors: () => errors,
    spoken: () => spoken,
  }
}
