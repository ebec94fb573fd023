// Notes that replace content refused by a provider, because of the content or the size of the request.
import type { MediaSource, StoredPart, ToolMessage } from '../messages.ts'
import type { FactOf, InputBody } from './fact.ts'
import { isMedia } from './media.ts'
import { text } from './render.ts'

type LeftOut = Pick<FactOf<'inputs-left-out'>, 'reason' | 'tooLarge'>

/** The body of an input with all but the newest `stay` media replaced, or, if it has none, all of its content. */
export function leaveOutOfInput(body: InputBody, left: LeftOut, stay: number): InputBody {
  if (body.type === 'user' && body.parts.some(isMedia)) {
    const note = createNotes(left, body.parts, stay)
    return { ...body, parts: body.parts.map(note) }
  }
  return { type: 'user', parts: [text(describeLeftOut('input', left.reason))] }
}

/** The results of a step with all but the newest `stay` media replaced. */
export function leaveOutOfResults(
  message: ToolMessage<MediaSource>,
  left: LeftOut,
  stay: number,
): ToolMessage<MediaSource> {
  const note = createNotes(
    left,
    message.parts.flatMap(({ content }) => content),
    stay,
  )
  const parts = message.parts.map((result) => ({ ...result, content: result.content.map(note) }))
  return { ...message, parts }
}

/** Returns a function to call with each part in order. */
function createNotes(
  { reason, tooLarge }: LeftOut,
  parts: readonly StoredPart[],
  stay: number,
): (part: StoredPart) => StoredPart {
  let leaving = parts.filter(isMedia).length - stay
  return (part) => {
    if (!isMedia(part) || leaving <= 0) return part
    leaving -= 1
    return text(tooLarge ? describeTooLarge(part.type) : describeLeftOut(part.type, reason))
  }
}

export function describeLeftOut(what: 'image' | 'file' | 'input', reason: string): string {
  return `[${what === 'file' ? 'A' : 'An'} ${what} was left out: the provider refused it (${reason})]`
}

export function describeTooLarge(what: 'image' | 'file'): string {
  return `[${what === 'file' ? 'A' : 'An'} ${what} was left out: the request was too large with it]`
}
