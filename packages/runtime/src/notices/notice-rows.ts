// The outbox's row of a session for one destination: the position up to which its log was sent, the notice that waits for
// another attempt, and the host that sends. Each dead notice has a separate row.
import type { DeadNotice, FoundRow, Notice, OutboxRow } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'

export interface NoticeCursor {
  /** Distinguishes sessions that had the name one after the other. */
  readonly birth: string
  /** The next record to read, and the number of its notices that were sent. */
  readonly pos: number
  readonly told: number
  /** The notice whose last attempt failed. */
  readonly waiting?: { readonly notice: Notice; readonly attempts: number; readonly dueMs: number }
  /** The host that sends, and until when no other may. */
  readonly claim?: { readonly by: string; readonly untilMs: number }
  /** Counts changes, so that no two bodies are equal. */
  readonly n: number
}

const CURSOR = 'notices.'
const DEAD = 'dead.'
const NOTE = 'note.'
export const NOTE_LIST = 'notices.notes'
export const DEAD_LIST = 'notices.dead'

export function nameCursor(destination: string): string {
  return `${CURSOR}${destination}`
}

export function nameDead(destination: string, id: string): string {
  return `${DEAD}${destination}.${id}`
}

export function nameNote(destination: string, name: string): string {
  return `${NOTE}${destination}.${name}`
}

/** Sessions with something to tell this destination. */
export function nameDueList(destination: string): string {
  return `notices.due.${destination}`
}

export function writeCursor(destination: string, cursor: NoticeCursor, hasMore: boolean): OutboxRow {
  const { claim, waiting } = cursor
  const atMs = claim?.untilMs ?? waiting?.dueMs ?? 0
  const list = hasMore ? nameDueList(destination) : 'notices.told'
  return { body: JSON.stringify(cursor), list, atMs: Math.floor(atMs) }
}

/** Undefined for what Baton did not write. */
export function readCursor(body: string | undefined): NoticeCursor | undefined {
  const parsed = body === undefined ? undefined : parseJson(body)
  return parsed?.ok && isJsonObject(parsed.value) ? (parsed.value as unknown as NoticeCursor) : undefined // of writeCursor
}

export function writeDead(dead: DeadNotice): OutboxRow {
  return { body: JSON.stringify(dead), list: DEAD_LIST, atMs: Math.floor(dead.diedMs) }
}

export function readDead({ body }: Pick<FoundRow, 'body'>): DeadNotice | undefined {
  const parsed = parseJson(body)
  return parsed.ok && isJsonObject(parsed.value) ? (parsed.value as unknown as DeadNotice) : undefined // of writeDead
}
