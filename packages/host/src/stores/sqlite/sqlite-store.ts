// A store in one SQLite file: durable, for one process. All work on the file is done in worker threads.
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { Store } from '@baton/core'
import { BatonError } from '@baton/core'
import type { SessionRecord, Snapshot } from '@baton/core/machine'
import type { AppendOutcome } from './database.ts'
import type { StoreReply, StoreRequest, StoreValue } from './protocol.ts'

/** Records that one read brings over from the worker. */
const READ_ROWS = 256

type Ask = <Value extends StoreValue>(request: WithoutId<StoreRequest>) => Promise<Value>
type WithoutId<Request> = Request extends unknown ? Omit<Request, 'id'> : never

/**
 * Opens or makes the file.
 * @throws BatonError `store_locked` (another process has it), `store_failed` (cannot be opened, or is of a newer format)
 */
export async function openSqliteStore(path: string): Promise<Store> {
  const worker = startThread('worker', path)
  const waiting = new Map<number, (reply: StoreReply) => void>()
  let lastId = 0
  let broken: BatonError | undefined
  await opened(worker, path)

  const breakDown = (why: string): void => {
    broken = new BatonError({ code: 'store_failed', message: `the store ${path} is gone: ${why}` })
    for (const [id, settle] of waiting) settle({ id, type: 'failed', message: why })
    waiting.clear()
  }
  worker.on('message', (reply: StoreReply) => {
    if (!('id' in reply)) return
    waiting.get(reply.id)?.(reply)
    waiting.delete(reply.id)
  })
  worker.on('error', (cause) => breakDown(String(cause)))
  worker.on('exit', () => breakDown('its thread has ended'))
  const checkpointer = startThread('checkpointer', path)
  checkpointer.on('error', () => {}) // the write-ahead log only grows until the file is opened again
  checkpointer.unref()

  const ask: Ask = (request) =>
    new Promise((resolve, reject) => {
      if (broken) {
        reject(broken)
        return
      }
      lastId += 1
      const id = lastId
      waiting.set(id, (reply) => {
        if (reply.type === 'done')
          resolve(reply.value as never) // each request names the type of its own answer
        else
          reject(
            new BatonError({
              code: 'store_failed',
              message: `${path}: ${'message' in reply ? reply.message : reply.type}`,
            }),
          )
      })
      worker.postMessage({ ...request, id })
    })

  let closing: Promise<void> | undefined
  return storeOver(ask, () => {
    closing ??= closeThreads(worker, checkpointer, () => (broken ? Promise.resolve(undefined) : ask({ type: 'close' })))
    return closing
  })
}

/** Both threads have let go of the file when it is done. */
async function closeThreads(worker: Worker, checkpointer: Worker, closeFile: () => Promise<unknown>): Promise<void> {
  const ended = Promise.all([worker, checkpointer].map(threadEnd))
  checkpointer.postMessage('stop')
  await closeFile()
  await ended
}

function threadEnd(thread: Worker): Promise<void> {
  return new Promise((resolve) => {
    if (thread.threadId < 0) resolve()
    else thread.once('exit', () => resolve())
  })
}

function storeOver(ask: Ask, close: () => Promise<void>): Store {
  return {
    acquire: (session, owner) => ask<{ epoch: number; pos: number }>({ type: 'acquire', session, owner }),
    append: async (session, epoch, afterPos, records) => {
      const bodies = records.map((record) => JSON.stringify(record))
      const outcome = await ask<AppendOutcome>({ type: 'append', rows: { session, epoch, afterPos, bodies } })
      if ('conflict' in outcome) throw new BatonError({ code: 'store_conflict', message: outcome.conflict })
      return outcome.pos
    },
    read: async function* (session, fromPos) {
      for (let next = fromPos; ; next += READ_ROWS) {
        const bodies = await ask<readonly string[]>({ type: 'read', session, fromPos: next, rows: READ_ROWS })
        for (const body of bodies) yield JSON.parse(body) as SessionRecord // written by append; the reader checks its version
        if (bodies.length < READ_ROWS) return
      }
    },
    snapshots: {
      put: async (session, snapshot) => {
        await ask({ type: 'put-snapshot', session, body: JSON.stringify(snapshot) })
      },
      latest: async (session) => {
        const body = await ask<string | undefined>({ type: 'snapshot', session })
        return body === undefined ? undefined : (JSON.parse(body) as Snapshot) // written by put; checkVersion comes next
      },
    },
    blobs: {
      put: async (session, name, text) => {
        await ask({ type: 'put-blob', session, name, body: text })
      },
      get: (session, name) => ask<string | undefined>({ type: 'blob', session, name }),
    },
    close,
  }
}

/** A thread beside this file: the source where this is the source, else what was built from it. */
function startThread(name: 'worker' | 'checkpointer', path: string): Worker {
  const file = fileURLToPath(new URL(`./${name}${extname(import.meta.url)}`, import.meta.url))
  const execArgv = file.endsWith('.ts') ? ['--conditions=@baton/source', '--no-warnings'] : ['--no-warnings']
  return new Worker(file, { workerData: { path }, execArgv })
}

function opened(worker: Worker, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown): void =>
      reject(
        new BatonError({
          code: 'store_failed',
          message: `the store ${path} cannot be opened: ${String(cause)}`,
          cause,
        }),
      )
    worker.once('error', fail)
    worker.once('message', (reply: StoreReply) => {
      worker.off('error', fail)
      if (reply.type === 'ready') resolve()
      else if (reply.type === 'refused')
        reject(
          new BatonError({
            code: reply.code,
            message:
              reply.code === 'store_locked' ? reply.message : `the store ${path} cannot be opened: ${reply.message}`,
          }),
        )
    })
  })
}
