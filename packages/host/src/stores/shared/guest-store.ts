// A store held by another process: each method asks the current holder. Calls in progress when a holder ends are sent
// to the next one, and are not performed twice.
import type { BatonError, ListOptions, OutdatedEntry, StoreHealth } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import { ReadPace } from '../read-pace.ts'
import type { SqliteStore } from '../sqlite/sqlite-store.ts'
import type { Outcome, StoreAccess, Value } from './store-access.ts'
import type { SessionPage, StoreMethods } from './store-methods.ts'
import { decodeError } from './store-methods.ts'

type Ask = <Name extends keyof StoreMethods>(
  method: Name,
  ...args: Parameters<StoreMethods[Name]>
) => Promise<Value<Name>>

export function createGuestStore(access: StoreAccess): SqliteStore {
  const ask: Ask = async <Name extends keyof StoreMethods>(method: Name, ...args: Parameters<StoreMethods[Name]>) =>
    takeValue<Value<Name>>(await access.ask(method, ...args))
  const close = (): Promise<void> => access.close()
  return {
    get leaseMs() {
      return access.leaseMs
    },
    ...openLogs(access, ask),
    ...openOwnership(access, ask),
    snapshots: {
      put: (session, snapshot) => ask('snapshotPut', session, snapshot),
      latest: (session) => ask('snapshotLatest', session),
    },
    blobs: {
      put: (session, name, text) => ask('blobPut', session, name, text),
      get: (session, name) => ask('blobGet', session, name),
      names: (session) => ask('blobNames', session),
    },
    entries: {
      find: (query) => ask('entriesFind', query),
      get: (session) => ask('entriesGet', session),
      outdated: ({ after }: ListOptions = {}) => listAll((from) => ask('entriesOutdated', from), after),
      put: (session, pos, entry) => ask('entriesPut', session, pos, entry),
    },
    outbox: {
      get: (session, name) => ask('outboxGet', session, name),
      swap: (session, name, was, row) => ask('outboxSwap', session, name, was, row),
      find: (query) => ask('outboxFind', query),
    },
    health: () => askHealth(access),
    heartbeat: {
      read: () => ask('heartbeatRead'),
      write: (text) => ask('heartbeatWrite', text),
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

type Logs = Pick<
  SqliteStore,
  'put' | 'read' | 'list' | 'children' | 'listRecoverable' | 'listDue' | 'restore' | 'remove'
>

function openLogs(access: StoreAccess, ask: Ask): Logs {
  const pace = new ReadPace()
  return {
    put: (session, records, under) => ask('put', session, records, under),
    read: (session, fromPos) => readAll(ask, { session, fromPos, pace }),
    list: ({ after }: ListOptions = {}) => listAll((from) => ask('list', from), after),
    children: (root, { after }: ListOptions = {}) => listAll((from) => ask('children', root, from), after),
    listRecoverable: () => listAll((from) => ask('listRecoverable', from), undefined),
    listDue: (after) => ask('listDue', after),
    restore: async (session, records, under) => {
      const outcome = await access.ask('restore', session, records, under)
      if (isInDoubt(outcome, 'session_exists') && (await isStored(ask, { session, afterPos: -1, records }))) return
      takeValue(outcome)
    },
    remove: async (session, owner) => {
      await ask('remove', session, owner)
      access.noteReleased(session)
    },
  }
}

type Ownership = Pick<SqliteStore, 'acquire' | 'append' | 'renew' | 'release' | 'rest' | 'resume' | 'requestHandover'>

function openOwnership(access: StoreAccess, ask: Ask): Ownership {
  return {
    acquire: async (session, owner, address, under) => {
      const outcome = await ask('acquire', session, owner, address, under)
      if (outcome.type === 'acquired' && !under)
        access.noteHeld({ session, owner, epoch: outcome.epoch, ...(address !== undefined && { address }) })
      return outcome
    },
    append: async (session, epoch, afterPos, records) => {
      const outcome = await access.ask('append', session, epoch, afterPos, records, records.entry)
      if (isInDoubt(outcome, 'store_conflict') && (await isStored(ask, { session, afterPos, records })))
        return afterPos + records.length
      return takeValue(outcome)
    },
    renew: (owner) => ask('renew', owner),
    release: (session, epoch, left) => {
      // Keeps the next holder from restoring a lease that is being given up.
      access.noteReleased(session, epoch)
      return ask('release', session, epoch, left)
    },
    rest: (session, epoch) => {
      access.noteResting(session, epoch)
      return ask('rest', session, epoch)
    },
    resume: async (resting) => {
      const { session, owner, epoch, address } = resting
      const isResumed = await ask('resume', resting)
      if (isResumed) access.noteHeld({ session, owner, epoch, ...(address !== undefined && { address }) })
      else access.noteReleased(session, epoch)
      return isResumed
    },
    requestHandover: (session, owner) => ask('requestHandover', session, owner),
  }
}

function takeValue<Answer>(outcome: Outcome<Answer>): Answer {
  if (outcome.type === 'failed') throw outcome.error
  return outcome.value
}

/** Never rejects. */
async function askHealth(access: StoreAccess): Promise<StoreHealth> {
  const outcome = await access.ask('health')
  if (outcome.type === 'value') return outcome.value
  const { code, message, hint } = outcome.error
  return { ok: false, code, message, hint }
}

interface Reading {
  readonly session: string
  readonly fromPos: number
  readonly pace: ReadPace
}

async function* readAll(ask: Ask, { session, fromPos, pace }: Reading): AsyncGenerator<SessionRecord> {
  // JSON has no Infinity.
  for (let next = Math.min(Math.max(0, fromPos), Number.MAX_SAFE_INTEGER); ;) {
    const { bodies, isEnd, failure } = await ask('read', session, next)
    for (const body of bodies) {
      const turn = pace.takeTurn(body.length)
      if (turn) await turn
      yield JSON.parse(body) as SessionRecord // as the holder's store returned it
    }
    next += bodies.length
    if (failure) throw decodeError(failure)
    if (isEnd) return
  }
}

async function* listAll<One extends OutdatedEntry>(
  page: (after: string | undefined) => Promise<SessionPage<One>>,
  first: string | undefined,
): AsyncGenerator<One> {
  for (let after = first; ;) {
    const { sessions, isEnd } = await page(after)
    yield* sessions
    if (isEnd) return
    after = sessions.at(-1)?.session
  }
}

/** Whether the call may have been refused because an earlier try, whose answer was lost, had succeeded. */
function isInDoubt({ type, isRepeated, ...rest }: Outcome<unknown>, code: BatonError['code']): boolean {
  return type === 'failed' && isRepeated && 'error' in rest && rest.error.code === code
}

interface Stored {
  readonly session: string
  readonly afterPos: number
  readonly records: readonly SessionRecord[]
}

/** Whether exactly these records, epochs included, are stored at their positions. */
async function isStored(ask: Ask, { session, afterPos, records }: Stored): Promise<boolean> {
  let index = 0
  for await (const record of readAll(ask, { session, fromPos: afterPos + 1, pace: new ReadPace() })) {
    if (JSON.stringify(record) !== JSON.stringify(records[index])) return false
    index += 1
    if (index === records.length) return true
  }
  return false
}
