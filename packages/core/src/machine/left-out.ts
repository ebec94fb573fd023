// What stands in the place of what a provider refused.
import type { MediaSource, StoredPart, ToolMessage } from '../messages.ts'
import type { InputBody } from './fact.ts'
import { isMedia } from './media.ts'
import { text } from './render.ts'

/** The body of an input of which its media are left out, or, where it has none, all of it. */
export function leaveOutOfInput(body: InputBody, reason: string): InputBody {
  if (body.type === 'user' && body.parts.some(isMedia))
    return { ...body, parts: body.parts.map((part) => leaveOutOfPart(part, reason)) }
  return { type: 'user', parts: [text(describeLeftOut('input', reason))] }
}

/** The results of a step without their media. */
export function leaveOutOfResults(message: ToolMessage<MediaSource>, reason: string): ToolMessage<MediaSource> {
  const parts = message.parts.map((result) => ({
    ...result,
    content: result.content.map((part) => leaveOutOfPart(part, reason)),
  }))
  return { ...message, parts }
}

function leaveOutOfPart(part: StoredPart, reason: string): StoredPart {
  return isMedia(part) ? text(describeLeftOut(part.type, reason)) : part
}

export function describeLeftOut(what: 'image' | 'file' | 'input', reason: string): string {
  return `[${what === 'file' ? 'A' : 'An'} ${what} was left out: the provider refused it (${reason})]`
}
