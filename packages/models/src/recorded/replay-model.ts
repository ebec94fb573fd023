// Replays a model's recorded answers and refuses requests that were not recorded.
import type { JsonObject, JsonValue, Model, ModelRequest } from '@baton/core/internal'
import { BatonError, isErrorCode, isJsonObject } from '@baton/core/internal'
import type { RecordedCall } from './recording.ts'
import { createHider, describeRequest, hashRequest, readRecording } from './recording.ts'

export interface ReplayOptions {
  /**
   * Requires each request to be the next recorded one. By default requests may come in any order, and one repeated more
   * often than it was recorded gets its last answer again.
   */
  readonly strict?: boolean
  /** Same as for the recording. */
  readonly secrets?: readonly string[]
}

/** A model of `replayModel`. A test ends with `expect(model.remaining()).toBe(0)`. */
export interface ReplayedModel extends Model {
  /** Number of recorded calls not requested yet. */
  remaining(): number
}

/**
 * Replays answers from a file of `recordModel`, piece by piece as streamed, without delays. A request that was not
 * recorded fails with `replay_mismatch`, which names the first difference from the closest recorded one.
 * @throws BatonError `invalid_option` if the file cannot be read or is not a recording
 */
export function replayModel(file: string, { strict = false, secrets = [] }: ReplayOptions = {}): ReplayedModel {
  const { model, calls } = readRecording(file)
  const { id, provider, capabilities } = model
  const hide = createHider(secrets)
  const used = new Set<RecordedCall>()
  const find = (request: JsonObject): RecordedCall => {
    const next = calls.find((call) => !used.has(call))
    const hash = hashRequest(request)
    if (strict && next?.hash === hash) return next
    const same = strict ? [] : calls.filter((call) => call.hash === hash)
    const found = same.find((call) => !used.has(call)) ?? same.at(-1)
    if (found) return found
    throw createMismatch(request, { file, asked: used.size, nearest: strict ? next : findNearest(request, calls) })
  }
  const run: Model['run'] = async (asked, sink, signal) => {
    const call = find(describeRequest(asked, hide))
    used.add(call)
    for (const event of call.events) {
      if (signal.aborted) break
      sink(event)
    }
    if (signal.aborted) throw new BatonError({ code: 'cancelled', message: 'the model call was aborted' })
    if (call.answer) return call.answer
    const { code = '', message = '', retryable = false, data = {} } = call.error ?? {}
    throw new BatonError({ code: isErrorCode(code) ? code : 'model_provider_failed', message, retryable, data })
  }
  return {
    id,
    provider,
    capabilities: { ...capabilities, network: false },
    run: (request: ModelRequest, sink, signal) => run(request, sink, signal),
    remaining: () => calls.filter((call) => !used.has(call)).length,
  }
}

/** Finds the call with the longest common prefix, as JSON text. */
function findNearest(request: JsonObject, calls: readonly RecordedCall[]): RecordedCall | undefined {
  const text = JSON.stringify(request)
  const measured = calls.map((call) => ({ call, same: countSame(text, JSON.stringify(call.request)) }))
  return measured.toSorted((one, other) => other.same - one.same)[0]?.call
}

function countSame(one: string, other: string): number {
  let same = 0
  while (same < one.length && one[same] === other[same]) same += 1
  return same
}

interface Mismatch {
  readonly file: string
  readonly asked: number
  readonly nearest: RecordedCall | undefined
}

function createMismatch(request: JsonObject, { file, asked, nearest }: Mismatch): BatonError {
  const difference = nearest ? findDifference(nearest.request, request, '') : undefined
  const why = nearest
    ? (difference ?? 'it is identical, but was repeated more often than recorded')
    : 'no more requests were recorded'
  return new BatonError({
    code: 'replay_mismatch',
    message: `request ${asked + 1} differs from the recording ${file}: ${why}`,
    retryable: false,
  })
}

/** Maximum UTF-16 units of a value in a message. */
const SHOWN_CHARS = 120

/** Describes the first field that differs; `undefined` if none does. */
function findDifference(recorded: JsonValue | undefined, now: JsonValue | undefined, path: string): string | undefined {
  if (Array.isArray(recorded) && Array.isArray(now)) {
    for (let index = 0; index < Math.max(recorded.length, now.length); index++) {
      const found = findDifference(recorded[index], now[index], `${path}[${index}]`)
      if (found !== undefined) return found
    }
    return undefined
  }
  if (isJsonObject(recorded) && isJsonObject(now)) {
    for (const name of new Set([...Object.keys(recorded), ...Object.keys(now)])) {
      const found = findDifference(recorded[name], now[name], path === '' ? name : `${path}.${name}`)
      if (found !== undefined) return found
    }
    return undefined
  }
  return recorded === now ? undefined : `${path} was ${show(recorded, now)}, but is ${show(now, recorded)}`
}

/** Shortens long values to the part where they differ. */
function show(value: JsonValue | undefined, other: JsonValue | undefined): string {
  if (value === undefined) return 'absent'
  const text = JSON.stringify(value)
  if (text.length <= SHOWN_CHARS) return text
  const from = Math.max(0, countSame(text, JSON.stringify(other ?? null)) - SHOWN_CHARS / 4)
  return `${from > 0 ? '…' : ''}${text.slice(from, from + SHOWN_CHARS)}…`
}
