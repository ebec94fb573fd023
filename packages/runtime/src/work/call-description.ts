// Descriptions of calls for people, which tools make from validated input. They are bounded, and their errors never
// stop the call.
import type { CallDescription, Logger, Tool, WaitingWords } from '@baton/core/internal'
import { WAITING_CHARS_MAX, describeValue } from '@baton/core/internal'
import { describeThrown } from '../describe-thrown.ts'

const TITLE_CHARS = 200
const PLACES_MAX = 32
const PATH_CHARS = 1024
const DIFF_CHARS = 65_536
/** Maximum UTF-16 units to read. */
const SAY_SEARCHED = 10_000

export interface CallAbout extends CallDescription {
  readonly kind?: NonNullable<Tool['kind']>
  readonly waiting?: WaitingWords
}

/** Returns undefined if the tool gives no description. Never throws. */
export function describeCall(tool: Tool, input: unknown, log: Logger): CallAbout | undefined {
  const { kind, title } = tool
  const waiting = describeWaiting(tool, input, log)
  const about = {
    ...(title !== undefined && { title }),
    ...describe(tool, input, log),
    ...(kind && { kind }),
    ...(waiting && { waiting }),
  }
  return Object.keys(about).length === 0 ? undefined : about
}

function describe(tool: Tool, input: unknown, log: Logger): CallDescription {
  if (!tool.describe) return {}
  try {
    return bound(demandNow(tool.describe(input)))
  } catch (cause) {
    log.warn('a call could not be described', { tool: tool.name, cause: describeThrown(cause) })
    return {}
  }
}

function describeWaiting({ name, waiting }: Tool, input: unknown, log: Logger): WaitingWords | undefined {
  if (!waiting) return undefined
  const { afterMs, say } = waiting
  try {
    const said: unknown = typeof say === 'function' ? demandNow(say(input)) : say
    if (typeof said !== 'string') throw new Error(`it returned ${describeValue(said)} instead of text`)
    const words = said.slice(0, SAY_SEARCHED).replace(UNSPOKEN, ' ').trim()
    if (words.length > WAITING_CHARS_MAX)
      log.warn('the waiting words of a tool were cut', { tool: name, characters: WAITING_CHARS_MAX })
    return words === '' ? undefined : { afterMs, say: cut(words, WAITING_CHARS_MAX) }
  } catch (cause) {
    log.warn('the waiting words of a tool failed', { tool: name, cause: describeThrown(cause) })
    return undefined
  }
}

/** Control characters and characters that reverse the reading order: the text may contain a model's words. */
const UNSPOKEN = /[\p{Cc}\u{202a}-\u{202e}\u{2066}-\u{2069}]+/gu

/** People see a call at once, so a promise is refused. An unhandled rejection would end the process. */
function demandNow<Value>(value: Value): Value {
  const then: unknown = (value as { readonly then?: unknown } | null | undefined)?.then // supplied by foreign code
  if (typeof then !== 'function') return value
  Promise.resolve(value).catch(() => {}) // its result is not used
  throw new Error('it returned a promise; it must be synchronous')
}

/** Never cuts a character in half. */
function cut(text: string, chars: number): string {
  return text.slice(0, chars).replace(/[\ud800-\udbff]$/, '')
}

/** Copies field by field: the description comes from foreign code and goes into a record. */
function bound({ title, locations, diff, destination }: CallDescription): CallDescription {
  let left = DIFF_CHARS
  const shown = (diff ?? []).slice(0, PLACES_MAX).flatMap(({ path, oldText, newText }) => {
    const texts = { oldText: oldText === null ? null : String(oldText), newText: String(newText) }
    left -= (texts.oldText?.length ?? 0) + texts.newText.length
    return left >= 0 ? [{ path: String(path).slice(0, PATH_CHARS), ...texts }] : []
  })
  const places = locations?.slice(0, PLACES_MAX).map(({ path, line }) => ({
    path: String(path).slice(0, PATH_CHARS),
    ...(Number.isSafeInteger(line) && { line: Number(line) }),
  }))
  return {
    ...(title !== undefined && { title: cut(String(title), TITLE_CHARS) }),
    ...(places && { locations: places }),
    ...(shown.length > 0 && { diff: shown }),
    // A cut destination would be a different one.
    ...(destination !== undefined && String(destination).length <= PATH_CHARS && { destination: String(destination) }),
  }
}
