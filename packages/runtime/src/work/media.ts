// Incoming images and files: their bytes go into the session's blobs, and records hold handles. `RequestMessages` is the
// way back.
import type { BlobStore, StoredPart, Timers } from '@baton/core/internal'
import { BatonError, isBatonError } from '@baton/core/internal'
import type { StoredMedia } from '@baton/core/machine'
import { countMediaBytes, isMedia } from '@baton/core/machine'
import { within } from '../deadline.ts'
import { describeThrown } from '../describe-thrown.ts'

export interface KeepMedia {
  readonly blobs: BlobStore
  readonly timers: Timers
  /** SHA-256 in hex of the bytes that a base64 text encodes. */
  readonly digestMedia: (base64: string) => string
}

/** Time limit of the store for one image or file, in milliseconds. */
const STORE_MS = 30_000
/** Concurrent blob reads or writes for one input or request. */
const AT_ONCE = 4

export function nameMediaBlob(handle: string): string {
  return `media/${handle}`
}

export function holdsBytes(part: StoredPart): part is StoredMedia & { readonly source: { readonly type: 'base64' } } {
  return isMedia(part) && part.source.type === 'base64'
}

/** Replaces bytes with handles. @throws BatonError `store_failed` */
export async function storeMedia(
  session: string,
  parts: readonly StoredPart[],
  keep: KeepMedia,
): Promise<readonly StoredPart[]> {
  return await mapSome(parts, (part) => storePart(session, part, keep))
}

/** Like `storeMedia`, but replaces what cannot be stored with a text that says so: the tool has already run. */
export async function storeMediaOrSay(
  session: string,
  parts: readonly StoredPart[],
  keep: KeepMedia,
): Promise<readonly StoredPart[]> {
  return await mapSome(parts, async (part) => {
    try {
      return await storePart(session, part, keep)
    } catch {
      return { type: 'text', text: `[This ${part.type} could not be kept: the store failed]` }
    }
  })
}

async function storePart(session: string, part: StoredPart, keep: KeepMedia): Promise<StoredPart> {
  if (!holdsBytes(part)) return part
  const { data } = part.source
  const handle = keep.digestMedia(data)
  await inTime(keep.timers, () => keep.blobs.put(session, nameMediaBlob(handle), data))
  return { ...part, source: { type: 'blob', handle, bytes: countMediaBytes(part.source) } }
}

/** Runs a blob store operation within its time limit. @throws BatonError `store_failed`, `session_closed` */
export async function inTime<Value>(
  timers: Timers,
  work: () => Promise<Value>,
  what = 'an image or file',
): Promise<Value> {
  const slow = (): BatonError =>
    new BatonError({ code: 'store_failed', message: `the store took longer than ${STORE_MS} ms for ${what}` })
  try {
    return await within(timers, { timeoutMs: STORE_MS, error: slow }, work())
  } catch (cause) {
    if (isBatonError(cause) && cause.code === 'session_closed') throw cause
    const message = `${what} could not be stored or read: ${describeThrown(cause)}`
    throw new BatonError({ code: 'store_failed', message, cause })
  }
}

/** Processes a few items at once; the first failure ends it. Results are in the order of the items. */
export async function mapSome<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  const waiting = items.entries()
  const workOn = async (): Promise<void> => {
    for (const [index, item] of waiting) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, workOn))
  return results
}
