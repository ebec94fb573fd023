// The client's needs of the platform, as separate small interfaces: browsers and Node implement them, tests provide
// fakes.

/** The part of the web's WebSocket that the client uses. */
export interface WebSocketLike {
  send(text: string): void
  close(code?: number, reason?: string): void
  onopen: ((event: never) => void) | null
  onmessage: ((event: never) => void) | null
  onclose: ((event: never) => void) | null
  onerror: ((event: never) => void) | null
}

export interface World {
  /** `protocol`: the WebSocket subprotocol to offer. */
  openSocket(url: string, protocol?: string): WebSocketLike
  nowMs(): number
  /** Runs `callback` once, after `delayMs`; the returned function cancels it. */
  start(delayMs: number, callback: () => void): () => void
  /** In [0, 1). */
  random(): number
  newId(): string
  /** HTTP status of a plain request to the WebSocket's address; undefined without a response. Never rejects. */
  probe?(url: string): Promise<number | undefined>
  /** Calls back whenever the machine is online again; the returned function unsubscribes. */
  onOnline?(callback: () => void): () => void
}

interface Platform {
  readonly fetch: (url: string, init: object) => Promise<{ readonly status: number }>
  readonly WebSocket: new (url: string, protocol?: string) => WebSocketLike
  readonly crypto: { randomUUID(): string }
  readonly setTimeout: (callback: () => void, delayMs: number) => unknown
  readonly clearTimeout: (timer: unknown) => void
  readonly addEventListener?: (name: string, listener: () => void) => void
  readonly removeEventListener?: (name: string, listener: () => void) => void
}

/** The world of a browser or of Node 22 and newer. */
export function platformWorld(): World {
  // Both have these globals; neither's types are loaded here.
  const platform = globalThis as unknown as Platform
  return {
    openSocket: (url, protocol) => new platform.WebSocket(url, protocol),
    nowMs: () => Date.now(),
    start: (delayMs, callback) => {
      const timer = platform.setTimeout(callback, delayMs)
      return () => platform.clearTimeout(timer)
    },
    random: () => Math.random(),
    newId: () => platform.crypto.randomUUID(),
    probe: async (url) => {
      try {
        return (await platform.fetch(url.replace(/^ws/, 'http'), { cache: 'no-store', redirect: 'manual' })).status
      } catch {
        return undefined
      }
    },
    onOnline: (callback) => {
      platform.addEventListener?.('online', callback)
      return () => platform.removeEventListener?.('online', callback)
    },
  }
}
