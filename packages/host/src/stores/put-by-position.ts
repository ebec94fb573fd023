// Plans a put of records into a log that may already have some of them: returns the records to add, or a conflict.

export interface PutRows {
  readonly session: string
  readonly positions: readonly number[]
  /** The records as JSON text. */
  readonly bodies: readonly string[]
}

export interface KnownLog {
  /** Position of its last record; -1 if it has none. */
  readonly lastPos: number
  /** The holder of the session, or of its root, which alone may add to it. */
  readonly heldBy: string | undefined
  /** The root of a child if it has no log: it was removed, or has not come yet. */
  readonly missingRoot?: string | undefined
  bodyAt(pos: number): string | undefined
}

export type PutPlan = { readonly type: 'add'; readonly bodies: readonly string[] } | PutConflict

/** The effect of a put on a log. */
export type PutOutcome = { readonly type: 'added' | 'same' } | PutConflict

export interface PutConflict {
  readonly type: 'conflict'
  readonly message: string
}

export function planPut({ session, positions, bodies }: PutRows, log: KnownLog): PutPlan {
  if (log.missingRoot !== undefined)
    return conflict(`session ${session} belongs to session ${log.missingRoot}, which the store does not have`)
  let end = log.lastPos
  const added: string[] = []
  for (const [index, pos] of positions.entries()) {
    const body = bodies[index] ?? ''
    if (!Number.isSafeInteger(pos) || pos < 0) return conflict(`session ${session} has no position ${String(pos)}`)
    if (pos > end + 1)
      return conflict(`session ${session} ends at record ${end}; record ${pos} would skip record ${end + 1}`)
    if (pos === end + 1) {
      end = pos
      added.push(body)
      continue
    }
    const stored = pos > log.lastPos ? added[pos - log.lastPos - 1] : log.bodyAt(pos)
    if (stored === undefined || !isSameJson(stored, body))
      return conflict(`session ${session} already has a different record ${pos}`)
  }
  if (added.length > 0 && log.heldBy !== undefined)
    return conflict(`session ${session} is held by ${log.heldBy}, so only that host may add records to it`)
  return { type: 'add', bodies: added }
}

function conflict(message: string): PutConflict {
  return { type: 'conflict', message }
}

/** Ignores the order of fields, which another program or version may write differently. */
function isSameJson(one: string, other: string): boolean {
  return one === other || inOrder(one) === inOrder(other)
}

function inOrder(text: string): string {
  return JSON.stringify(JSON.parse(text, (_, value: unknown) => (isObject(value) ? sortFields(value) : value)))
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function sortFields(value: object): object {
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}
