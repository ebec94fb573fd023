// Hashes beside each text in the file, so that a changed text is not taken for the written one: SHA-256, cut
// to 132 bits. It finds what disks and programs damage; who can write the file can also write the hashes.
import { hash } from 'node:crypto'

const CHARS = 22

function digest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, CHARS)
}

/** Hash of a record, chained with that of the record before, so that none can be left out, moved or swapped. */
export function hashRecord(before: string | null, session: string, pos: number, body: string): string {
  return digest(`record ${before ?? JSON.stringify(session)} ${pos} ${body}`)
}

/** `atPos`: the hash of the record at which the snapshot was taken; null where that has none. */
export function hashSnapshot(session: string, atPos: string | null, body: string): string {
  return digest(`snapshot ${JSON.stringify(session)} ${atPos} ${body}`)
}

export function hashBlob(session: string, name: string, body: string): string {
  return digest(`blob ${JSON.stringify([session, name])} ${body}`)
}

export interface SessionRow {
  readonly key: number
  readonly id: string
  readonly epoch: number
  /** Empty: nobody's. */
  readonly owner: string
  /** Position of its last record; -1 for none. */
  readonly pos: number
  readonly last_ms: number
  /** How many it has. */
  readonly blobs: number
  /** The hash of its last record; null for none, and in logs of older versions. */
  readonly head: string | null
  /** Hash of the row itself. */
  readonly sum: string
}

export function hashRow({ key, id, epoch, owner, pos, last_ms, blobs, head }: Omit<SessionRow, 'sum'>): string {
  return digest(`session ${JSON.stringify([key, id, epoch, owner, pos, last_ms, blobs, head])}`)
}
