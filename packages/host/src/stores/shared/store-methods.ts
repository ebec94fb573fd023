// Store methods as plain data, for requests to a store that another process holds: one name per method, with lists and
// logs in pages. The holder performs them on its store, also for itself.
import type {
  AppendedRecords,
  DueSession,
  ListOptions,
  OutdatedEntry,
  OwnedLogStore,
  RestingSession,
  StoredSession,
} from '@baton/core/internal'
import { BatonError, isBatonError, isErrorCode } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'

/** Records or sessions per page. */
const PAGE_ROWS = 256
/** UTF-16 units of the records in a page, unless it has a single record. */
const PAGE_CHARS = 8_388_608

export interface RecordPage {
  /** Records as JSON text. */
  readonly bodies: readonly string[]
  readonly isEnd: boolean
  /** Why no records follow, if reading failed. */
  readonly failure?: WireError
}

export interface SessionPage<One = StoredSession> {
  readonly sessions: readonly One[]
  readonly isEnd: boolean
}

export interface StoreMethodsOptions {
  readonly store: OwnedLogStore
  /**
   * `undefined` once all former guests have reconnected. Until then, nothing that may be theirs is granted or changed.
   */
  readonly untilBack: () => Promise<void> | undefined
}

export type StoreMethods = ReturnType<typeof createStoreMethods>

export function createStoreMethods({ store, untilBack }: StoreMethodsOptions) {
  const settled =
    <Given extends readonly unknown[], Value>(act: (...given: Given) => Promise<Value>) =>
    async (...given: Given): Promise<Value> => {
      const waiting = untilBack()
      if (waiting) await waiting
      return await act(...given)
    }
  const { renew, release, snapshots, blobs, entries, outbox, heartbeat } = store
  return {
    // An older process sends no entry.
    append: (...[session, epoch, afterPos, records, entry]: AppendArguments) =>
      store.append(session, epoch, afterPos, withEntry(records, entry)),
    renew,
    release,
    rest: async (session: string, epoch: number) => await store.rest?.(session, epoch),
    resume: async (resting: RestingSession) => (await store.resume?.(resting)) ?? false,
    acquire: settled(store.acquire),
    requestHandover: settled(store.requestHandover),
    put: settled(store.put),
    restore: settled(store.restore),
    remove: settled(store.remove),
    read: (session: string, fromPos: number) => readPage(store, session, fromPos),
    list: (after: string | undefined) => takePage(store.list(startAfter(after))),
    children: (root: string, after: string | undefined) => takePage(store.children(root, startAfter(after))),
    listRecoverable: settled((after: string | undefined) =>
      takePage(store.list(startAfter(after)), ({ isOwned, holder }) => isOwned && !holder),
    ),
    listDue: (after: DueSession | undefined) => store.listDue(after),
    snapshotPut: snapshots.put,
    snapshotLatest: snapshots.latest,
    blobPut: blobs.put,
    blobGet: blobs.get,
    blobNames: blobs.names,
    entriesFind: entries.find,
    entriesGet: entries.get,
    entriesPut: entries.put,
    entriesOutdated: (after: string | undefined) => takePage(entries.outdated(startAfter(after))),
    outboxGet: outbox.get,
    outboxSwap: outbox.swap,
    outboxFind: outbox.find,
    health: store.health,
    heartbeatRead: async () => await heartbeat?.read(),
    heartbeatWrite: async (text: string) => await heartbeat?.write(text),
  }
}

type AppendArguments = [...Parameters<OwnedLogStore['append']>, entry?: AppendedRecords['entry']]

/** A list loses its entry on the way between processes. */
export function withEntry(records: readonly SessionRecord[], entry: AppendedRecords['entry']): AppendedRecords {
  return entry ? Object.assign([...records], { entry }) : records
}

async function readPage(store: OwnedLogStore, session: string, fromPos: number): Promise<RecordPage> {
  const bodies: string[] = []
  let chars = 0
  try {
    for await (const record of store.read(session, fromPos)) {
      const body = JSON.stringify(record)
      chars += body.length
      if (bodies.length > 0 && chars > PAGE_CHARS) return { bodies, isEnd: false }
      bodies.push(body)
      if (bodies.length === PAGE_ROWS) return { bodies, isEnd: false }
    }
    return { bodies, isEnd: true }
  } catch (cause) {
    return { bodies, isEnd: true, failure: encodeError(cause) }
  }
}

function startAfter(after: string | undefined): ListOptions {
  return after === undefined ? {} : { after }
}

async function takePage<One extends OutdatedEntry>(
  listed: AsyncIterable<One>,
  isMeant: (session: One) => boolean = () => true,
): Promise<SessionPage<One>> {
  const sessions: One[] = []
  for await (const one of listed) {
    if (isMeant(one)) sessions.push(one)
    if (sessions.length === PAGE_ROWS) return { sessions, isEnd: false }
  }
  return { sessions, isEnd: true }
}

/** An error as it is sent. Foreign errors become `store_failed`. */
export interface WireError {
  readonly code: string
  readonly message: string
  readonly hint?: string
  readonly data?: BatonError['data']
}

export function encodeError(cause: unknown): WireError {
  if (!isBatonError(cause)) return { code: 'store_failed', message: String(cause) }
  const { code, message, hint, data } = cause
  return { code, message, hint, data }
}

export function decodeError(value: unknown): BatonError {
  const { code, message, hint, data } = (value ?? {}) as Partial<WireError> // its fields are checked here
  return new BatonError({
    code: isErrorCode(code) ? code : 'store_failed',
    message: typeof message === 'string' ? message : 'the process that holds the store failed without a reason',
    ...(typeof hint === 'string' && { hint }),
    ...(typeof data === 'object' && data !== null && { data }),
  })
}
