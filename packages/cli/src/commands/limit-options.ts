// The server limits that can be set by name, each with its allowed values.
import { findNearName } from '@baton/core/internal'
import type { HttpLimits } from '@baton/server/internal'
import type { ConnectionLimits } from '@baton/server/internal'
import { UsageError } from '../words/usage-error.ts'

const DAY_MS = 86_400_000
const MIB = 1024 * 1024

/** Minimum and maximum. docs/serving.md describes them, with their defaults. */
export const LIMIT_BOUNDS: Readonly<Record<keyof ConnectionLimits, readonly [least: number, most: number]>> = {
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

/** The same for chats over HTTP, named `http.NAME`. docs/chat.md describes them, with their defaults. */
export const HTTP_LIMIT_BOUNDS: Readonly<Record<keyof HttpLimits, readonly [least: number, most: number]>> = {
  bodyBytes: [1024, 256 * MIB],
  waitingBytes: [64 * 1024, 256 * MIB],
  keepAliveMs: [100, DAY_MS],
  replayMs: [1, DAY_MS],
  streams: [1, 1_000_000],
  principalStreams: [1, 1_000_000],
  addressStreams: [1, 1_000_000],
  principalTurns: [1, 1_000_000],
  addressTurns: [1, 1_000_000],
  principalRequestsPerMinute: [1, 1_000_000],
  addressRequestsPerMinute: [1, 1_000_000],
  principalBytesPerMinute: [MIB, 8192 * MIB],
  addressBytesPerMinute: [MIB, 8192 * MIB],
}

export interface ReadLimits {
  readonly limits: Partial<ConnectionLimits>
  readonly httpLimits: Partial<HttpLimits>
}

/** @throws UsageError for an entry that is not `name=number` of a limit, or is out of range */
export function readLimits(entries: readonly string[]): ReadLimits {
  const limits: { -readonly [Name in keyof ConnectionLimits]?: number } = {}
  const httpLimits: { -readonly [Name in keyof HttpLimits]?: number } = {}
  for (const entry of entries) {
    const at = entry.indexOf('=')
    const [name, value] = at < 0 ? [entry, ''] : [entry.slice(0, at), entry.slice(at + 1)]
    const ofHttp = name.startsWith('http.') ? name.slice('http.'.length) : undefined
    if (at >= 0 && isLimit(LIMIT_BOUNDS, name)) limits[name] = wholeNumber(value, `--limit ${name}`, LIMIT_BOUNDS[name])
    else if (at >= 0 && ofHttp !== undefined && isLimit(HTTP_LIMIT_BOUNDS, ofHttp))
      httpLimits[ofHttp] = wholeNumber(value, `--limit ${name}`, HTTP_LIMIT_BOUNDS[ofHttp])
    else throw createUnknownLimit(entry)
  }
  return { limits, httpLimits }
}

function isLimit<Name extends string>(bounds: Readonly<Record<Name, unknown>>, name: string): name is Name {
  return Object.hasOwn(bounds, name)
}

function createUnknownLimit(entry: string): UsageError {
  const names = [...Object.keys(LIMIT_BOUNDS), ...Object.keys(HTTP_LIMIT_BOUNDS).map((name) => `http.${name}`)]
  const [name = ''] = entry.split('=')
  const near = entry === name ? undefined : findNearName(names, name)
  if (near !== undefined) return new UsageError(`--limit has no "${name}", did you mean ${near}?`)
  return new UsageError(`--limit must be name=number with one of the names ${names.join(', ')}, not "${entry}"`)
}

/** @throws UsageError */
export function wholeNumber(text: string, what: string, [least, most]: readonly [number, number]): number {
  const value = Number(text)
  if (/^\d{1,10}$/.test(text) && value >= least && value <= most) return value
  throw new UsageError(`${what} must be a number from ${least} to ${most}, not "${text}"`)
}
