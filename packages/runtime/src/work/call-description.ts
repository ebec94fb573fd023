// What people are shown of a call: made by the tool from its validated input, bounded, and never in the way of the call.
import type { CallDescription, Logger, Tool, WaitingWords } from '@baton/core'
import { describeThrown } from '../describe-thrown.ts'

const TITLE_CHARS = 200
const PLACES_MAX = 32
const PATH_CHARS = 1024
const DIFF_CHARS = 65_536
const SAY_CHARS = 500

export interface CallAbout extends CallDescription {
  readonly kind?: NonNullable<Tool['kind']>
  readonly waiting?: WaitingWords
}

/** Undefined where the tool says nothing of itself. Never throws. */
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
    return bound(tool.describe(input))
  } catch (cause) {
    log.warn('a call could not be described', { tool: tool.name, cause: describeThrown(cause) })
    return {}
  }
}

function describeWaiting({ name, waiting }: Tool, input: unknown, log: Logger): WaitingWords | undefined {
  if (!waiting) return undefined
  const { afterMs, say } = waiting
  try {
    const words = String(typeof say === 'function' ? say(input) : say).trim()
    return words === '' ? undefined : { afterMs, say: words.slice(0, SAY_CHARS) }
  } catch (cause) {
    log.warn('a tool could not say what it waits for', { tool: name, cause: describeThrown(cause) })
    return undefined
  }
}

/** Field by field: what a tool gives is code of others, and goes into a record. */
function bound({ title, locations, diff }: CallDescription): CallDescription {
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
    ...(title !== undefined && { title: String(title).slice(0, TITLE_CHARS) }),
    ...(places && { locations: places }),
    ...(shown.length > 0 && { diff: shown }),
  }
}
