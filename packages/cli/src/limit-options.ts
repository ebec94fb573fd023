// The limits of a server that a person may set, by their names, each with the values that make sense.
import type { V1Limits } from '@baton/server/websocket'
import { UsageError } from './usage-error.ts'

const DAY_MS = 86_400_000
const MIB = 1024 * 1024

/** The least and the most. Their meaning and defaults stand in docs/serving.md. */
export const LIMIT_BOUNDS: Readonly<Record<keyof V1Limits, readonly [least: number, most: number]>> = {
  eventBytes: [1, MIB],
  resultBytes: [1, 16 * MIB],
  socketBytes: [1024, 64 * MIB],
  outgoingBytes: [64 * 1024, 256 * MIB],
  incomingFrames: [1, 100_000],
  incomingChars: [1024, 256 * MIB],
  partialMs: [1, 10_000],
  startMs: [100, DAY_MS],
  heldMs: [0, 300_000],
  heartbeatMs: [100, DAY_MS],
  idleMs: [1000, DAY_MS],
  connections: [1, 1_000_000],
  addressConnections: [1, 1_000_000],
  principalConnections: [1, 1_000_000],
  addressSessionsPerMinute: [1, 1_000_000],
  addressBytesPerMinute: [MIB, 1024 * MIB],
  addressTurns: [1, 1_000_000],
  principalTurns: [1, 1_000_000],
  sessionFramesPerMinute: [1, 1_000_000],
  sessionTranscriptsPerMinute: [1, 1_000_000],
  addressFramesPerMinute: [1, 1_000_000],
}

/** @throws UsageError for an entry that is no `name=number` of a limit, or out of its bounds */
export function readLimits(entries: readonly string[]): Partial<V1Limits> {
  const limits: { -readonly [Name in keyof V1Limits]?: number } = {}
  for (const entry of entries) {
    const at = entry.indexOf('=')
    const name = at < 0 ? entry : entry.slice(0, at)
    if (at < 0 || !isLimit(name)) {
      const names = Object.keys(LIMIT_BOUNDS).join(', ')
      throw new UsageError(`--limit must be name=number with one of the names ${names}, not "${entry}"`)
    }
    limits[name] = wholeNumber(entry.slice(at + 1), `--limit ${name}`, LIMIT_BOUNDS[name])
  }
  return limits
}

function isLimit(name: string): name is keyof V1Limits {
  return Object.hasOwn(LIMIT_BOUNDS, name)
}

/** @throws UsageError */
export function wholeNumber(text: string, what: string, [least, most]: readonly [number, number]): number {
  const value = Number(text)
  if (/^\d{1,10}$/.test(text) && value >= least && value <= most) return value
  throw new UsageError(`${what} must be a number from ${least} to ${most}, not "${text}"`)
}
