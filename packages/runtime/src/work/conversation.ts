// The conversation as tools and agents read it: with its bytes, and copied, because they must not change the history.
import type { ContentPart, Message, StoredMessage } from '@baton/core/internal'
import type { WorkContext } from './work.ts'

/** @throws BatonError `store_failed` */
export async function readConversation(
  context: WorkContext,
  session: string,
  messages: readonly StoredMessage[],
): Promise<readonly Message[]> {
  return (await context.requestMessages.load(session, messages, context)).map(copyMessage)
}

export function copyMessage(message: Message): Message {
  if (message.role === 'tool')
    return { ...message, parts: message.parts.map((part) => ({ ...part, content: part.content.map(copyPart) })) }
  if (message.role === 'user') return { ...message, parts: message.parts.map(copyPart) }
  return { ...message, parts: message.parts.map((part) => ({ ...part })) }
}

function copyPart(part: ContentPart): ContentPart {
  return part.type === 'text' ? { ...part } : { ...part, source: { ...part.source } }
}
