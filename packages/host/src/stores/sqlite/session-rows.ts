// The row of each session: where its log ends, who owns it, its root if it is a child, and a checksum that reveals
// changes to the row.
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { ChildOf, LeftBehind, Under } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import { checkChild, checkOwn } from '../child-checks.ts'
import type { AcquiredUnder } from './acts.ts'
import type { SessionRow } from './hashes.ts'
import { hashRow } from './hashes.ts'
import { prepareStatements } from './statements.ts'

/** A session as listed. */
export interface ListedSession {
  readonly session: string
  readonly records: number
  readonly lastMs: number
  readonly isOwned: boolean
  /** Set if the row does not match its checksum. */
  readonly damage?: string
}

export type SessionRows = ReturnType<typeof prepareSessionRows>

const COLUMNS = 'key, id, epoch, owner, pos, last_ms, blobs, head, sum, root'

const STATEMENTS = {
  find: `SELECT ${COLUMNS} FROM sessions WHERE id = ?`,
  insert:
    "INSERT INTO sessions (id, epoch, owner, pos, last_ms, blobs, sum, root) VALUES (?, 0, '', -1, 0, 0, '', ?) RETURNING key",
  save: 'UPDATE sessions SET epoch = ?, owner = ?, pos = ?, last_ms = ?, blobs = ?, head = ?, sum = ? WHERE key = ?',
  setRoot: 'UPDATE sessions SET root = ? WHERE key = ?',
  // One counter for all sessions: the owner of a removed session must not be mistaken for that of its successor.
  nextEpoch: 'UPDATE epochs SET last = last + 1 RETURNING last',
  raiseEpochs: 'UPDATE epochs SET last = max(last, ?)',
  remove: 'DELETE FROM sessions WHERE key = ?',
  list: `SELECT ${COLUMNS} FROM sessions WHERE root IS NULL AND id > ? AND pos >= 0 ORDER BY id LIMIT ?`,
  children: `SELECT ${COLUMNS} FROM sessions WHERE root = ? AND id > ? ORDER BY id LIMIT ?`,
}

type Statements = Readonly<Record<keyof typeof STATEMENTS, StatementSync>>

export function prepareSessionRows(db: DatabaseSync) {
  const rows: Statements = prepareStatements(db, STATEMENTS)
  const single = createRows(rows)
  const { find, findSound, makeFor, save } = single
  const nextEpoch = (): number => Number(rows.nextEpoch.get()?.['last'])
  const raiseEpoch = (row: SessionRow, owner: string): { readonly epoch: number; readonly pos: number } => {
    const epoch = nextEpoch()
    save({ ...row, epoch, owner })
    return { epoch, pos: row.pos }
  }
  const list = (statement: StatementSync, ...given: readonly (string | number)[]): readonly SessionRow[] =>
    statement.all(...given) as unknown as readonly SessionRow[] // its columns
  return {
    ...single,
    remove: (row: SessionRow): void => void rows.remove.run(row.key),
    raiseEpochs: (epoch: number): void => void rows.raiseEpochs.run(epoch),
    nextEpoch,
    acquire: (session: string, owner: string) => raiseEpoch(makeFor(session, undefined), owner),
    acquireUnder: (session: string, under: Under): AcquiredUnder => {
      const root = findSound(under.root)
      if (root?.epoch !== under.rootEpoch || root.root !== null) return undefined
      return raiseEpoch(makeFor(session, under), '')
    },
    /**
     * Returns whether the epoch is the current one. The row keeps its owner if work is left, so that the session is
     * recovered.
     */
    release: (session: string, epoch: number, left: LeftBehind): boolean => {
      const row = findSound(session)
      if (row?.epoch !== epoch) return false
      if (left === 'nothing') save({ ...row, owner: '' })
      return true
    },
    /** Sessions whose names sort after this one. A damaged one is reported without hiding the others. */
    list: (after: string, limit: number): readonly ListedSession[] => list(rows.list, after, limit).map(describeRow),
    /** Children of this root whose names sort after this one. */
    children: (root: string, after: string, limit: number): readonly ListedSession[] =>
      list(rows.children, root, after, limit).map(describeRow),
    /** The rows of a root and its children. @throws BatonError `illegal_input` for a child */
    tree: (root: string): readonly SessionRow[] => {
      const row = find(root)
      checkOwn(root, row)
      const under = list(rows.children, root, '', ALL)
      return row ? [row, ...under] : under
    },
  }
}

/** A limit of SQLite: none. */
const ALL = -1

/** Single rows: found, checked, made and saved. */
function createRows(rows: Statements) {
  const find = (session: string): SessionRow | undefined => rows.find.get(session) as SessionRow | undefined
  /** @throws BatonError `log_damaged` */
  const findSound = (session: string): SessionRow | undefined => {
    const row = find(session)
    if (row && row.sum !== hashRow(row)) throw createRowError(session)
    return row
  }
  const save = (row: SessionRow): void => {
    const { epoch, owner, pos, last_ms, blobs, head, key } = row
    rows.save.run(epoch, owner, pos, last_ms, blobs, head, hashRow(row), key)
  }
  const make = (session: string, root: string | null): SessionRow => {
    const row = { id: session, epoch: 0, owner: '', pos: -1, last_ms: 0, blobs: 0, head: null, root }
    const key = Number(rows.insert.get(session, root)?.['key'])
    save({ ...row, key, sum: '' })
    return { ...row, key, sum: '' }
  }
  /** A row that may be written under this root, or under none. @throws BatonError `illegal_input`, `log_damaged` */
  const findFor = (session: string, under: ChildOf | undefined): SessionRow | undefined => {
    const row = findSound(session)
    if (under) checkChild(session, under.root, row)
    else checkOwn(session, row)
    return row
  }
  return {
    find,
    findSound,
    save,
    findFor,
    findOrMake: (session: string): SessionRow => findSound(session) ?? make(session, null),
    /** As `findFor`; a row without records joins the root. */
    makeFor: (session: string, under: ChildOf | undefined): SessionRow => {
      const row = findFor(session, under)
      const root = under?.root ?? null
      if (!row) return make(session, root)
      if (row.root === root) return row
      rows.setRoot.run(root, row.key)
      save({ ...row, root })
      return { ...row, root }
    },
    /** Whether it is an independent session with records. @throws BatonError `log_damaged` */
    hasLog: (session: string): boolean => {
      const row = findSound(session)
      return row !== undefined && row.root === null && row.pos >= 0
    },
  }
}

function describeRow(row: SessionRow): ListedSession {
  return {
    session: String(row.id),
    records: Number(row.pos) + 1,
    lastMs: Number(row.last_ms),
    isOwned: row.owner !== '',
    ...(row.sum !== hashRow(row) && { damage: createRowError(row.id).message }),
  }
}

function createRowError(session: string): BatonError {
  const message = `session ${session} is damaged: its row in the store does not match its hash`
  return new BatonError({ code: 'log_damaged', message, data: { session } })
}
