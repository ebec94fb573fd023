// The messages of a request: those of the history with the bytes of their pictures and files. A model never sees a handle.
import type { BlobStore, ContentPart, Logger, Message, StoredMessage, StoredPart, Timers } from '@baton/core'
import { inTime, mapSome, nameMediaBlob } from './media.ts'

export interface MediaReader {
  readonly blobs: BlobStore
  readonly timers: Timers
  readonly log: Logger
}

/** For one session. */
export class RequestMessages {
  /**
   * One message is the same object in every request, so that adapters keep what they encoded of it. Weakly, since the bytes
   * of a session that rests need not be held: whoever has a message still, gets the same again.
   */
  readonly #loaded = new WeakMap<StoredMessage, WeakRef<Message>>()

  /** A blob that is gone is replaced by a text, and logged. @throws BatonError `store_failed` */
  async load(session: string, messages: readonly StoredMessage[], reader: MediaReader): Promise<readonly Message[]> {
    if (messages.every(isInline)) return messages
    const known = new Map<StoredMessage, Message>()
    for (const message of messages) {
      const loaded = isInline(message) ? message : this.#loaded.get(message)?.deref()
      if (loaded) known.set(message, loaded)
    }
    const handles = new Set(messages.flatMap((message) => (known.has(message) ? [] : listHandles(message))))
    const bytes = await readBlobs(session, [...handles], reader)
    return messages.map((message) => {
      const loaded = known.get(message) ?? inlineMessage(message, bytes)
      if (!known.has(message)) this.#loaded.set(message, new WeakRef(loaded))
      return loaded
    })
  }
}

/** By the handles; those that are gone are not among them. */
async function readBlobs(
  session: string,
  handles: readonly string[],
  { blobs, timers, log }: MediaReader,
): Promise<ReadonlyMap<string, string>> {
  const bytes = new Map<string, string>()
  await mapSome(handles, async (handle) => {
    const text = await inTime(timers, () => blobs.get(session, nameMediaBlob(handle)))
    if (text === undefined) log.warn('an image or file of the history is missing in the store', { session, handle })
    else bytes.set(handle, text)
  })
  return bytes
}

function isInline(message: StoredMessage): message is Message {
  if (message.role === 'assistant') return true
  return message.parts.every((part) => (part.type === 'result' ? part.content.every(isInlinePart) : isInlinePart(part)))
}

function isInlinePart(part: StoredPart): boolean {
  return part.type === 'text' || part.source.type !== 'blob'
}

function listHandles({ role, parts }: StoredMessage): readonly string[] {
  const handles: string[] = []
  if (role === 'assistant') return handles
  for (const part of parts)
    for (const piece of part.type === 'result' ? part.content : [part])
      if (piece.type !== 'text' && piece.source.type === 'blob') handles.push(piece.source.handle)
  return handles
}

function inlineMessage(message: StoredMessage, bytes: ReadonlyMap<string, string>): Message {
  const inline = (part: StoredPart): ContentPart => inlinePart(part, bytes)
  if (message.role === 'user') return { ...message, parts: message.parts.map(inline) }
  if (message.role === 'assistant') return message
  return { ...message, parts: message.parts.map((part) => ({ ...part, content: part.content.map(inline) })) }
}

function inlinePart(part: StoredPart, bytes: ReadonlyMap<string, string>): ContentPart {
  if (part.type === 'text') return part
  const { source } = part
  if (source.type !== 'blob') return { ...part, source }
  const data = bytes.get(source.handle)
  if (data !== undefined) return { ...part, source: { type: 'base64', data } }
  return { type: 'text', text: `[${part.type === 'image' ? 'an image' : 'a file'} is missing here]` }
}
