// The bus over Redis: a channel for each session, and one text for each attempt that is being written. It holds nothing that
// cannot be lost.
import type { LiveFrame, Logger } from '@baton/core'
import { createClient } from 'redis'
import type { BusMessage, LiveBus } from './live-bus.ts'

export interface RedisBusInit {
  /** `redis://host:6379`, or `rediss://` over TLS. */
  readonly url: string
  /** Before every channel and key; `baton` by default. */
  readonly prefix?: string
  readonly log: Logger
}

/** Seconds that the text of an attempt is kept after its newest piece. */
const KEPT_SECONDS = 900
/** Bytes of the text that is kept of one attempt. */
const KEPT_BYTES = 4 * 1024 * 1024
/** Milliseconds between two tries to connect, at most. */
const RECONNECT_MAX_MS = 2000

interface Listener {
  readonly onMessage: (message: BusMessage) => void
  readonly onGap: () => void
}

/** Goes on without Redis where there is none, and comes back to it: then live text is what is lost. */
export async function connectRedisBus({ url, prefix = 'baton', log }: RedisBusInit): Promise<LiveBus> {
  const channelOf = (session: string): string => `${prefix}:session:${session}`
  const keyOf = (session: string, attempt: number): string => `${prefix}:said:${session}:${attempt}`
  const newestOf = (session: string): string => `${prefix}:attempt:${session}`
  const listeners = new Map<string, Set<Listener>>()
  let problem: string | undefined
  const socket = {
    reconnectStrategy: (tries: number) => Math.min(50 * 2 ** tries, RECONNECT_MAX_MS),
    connectTimeout: 5000,
  }
  // What cannot be sent now is of no use later.
  const writer = createClient({ url, socket, disableOfflineQueue: true })
  const reader = createClient({ url, socket })
  const note = (cause: unknown): void => {
    const why = cause instanceof Error ? cause.message : String(cause)
    if (problem === undefined) log.warn('Redis cannot be reached: live text is lost until it is back', { cause: why })
    problem = `Redis cannot be reached: ${why}`
  }
  for (const client of [writer, reader]) client.on('error', note)
  writer.on('ready', () => {
    if (problem !== undefined) log.info('Redis is back')
    problem = undefined
  })
  reader.on('ready', () => {
    for (const own of listeners.values()) for (const { onGap } of own) onGap()
  })
  const ignore = (): void => {}
  // The first connection is waited for, so that a start says what is wrong; it is no reason not to start.
  const connecting = [writer.connect(), reader.connect()]
  await Promise.race([
    Promise.allSettled(connecting),
    new Promise<void>((resolve) => void setTimeout(resolve, socket.connectTimeout).unref()),
  ])
  for (const one of connecting) one.catch(ignore)
  return {
    publish: (session, message) => {
      if (writer.isReady) writer.publish(channelOf(session), JSON.stringify(message)).catch(ignore)
    },
    subscribe: async (session, onMessage, onGap) => {
      const listener = { onMessage, onGap }
      const known = listeners.get(session)
      if (known) known.add(listener)
      else {
        const own = new Set([listener])
        listeners.set(session, own)
        const hear = (text: string): void => {
          const message = parseMessage(text)
          if (message) for (const one of own) one.onMessage(message)
        }
        // Without Redis it is subscribed as soon as that is back.
        const subscribed = reader.subscribe(channelOf(session), hear)
        subscribed.catch(ignore)
        if (reader.isReady) await subscribed.catch(ignore)
      }
      return () => {
        const own = listeners.get(session)
        own?.delete(listener)
        if (own?.size !== 0) return
        listeners.delete(session)
        reader.unsubscribe(channelOf(session)).catch(ignore)
      }
    },
    readAttempt: async (session) => {
      if (!writer.isReady) return []
      try {
        const attempt = await writer.get(newestOf(session))
        const text = attempt === null ? null : await writer.get(keyOf(session, Number(attempt)))
        return text === null ? [] : text.split('\n').flatMap(parseFrames)
      } catch {
        return []
      }
    },
    keepAttempt: (session, attempt, frames) => {
      if (!writer.isReady) return
      const key = keyOf(session, attempt)
      const line = `${JSON.stringify(frames)}\n`
      const kept = writer.multi().append(key, line).expire(key, KEPT_SECONDS)
      kept.set(newestOf(session), String(attempt), { expiration: { type: 'EX', value: KEPT_SECONDS } })
      kept.exec().then(([length]) => {
        if (Number(length) > KEPT_BYTES) writer.del(key).catch(ignore)
      }, ignore)
    },
    problem: () => problem,
    close: async () => {
      listeners.clear()
      writer.destroy()
      reader.destroy()
    },
  }
}

function parseMessage(text: string): BusMessage | undefined {
  try {
    return JSON.parse(text) as BusMessage // published by a worker or gateway of this prefix
  } catch {
    return undefined
  }
}

function parseFrames(line: string): readonly LiveFrame[] {
  try {
    return line === '' ? [] : (JSON.parse(line) as readonly LiveFrame[])
  } catch {
    return []
  }
}
