// Caches encoded histories: a request encodes only its new messages and reuses the rest from the previous request.
import type { Message } from '@baton/core'
import { createPrefixCache } from './prefix-cache.ts'

/** Encodes one history, message by message. */
export interface HistoryEncoder<Wire> {
  add(message: Message): void
  /** All added messages on the wire. Unchanged ones are the same objects as last time. */
  wire(): readonly Wire[]
}

export interface Histories<Wire> {
  /**
   * Returns the messages on the wire.
   * @param key everything else that the encoding depends on
   */
  encode(messages: readonly Message[], key: string, create: () => HistoryEncoder<Wire>): readonly Wire[]
}

export function createHistories<Wire>(): Histories<Wire> {
  const prefixes = createPrefixCache<Message, HistoryEncoder<Wire>>()
  return {
    encode(messages, key, create) {
      const { items, value: encoder } = prefixes.take(messages, key) ?? { items: [], value: create() }
      for (const message of messages.slice(items.length)) encoder.add(message)
      // A copy, because the caller may keep modifying the array.
      prefixes.keep({ items: [...messages], value: encoder }, key)
      return encoder.wire()
    },
  }
}
