// The threads and the connections of an open file, as the store sees them: what is written goes through one queue, what is
// read is asked of the worker, and what becomes of both when that dies.
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { BatonError } from '@baton/core'
import type { Act, ActOutcome, ActValue } from './acts.ts'
import { Checkpoints } from './checkpoints.ts'
import { CommitPace, QUICK_MS } from './commit-pace.ts'
import type { Database } from './database.ts'
import { openDatabase } from './database.ts'
import type { Committed, Opening, StoreReply, StoreRequestBody, StoreValue, WorkerData } from './protocol.ts'
import type { StoreFailure } from './sqlite-errors.ts'
import { isBusy } from './sqlite-errors.ts'
import { OpenedFile } from './store-file.ts'
import { WriteQueue } from './write-queue.ts'

export interface StoreThreadInit extends WorkerData {
  /** Bytes of the write-ahead log after which commits wait for it to be written back. */
  readonly logBytes: number
  readonly warn: (message: string) => void
}

export interface StoreThread {
  /** Without links. */
  readonly path: string
  /** Durable when it resolves. @throws BatonError `store_failed`, `store_gone`, `log_damaged` */
  write<Value extends ActValue>(act: Act): Promise<Value>
  /** After all that was written before. @throws BatonError `store_failed`, `store_gone`, `log_damaged` */
  read<Value extends StoreValue>(request: StoreRequestBody): Promise<Value>
  /** @throws BatonError `store_failed` when its thread has ended */
  check(): void
  /** The threads have let go of the file when it is done. */
  close(): Promise<void>
}

/** @throws BatonError `store_locked`, `store_failed`, `log_damaged` when the file cannot be opened */
export async function startStoreThread(init: StoreThreadInit): Promise<StoreThread> {
  const { logBytes, warn, maxBytes, readOnly } = init
  const worker = startThread('worker', { path: init.path, readOnly, maxBytes })
  worker.on('message', (reply: StoreReply) => reply.type === 'warning' && warn(reply.message))
  const { path, token, commitMs } = await waitForOpening(worker, init.path)
  const requests = new Requests(worker, init.path)
  const owner = token === undefined ? undefined : { token, file: new OpenedFile(path) }
  const here = owner && openDatabase({ path, maxBytes, busyMs: 0, owner })
  // The first commit of a connection is slow, whatever the disk: it is made where nobody waits for an answer yet.
  if (here && commitMs <= QUICK_MS) for (let probe = 0; probe < 3; probe++) commitUnlessBusy(here, [PROBE])
  const checkpointer = owner && startThread('checkpointer', { path, logBytes })

  let checkpoints: Checkpoints | undefined
  const queue = new WriteQueue({
    commitHere: (acts) => here && commitUnlessBusy(here, acts),
    commitElsewhere: (acts) => requests.ask<Committed>({ type: 'commit', acts }),
    pace: new CommitPace(commitMs),
    nowMs: () => performance.now(),
    onCommit: (chars) => checkpoints?.note(chars),
  })
  if (checkpointer) checkpoints = new Checkpoints({ path, thread: checkpointer, queue, logBytes, warn })
  // A program that has nothing else to do may end with its store open; a request holds it until it is answered. A thread
  // that is listened to later would count again.
  worker.unref()
  checkpointer?.unref()

  const close = async (): Promise<void> => {
    checkpoints?.stop()
    await queue.ended()
    // The worker is the last one to let go: it writes the log back.
    if (here) here.close()
    if (checkpointer) {
      // Its end is waited for: nothing else may keep the process alive until then.
      checkpointer.ref()
      checkpointer.postMessage('stop')
      await waitForEnd(checkpointer)
    }
    await requests.close()
  }
  let closing: Promise<void> | undefined
  return {
    path,
    write: async <Value extends ActValue>(act: Act) => {
      if (closing) throw createGoneError(init.path, 'it was closed')
      requests.check()
      return (await queue.ask(act)) as Value // each act names the type of its own answer
    },
    read: async (request) => {
      const writing = queue.settled()
      if (writing) await writing
      return await requests.ask(request)
    },
    check: () => requests.check(),
    close: () => (closing ??= close()),
  }
}

const PROBE: Act = { type: 'probe', session: '' }

function commitUnlessBusy(database: Database, acts: readonly Act[]): readonly ActOutcome[] | undefined {
  try {
    return database.commit(acts)
  } catch (cause) {
    if (isBusy(cause)) return undefined
    throw cause
  }
}

/** Questions to the worker and their answers. */
class Requests {
  readonly #worker: Worker
  readonly #path: string
  readonly #waiting = new Map<number, (reply: StoreReply) => void>()
  #lastId = 0
  #broken: BatonError | undefined
  #isClosing = false

  constructor(worker: Worker, path: string) {
    this.#worker = worker
    this.#path = path
    worker.on('message', (reply: StoreReply) => {
      if (!('id' in reply)) return
      this.#waiting.get(reply.id)?.(reply)
      this.#waiting.delete(reply.id)
      if (this.#waiting.size === 0 && !this.#isClosing) worker.unref()
    })
    worker.on('error', (cause) => this.#breakDown(String(cause)))
    worker.on('exit', () => this.#breakDown('its thread has ended'))
  }

  check(): void {
    if (this.#broken) throw this.#broken
  }

  ask<Value extends StoreValue>(request: StoreRequestBody): Promise<Value> {
    return new Promise((resolve, reject) => {
      if (this.#broken) {
        reject(this.#broken)
        return
      }
      this.#lastId += 1
      const id = this.#lastId
      if (this.#waiting.size === 0) this.#worker.ref()
      this.#waiting.set(id, (reply) => {
        if (reply.type === 'done')
          resolve(reply.value as never) // each request names the type of its own answer
        else if (reply.type === 'failed') reject(new BatonError(reply.failure))
      })
      this.#worker.postMessage({ ...request, id })
    })
  }

  async close(): Promise<void> {
    this.#isClosing = true
    this.#worker.ref()
    const ended = waitForEnd(this.#worker)
    if (!this.#broken) await this.ask({ type: 'close' })
    await ended
  }

  #breakDown(why: string): void {
    this.#broken ??= createGoneError(this.#path, why)
    const failure = { code: 'store_failed', message: this.#broken.message } as const
    for (const [id, settle] of this.#waiting) settle({ id, type: 'failed', failure })
    this.#waiting.clear()
  }
}

function createGoneError(path: string, why: string): BatonError {
  return new BatonError({ code: 'store_failed', message: `the store ${path} is gone: ${why}` })
}

function waitForEnd(thread: Worker): Promise<void> {
  return new Promise((resolve) => {
    if (thread.threadId < 0) resolve()
    else thread.once('exit', () => resolve())
  })
}

/** A thread beside this file: the source where this is the source, else what was built from it. */
function startThread(name: 'worker' | 'checkpointer', data: object): Worker {
  const file = fileURLToPath(new URL(`./${name}${extname(import.meta.url)}`, import.meta.url))
  const execArgv = file.endsWith('.ts') ? ['--conditions=@baton/source', '--no-warnings'] : ['--no-warnings']
  return new Worker(file, { workerData: data, execArgv })
}

function waitForOpening(worker: Worker, path: string): Promise<Opening> {
  return new Promise((resolve, reject) => {
    const refuse = (failure: StoreFailure): void => reject(new BatonError(failure))
    const fail = (cause: unknown): void =>
      refuse({ code: 'store_failed', message: `the store ${path} cannot be opened: ${String(cause)}` })
    const take = (reply: StoreReply): void => {
      if (reply.type !== 'refused' && reply.type !== 'ready') return
      worker.off('error', fail).off('message', take)
      if (reply.type === 'refused') refuse(reply.failure)
      else resolve(reply.opening)
    }
    worker.once('error', fail)
    worker.on('message', take)
  })
}
