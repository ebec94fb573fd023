// The messages of a request as a model gets them: images and files with their bytes, and the start of each result that
// the machine moved behind a handle because it takes too much of the window. `result.read` reads the rest.
import { inTime, mapSome, nameMediaBlob } from './media.ts'
import type { BlobStore, ContentPart, Logger, Message, StoredMessage, StoredPart, Timers } from '@baton/core/internal'
import { READ_RESULT, showPiece } from './tool-result.ts'

/** Characters to show. With the handle they stay below the machine's `RULES.movedChars`. */
const SHOWN_CHARS = 1000
/** Matches the end of a piece of a longer text, which the store already has. */
const KEPT_PIECE = new RegExp(
  String.raw`\n\[characters (\d+) to \d+ of (\d+)\. Read on with ${READ_RESULT.replace('.', String.raw`\.`)} \{"handle":"([^"]+)","offset":\d+\}\]$`,
)

export interface MediaReader {
  readonly blobs: BlobStore
  readonly timers: Timers
  readonly log: Logger
}

/** The loaded messages of one session. */
export class RequestMessages {
  /**
   * A message is the same object in every request, so that adapters keep its encoding. The reference is weak, since an
   * idle session need not hold the bytes; an object still in use is shared.
   */
  #loaded: WeakMap<StoredMessage, WeakRef<Message>> | undefined

  /** Replaces a missing blob with a text, and logs it. @throws BatonError `store_failed` */
  async load(session: string, messages: readonly StoredMessage[], reader: MediaReader): Promise<readonly Message[]> {
    if (messages.every(isInline)) return messages
    const known = new Map<StoredMessage, Message>()
    for (const message of messages) {
      const loaded = isInline(message) ? message : this.#loaded?.get(message)?.deref()
      if (loaded) known.set(message, loaded)
    }
    const handles = new Set(messages.flatMap((message) => (known.has(message) ? [] : listHandles(message))))
    const bytes = await readBlobs(session, [...handles], reader)
    return await mapSome(messages, async (message) => {
      const loaded = known.get(message) ?? inlineMessage(await showMoved(session, message, reader), bytes)
      if (!known.has(message)) this.#loaded = (this.#loaded ?? new WeakMap()).set(message, new WeakRef(loaded))
      return loaded
    })
  }
}

/** The bytes by handle, without missing blobs. */
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
  for (const part of message.parts) {
    if (part.type === 'result' && part.moved) return false
    for (const piece of part.type === 'result' ? part.content : [part])
      if (piece.type !== 'text' && piece.source.type === 'blob') return false
  }
  return true
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

/** Stores the full texts first. If the store fails, the model reads that the rest could not be kept. */
export async function showMoved<Stored extends StoredMessage>(
  session: string,
  message: Stored,
  store: { readonly blobs: BlobStore; readonly timers: Timers },
): Promise<Stored> {
  if (message.role !== 'tool') return message
  const parts = await Promise.all(
    message.parts.map(async ({ moved, ...part }) => {
      // The note that a person changed the arguments goes before the tool's own text.
      const notes = part.content.slice(0, -1)
      const piece = part.content.at(-1)
      if (!moved || piece?.type !== 'text') return part
      return { ...part, content: [...notes, await showBeginning(piece.text, `${part.callId}_0`, put)] }
    }),
  )
  return { ...message, parts }

  async function put(name: string, text: string): Promise<void> {
    await inTime(store.timers, () => store.blobs.put(session, name, text), 'a long result')
  }
}

async function showBeginning(text: string, handle: string, put: (name: string, text: string) => Promise<void>) {
  const [, from, of, kept] = KEPT_PIECE.exec(text) ?? []
  if (kept !== undefined)
    return showPiece(text, { chars: SHOWN_CHARS, from: Number(from), of: Number(of), handle: kept })
  try {
    await put(`result/${handle}`, text)
    return showPiece(text, { chars: SHOWN_CHARS, handle })
  } catch {
    return showPiece(text, { chars: SHOWN_CHARS })
  }
}
