// An app of version 2 on a connection without a network, for tests: the server's messages are read from a list.
import type { Agent, Store } from '@baton/core'
import { createHost, createNodeEnvironment } from '@baton/host'
import type { RequestType, Requests, V2ServerFrame } from '@baton/protocol'
import { SERVER_FRAME_2_SCHEMA } from '@baton/protocol'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { DEFAULT_CONNECTION_LIMITS } from './limits.ts'
import { createMemorySocket } from './memory-socket.ts'
import { openV2Connection } from './v2-connection.ts'
import { DeviceNames } from './v2-device.ts'
import type { V2ConnectionOptions } from './v2-state.ts'

const ajv = new Ajv2020({ allErrors: false, strict: false })
const isServerFrame = ajv.compile(SERVER_FRAME_2_SCHEMA)

/** Milliseconds until a waiting test fails. */
const DEADLINE_MS = 180_000

/** Runs everything that is ready, for this many turns of the event loop. */
export async function turnLoop(times: number): Promise<void> {
  for (let time = 0; time < times; time++) await new Promise((resolve) => setImmediate(resolve))
}

type MoreOptions = Partial<Pick<V2ConnectionOptions, 'allow' | 'clientModels'>>

/** A host behind connections without a network. */
export function openMemoryConnections(agent: Agent, store: Store, more: MoreOptions = {}) {
  const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) })
  const host = createHost({ environment, agent, store })
  const deviceNames = new DeviceNames()
  let connections = 0
  const open = () => {
    const memory = createMemorySocket()
    openV2Connection({
      ...environment,
      log: { info: () => {}, warn: () => {} },
      socket: memory.socket,
      connection: `c${++connections}`,
      host,
      principal: { id: 'anonymous' },
      limits: DEFAULT_CONNECTION_LIMITS,
      isDraining: () => false,
      allow: {},
      deviceNames,
      ...more,
    })
    return memory
  }
  return { open, stop: () => host.stop() }
}

export function startMemoryServer(agent: Agent, store: Store) {
  const { open, stop } = openMemoryConnections(agent, store)
  return { connect: () => createApp(open()), stop }
}

export type MemoryServer = ReturnType<typeof startMemoryServer>

function createApp(memory: ReturnType<typeof createMemorySocket>) {
  let requests = 0
  let read = 0
  const readFrame = (text: string): V2ServerFrame => {
    const frame = JSON.parse(text) as V2ServerFrame // validated in the next line
    if (!isServerFrame(frame)) throw new Error(`${ajv.errorsText(isServerFrame.errors)}: ${text}`)
    return frame
  }
  return {
    send: <Type extends RequestType>(type: Type, given: Requests[Type]['given']): void =>
      memory.deliver(JSON.stringify({ id: `r${++requests}`, type, ...given })),
    /** The next written frame, if there is one. */
    next: (): V2ServerFrame | undefined => {
      const text = memory.sent[read]
      if (text === undefined) return undefined
      read += 1
      return readFrame(text)
    },
    drop: () => memory.drop(),
  }
}

export type MemoryApp = ReturnType<typeof createApp>

/** Returns frames up to the wanted one. `step` is called while there are none. */
export async function readUntil(
  app: MemoryApp,
  isLast: (frame: V2ServerFrame) => boolean,
  step: () => Promise<void> | void = () => {},
): Promise<readonly V2ServerFrame[]> {
  const untilMs = Date.now() + DEADLINE_MS
  const frames: V2ServerFrame[] = []
  for (;;) {
    const frame = app.next()
    if (frame) {
      frames.push(frame)
      if (isLast(frame)) return frames
      continue
    }
    if (Date.now() > untilMs) throw new Error(`nothing came of it in time; last: ${JSON.stringify(frames.at(-1))}`)
    await step()
    await turnLoop(1)
  }
}

export function isAt(frame: V2ServerFrame, activity: 'idle' | 'waiting' | 'running'): boolean {
  return (
    frame.type === 'events' && frame.events.some((event) => event.type === 'session' && event.activity === activity)
  )
}
