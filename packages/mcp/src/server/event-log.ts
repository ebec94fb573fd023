// Stores the newest events for a 2025-11-25 client, up to a limit, so that it can continue after its connection broke.
import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server'

const EVENTS = 512
const CHARS = 1024 * 1024

interface Stored {
  readonly id: string
  readonly stream: string
  readonly message: JSONRPCMessage
  readonly chars: number
}

export class EventLog implements EventStore {
  #events: Stored[] = []
  #chars = 0
  #next = 0

  storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    const id = `${stream}_${(this.#next += 1)}`
    const chars = JSON.stringify(message).length
    this.#events.push({ id, stream, message, chars })
    this.#chars += chars
    // The newest event is always kept, whatever its size: it may be the result that the client waits for.
    while (this.#events.length > EVENTS || (this.#chars > CHARS && this.#events.length > 1))
      this.#chars -= this.#events.shift()?.chars ?? 0
    return Promise.resolve(id)
  }

  getStreamIdForEventId(id: string): Promise<string | undefined> {
    return Promise.resolve(this.#events.find((event) => event.id === id)?.stream)
  }

  /** Resolves with an empty string if the event is no longer stored. */
  async replayEventsAfter(
    lastId: string,
    { send }: { readonly send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const index = this.#events.findIndex(({ id }) => id === lastId)
    const last = this.#events[index]
    if (!last) return ''
    for (const { id, stream, message } of this.#events.slice(index + 1))
      if (stream === last.stream && Object.keys(message).length > 0) await send(id, message)
    return last.stream
  }
}
