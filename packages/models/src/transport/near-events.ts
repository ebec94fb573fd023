// Reads events that relays have mangled: fields wrapped into `data:` again, keep-alives as data, events
// without a blank line between them, and JSON that is split anywhere. Does not know what the JSON means.
import { parseWireJson } from './wire-json.ts'

/** The fields of an event that providers use. */
export interface SseEvent {
  readonly event?: string | undefined
  readonly data: string
}

const WRAPPED_DATA = /^(?:[ \t]*data:[ \t]?)+/
const WRAPPED_FIELD = /^[ \t]*(?:(?:event|id|retry):|:)/
const KEEP_ALIVE = /^\[?(?:ping|pong|heart-?beat|keep-?alive)\]?$/i
/** The last event: `[DONE]`, in the variants servers send. */
const END = /^["[]*done["\]]*$/i

/** Lists the events that were meant; none for a keep-alive. */
export function listMeantEvents(given: SseEvent): readonly SseEvent[] {
  const { event, data } = given
  if (data === '' || (data.startsWith('{') && !data.includes('\n'))) return [given]
  const lines = data
    .split('\n')
    .map((line) => line.replace(WRAPPED_DATA, ''))
    .filter((line) => !WRAPPED_FIELD.test(line))
  const text = lines.join('\n')
  if (isKeepAlive(event, text)) return []
  if (lines.length > 1 && !parseWireJson(text).ok) {
    if (lines.every(isWhole))
      return lines.map((line, at) => ({ data: line, ...(at === lines.length - 1 && { event }) }))
    const joined = lines.join('')
    if (parseWireJson(joined).ok) return [{ event, data: joined }]
  }
  return [{ event, data: text }]
}

function isKeepAlive(event: string | undefined, text: string): boolean {
  const said = text.trim()
  if (said === '' || KEEP_ALIVE.test(said)) return true
  return event !== undefined && KEEP_ALIVE.test(event) && !/^[[{]/.test(said)
}

function isWhole(line: string): boolean {
  return line.trim() === '' || END.test(line.trim()) || parseWireJson(line).ok
}
