// Results that the machine moved behind handles because they take too much of the model's window: a request shows the
// start of each, and the model reads the rest with `result.read`.
import type { BlobStore, StoredMessage, Timers } from '@baton/core/internal'
import { inTime } from './media.ts'
import { READ_RESULT, showPiece } from './tool-result.ts'

/** Characters to show. With the handle they stay below the machine's `RULES.movedChars`. */
const SHOWN_CHARS = 1000
/** Matches the end of a piece of a longer text, which the store already has. */
const KEPT_PIECE = new RegExp(
  String.raw`\n\[characters (\d+) to \d+ of (\d+)\. Read on with ${READ_RESULT.replace('.', String.raw`\.`)} \{"handle":"([^"]+)","offset":\d+\}\]$`,
)

/** Stores the full texts first. If the store fails, the model reads that the rest could not be kept. */
export async function showMoved<Stored extends StoredMessage>(
  session: string,
  message: Stored,
  store: { readonly blobs: BlobStore; readonly timers: Timers },
): Promise<Stored> {
  if (message.role !== 'tool') return message
  const parts = await Promise.all(
    message.parts.map(async ({ moved, ...part }) => {
      // The note that a person changed the arguments comes before the tool's own text.
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
