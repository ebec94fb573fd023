// Hashes of each text in the file, to detect changes: SHA-256, cut to 132 bits. They catch damage by disks and
// programs; anyone who can write the file can also write the hashes.
import { hash } from 'node:crypto'

const CHARS = 22

function digest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, CHARS)
}

/** Hashes a record, chained with the hash of the record before it, so that none can be left out, moved or swapped. */
export function hashRecord(before: string | null, session: string, pos: number, body: string): string {
  return digest(`record ${before ?? JSON.stringify(session)} ${pos} ${body}`)
}

/** `atPos`: the hash of the record at which the snapshot was taken; null if that record has none. */
export function hashSnapshot(session: string, atPos: string | null, body: string): string {
  return digest(`snapshot ${JSON.stringify(session)} ${atPos} ${body}`)
}

export function hashBlob(session: string, name: string, body: string): string {
  return digest(`blob ${JSON.stringify([session, name])} ${body}`)
}

/** `places`: its places in lists, as JSON text. */
export function hashEntry(session: string, places: string, body: string): string {
  return digest(`entry ${JSON.stringify([session, places])} ${body}`)
}

export interface SessionRow {
  readonly key: number
  readonly id: string
  readonly epoch: number
  /** Empty if it has no owner. */
  readonly owner: string
  /** Position of its last record; -1 for none. */
  readonly pos: number
  readonly last_ms: number
  /** Number of its blobs. */
  readonly blobs: number
  /** Hash of its last record; null for none, and in logs of older versions. */
  readonly head: string | null
  /** Hash of the row itself. */
  readonly sum: string
  /** The root of a child; null for an independent session. */
  readonly root: string | null
}

/** Format 2 had no roots; rows without one keep their hash. */
export function hashRow({ key, id, epoch, owner, pos, last_ms, blobs, head, root }: Omit<SessionRow, 'sum'>): string {
  const fields = [key, id, epoch, owner, pos, last_ms, blobs, head, ...(root === null ? [] : [root])]
  return digest(`session ${JSON.stringify(fields)}`)
}
