// Stand-ins for blobs, so that a history without its store can be validated against providers' wires.
import type { ContentPart, Message, StoredMessage, StoredPart } from '../messages.ts'

const STAND_IN = { type: 'base64', data: 'AAAA' } as const

/** The messages as they would be sent, with three zero bytes in place of each blob. */
export function inlineBlobs(messages: readonly StoredMessage[]): readonly Message[] {
  return messages.map((message): Message => {
    switch (message.role) {
      case 'user':
        return { ...message, parts: message.parts.map(inlinePart) }
      case 'tool':
        return { ...message, parts: message.parts.map((part) => ({ ...part, content: part.content.map(inlinePart) })) }
      case 'assistant':
        return message
    }
  })
}

function inlinePart(part: StoredPart): ContentPart {
  if (part.type === 'text') return part
  return { ...part, source: part.source.type === 'blob' ? STAND_IN : part.source }
}
