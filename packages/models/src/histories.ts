// Histories on the wire: a request encodes the messages that are new, and has the others from the request before.
import type { Message } from '@baton/core'
import { createPrefixCache } from './prefix-cache.ts'

/** Encodes one history, message after message. */
export interface HistoryEncoder<Wire> {
  add(message: Message): void
  /** All that was added, on the wire. What did not change since the last time is the same objects. */
  wire(): readonly Wire[]
}

export interface Histories<Wire> {
  /**
   * The messages on the wire.
   * @param key all that the encoding depends on beside the messages
   */
  encode(messages: readonly Message[], key: string, create: () => HistoryEncoder<Wire>): readonly Wire[]
}

export function createHistories<Wire>(): Histories<Wire> {
  const prefixes = createPrefixCache<Message, HistoryEncoder<Wire>>()
  return {
    encode(messages, key, create) {
      const { items, value: encoder } = prefixes.take(messages, key) ?? { items: [], value: create() }
      for (const message of messages.slice(items.length)) encoder.add(message)
      // A copy: the caller may go on with the same array.
      prefixes.keep({ items: [...messages], value: encoder }, key)
      return encoder.wire()
    },
  }
}
