// The thread that owns the file. Appends that arrive while one transaction commits make up the next: the group commit.
import { parentPort, workerData } from 'node:worker_threads'
import type { Database } from './database.ts'
import { openDatabase } from './database.ts'
import { lockStore } from './lock.ts'
import type { StoreReply, StoreRequest, StoreValue } from './protocol.ts'

type Append = Extract<StoreRequest, { readonly type: 'append' }>

function serve(): void {
  const port = parentPort
  if (!port) return
  const reply = (message: StoreReply): void => port.postMessage(message)
  const { path } = workerData as { path: string } // given by openSqliteStore
  let unlock: () => void
  let database: Database
  try {
    unlock = lockStore(path)
    database = openDatabase(path)
  } catch (cause) {
    const code = (cause as { code?: unknown }).code === 'store_locked' ? 'store_locked' : 'store_failed'
    reply({ type: 'refused', code, message: messageOf(cause) })
    return
  }

  let appends: Append[] = []
  const commit = (): void => {
    const batch = appends
    appends = []
    try {
      const outcomes = database.appendAll(batch.map(({ rows }) => rows))
      batch.forEach(({ id }, index) => reply({ id, type: 'done', value: outcomes[index] }))
    } catch (cause) {
      for (const { id } of batch) reply({ id, type: 'failed', message: messageOf(cause) })
    }
  }
  port.on('message', (request: StoreRequest) => {
    if (request.type === 'append') {
      // All messages that wait are read before the transaction begins.
      if (appends.push(request) === 1) setImmediate(commit)
      return
    }
    if (appends.length > 0) commit()
    try {
      reply({ id: request.id, type: 'done', value: answer(database, request) })
    } catch (cause) {
      reply({ id: request.id, type: 'failed', message: messageOf(cause) })
    }
    if (request.type === 'close') {
      unlock()
      port.close()
    }
  })
  reply({ type: 'ready' })
}

function answer(database: Database, request: Exclude<StoreRequest, Append>): StoreValue {
  switch (request.type) {
    case 'acquire':
      return database.acquire(request.session, request.owner)
    case 'read':
      return database.read(request.session, request.fromPos, request.rows)
    case 'put-snapshot':
      database.putSnapshot(request.session, request.body)
      return undefined
    case 'snapshot':
      return database.snapshot(request.session)
    case 'put-blob':
      database.putBlob(request.session, request.name, request.body)
      return undefined
    case 'blob':
      return database.blob(request.session, request.name)
    case 'close':
      database.close()
      return undefined
    default:
      return request satisfies never
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}

serve()
