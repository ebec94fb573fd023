// Constants of wire version 2. Session events are sent unchanged.

/**
 * The WebSocket subprotocol that a connection of this version offers; a connection without a subprotocol uses version
 * 1.
 */
export const SUBPROTOCOL = 'baton.v2'
export const PROTOCOL_VERSION_2 = 2

/** Close codes of version 2, in addition to those of RFC 6455. */
export const CLOSE_CODES_2 = {
  /** The token or the principal of this connection is no longer valid. */
  unauthorized: 4401,
  /** Another connection has attached a device with the same name. */
  deviceTaken: 4409,
} as const

export type Fields = Readonly<Record<string, unknown>>

/** Whether the value is an object or a list. */
export const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null

/** The fields of a JSON object; undefined for other text. */
export function parseObject(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && !Array.isArray(value) ? (value as Fields) : undefined
  } catch {
    return undefined
  }
}
