// A network between an app and a server in the simulation: it delays, and breaks.
import type { Random } from '@baton/core/testing'
import type { Socket } from '@baton/server/websocket'
import { DEFAULT_CONNECTION_LIMITS } from '@baton/server/websocket'
import type { VirtualTime } from './virtual-time.ts'

export interface NetworkOptions {
  readonly time: VirtualTime
  readonly random: Random
  readonly faulty: () => boolean
  readonly onFault: (fault: string) => void
}

export interface SimulatedNetwork {
  readonly socket: Socket
  sendToServer(text: string): void
  onFrame(listener: (text: string) => void): void
  isOpen(): boolean
  /** Breaks the connection; the app and the server notice it sooner or later. */
  drop(): void
  onDrop(listener: () => void): void
}

/** Both directions preserve order, like TCP; data in transit when the connection breaks is lost. */
export function createNetwork({ time, random, faulty, onFault }: NetworkOptions): SimulatedNetwork {
  let open = true
  /** An app that does not read: data sent to it piles up. */
  const stuck = faulty() && random.chance(0.05)
  let toServer: (text: string | undefined) => void = () => {}
  let toApp: (text: string) => void = () => {}
  let serverClosed: () => void = () => {}
  let appClosed: () => void = () => {}
  const due = { server: 0, app: 0 }
  const deliver = (end: 'server' | 'app', act: () => void): void => {
    due[end] = Math.max(due[end], time.nowMs() + random.below(80))
    time.timers.start(due[end] - time.nowMs(), () => {
      if (open) act()
    })
  }
  const drop = (): void => {
    if (!open) return
    open = false
    time.timers.start(random.below(3000), () => serverClosed())
    time.timers.start(random.below(3000), () => appClosed())
  }
  return {
    socket: {
      send: (text) => {
        if (open && !stuck) deliver('app', () => toApp(text))
        return open
      },
      close: drop,
      bufferedBytes: () => {
        if (stuck) onFault('slow-client')
        return stuck ? DEFAULT_CONNECTION_LIMITS.outgoingBytes + 1 : 0
      },
      onMessage: (listener) => {
        toServer = listener
      },
      onClose: (listener) => {
        serverClosed = listener
      },
    },
    sendToServer: (text) => deliver('server', () => toServer(text)),
    onFrame: (listener) => {
      toApp = listener
    },
    isOpen: () => open,
    drop,
    onDrop: (listener) => {
      appClosed = listener
    },
  }
}
