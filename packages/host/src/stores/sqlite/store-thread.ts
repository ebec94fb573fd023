// The worker thread as the main thread sees it: requests and their answers, and what becomes of them when it dies.
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { BatonError } from '@baton/core'
import type { StoreReply, StoreRequestBody, StoreValue, WorkerData } from './protocol.ts'
import type { StoreFailure } from './sqlite-errors.ts'

export interface StoreThread {
  /** @throws BatonError `store_failed`, `log_damaged`, `session_exists` */
  ask<Value extends StoreValue>(request: StoreRequestBody): Promise<Value>
  /** @throws BatonError `store_failed` when its thread has ended */
  check(): void
  /** Both threads have let go of the file when it is done. */
  close(): Promise<void>
}

/** @throws BatonError `store_locked`, `store_failed`, `log_damaged` when the file cannot be opened */
export async function startStoreThread(data: WorkerData): Promise<StoreThread> {
  const { path } = data
  const worker = startThread('worker', data)
  const waiting = new Map<number, (reply: StoreReply) => void>()
  let lastId = 0
  let broken: BatonError | undefined
  await opened(worker, path)

  const breakDown = (why: string): void => {
    broken = new BatonError({ code: 'store_failed', message: `the store ${path} is gone: ${why}` })
    const failure = { code: 'store_failed', message: broken.message } as const
    for (const [id, settle] of waiting) settle({ id, type: 'failed', failure })
    waiting.clear()
  }
  worker.on('message', (reply: StoreReply) => {
    if (!('id' in reply)) return
    waiting.get(reply.id)?.(reply)
    waiting.delete(reply.id)
  })
  worker.on('error', (cause) => breakDown(String(cause)))
  worker.on('exit', () => breakDown('its thread has ended'))
  const checkpointer = data.readOnly ? undefined : startThread('checkpointer', data)
  checkpointer?.on('error', () => {}) // the write-ahead log only grows until the file is opened again
  checkpointer?.unref()

  const ask: StoreThread['ask'] = (request) =>
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
        else if (reply.type === 'failed') reject(new BatonError(reply.failure))
      })
      worker.postMessage({ ...request, id })
    })

  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    const ended = Promise.all([worker, ...(checkpointer ? [checkpointer] : [])].map(threadEnd))
    // Its end is waited for: nothing else may keep the process alive until then.
    checkpointer?.ref()
    checkpointer?.postMessage('stop')
    if (!broken) await ask({ type: 'close' })
    await ended
  }
  const check = (): void => {
    if (broken) throw broken
  }
  return { ask, check, close: () => (closing ??= close()) }
}

function threadEnd(thread: Worker): Promise<void> {
  return new Promise((resolve) => {
    if (thread.threadId < 0) resolve()
    else thread.once('exit', () => resolve())
  })
}

/** A thread beside this file: the source where this is the source, else what was built from it. */
function startThread(name: 'worker' | 'checkpointer', workerData: WorkerData): Worker {
  const file = fileURLToPath(new URL(`./${name}${extname(import.meta.url)}`, import.meta.url))
  const execArgv = file.endsWith('.ts') ? ['--conditions=@baton/source', '--no-warnings'] : ['--no-warnings']
  return new Worker(file, { workerData, execArgv })
}

function opened(worker: Worker, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (failure: StoreFailure): void => reject(new BatonError(failure))
    const fail = (cause: unknown): void =>
      refuse({ code: 'store_failed', message: `the store ${path} cannot be opened: ${String(cause)}` })
    worker.once('error', fail)
    worker.once('message', (reply: StoreReply) => {
      worker.off('error', fail)
      if (reply.type === 'refused') refuse(reply.failure)
      else resolve()
    })
  })
}
