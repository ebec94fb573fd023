// Notes in the place of content that a provider refused, for its own sake or for the size of the request.
import type { MediaSource, StoredPart, ToolMessage } from '../messages.ts'
import type { FactOf, InputBody } from './fact.ts'
import { isMedia } from './media.ts'
import { text } from './render.ts'

type LeftOut = Pick<FactOf<'inputs-left-out'>, 'reason' | 'tooLarge'>

/** The body of an input of which its media are left out but the newest `stay`, or, where it has none, all of it. */
export function leaveOutOfInput(body: InputBody, left: LeftOut, stay: number): InputBody {
  if (body.type === 'user' && body.parts.some(isMedia)) {
    const note = createNotes(left, body.parts, stay)
    return { ...body, parts: body.parts.map(note) }
  }
  return { type: 'user', parts: [text(describeLeftOut('input', left.reason))] }
}

/** The results of a step without their media but the newest `stay`. */
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

/** Called with each of the parts in their order. */
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
