// The thread that owns the file. Appends that arrive while one transaction commits make up the next: the group commit.
import { parentPort, workerData } from 'node:worker_threads'
import type { Database } from './database.ts'
import { openDatabase } from './database.ts'
import { lockStore } from './lock.ts'
import type { StoreReply, StoreRequest, StoreValue, WorkerData } from './protocol.ts'
import { describeFailure } from './sqlite-errors.ts'

type Append = Extract<StoreRequest, { readonly type: 'append' }>

function serve(): void {
  const port = parentPort
  if (!port) return
  const reply = (message: StoreReply): void => port.postMessage(message)
  const init = workerData as WorkerData // given by openSqliteStore
  let unlock = (): void => {}
  let database: Database
  try {
    if (!init.readOnly) unlock = lockStore(init.path)
    database = openDatabase(init)
  } catch (cause) {
    unlock()
    reply({ type: 'refused', failure: describeFailure(init.path, cause) })
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
      for (const { id } of batch) reply({ id, type: 'failed', failure: describeFailure(init.path, cause) })
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
      reply({ id: request.id, type: 'failed', failure: describeFailure(init.path, cause) })
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
    case 'release':
      return database.release(request.session, request.epoch, request.left)
    case 'put':
      return database.put(request.request)
    case 'read':
      return database.read(request.session, request.fromPos, request.rows)
    case 'list':
      return database.list(request.after, request.rows)
    case 'restore':
      return database.restore(request.rows)
    case 'remove':
      return database.remove(request.session)
    case 'put-snapshot':
      return database.putSnapshot(request.session, request.body)
    case 'snapshot':
      return database.snapshot(request.session)
    case 'put-blob':
      return database.putBlob(request.session, request.name, request.body)
    case 'blob':
      return database.blob(request.session, request.name)
    case 'blob-names':
      return database.blobNames(request.session)
    case 'close':
      return database.close()
    default:
      return request satisfies never
  }
}

serve()
