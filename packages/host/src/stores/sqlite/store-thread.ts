// The threads and connections of an open file, as the store uses them: writes go through one queue, reads are sent to
// the worker, and both fail if the worker dies.
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

export interface StoreThreadOptions extends WorkerData {
  /** Bytes of the write-ahead log above which commits wait for a checkpoint. */
  readonly logBytes: number
  readonly warn: (message: string) => void
}

export interface StoreThread {
  /** With links resolved. */
  readonly path: string
  /** Durable when it resolves. @throws BatonError `store_failed`, `store_gone`, `log_damaged` */
  write<Value extends ActValue>(act: Act): Promise<Value>
  /** Runs after all earlier writes. @throws BatonError `store_failed`, `store_gone`, `log_damaged` */
  read<Value extends StoreValue>(request: StoreRequestBody): Promise<Value>
  /** @throws BatonError `store_failed` when its thread has ended */
  check(): void
  /** Resolves when the threads have closed the file. */
  close(): Promise<void>
}

/** @throws BatonError `store_locked`, `store_failed`, `log_damaged` when the file cannot be opened */
export async function startStoreThread(init: StoreThreadOptions): Promise<StoreThread> {
  const { logBytes, warn, maxBytes, readOnly } = init
  const worker = startThread('worker', { path: init.path, readOnly, maxBytes })
  worker.on('message', (reply: StoreReply) => reply.type === 'warning' && warn(reply.message))
  const { path, token, commitMs } = await waitForOpening(worker, init.path)
  const requests = new Requests(worker, init.path)
  const owner = token === undefined ? undefined : { token, file: new OpenedFile(path) }
  const here = owner && openDatabase({ path, maxBytes, busyMs: 0, owner })
  // A connection's first commits are slow on any disk, so they are made before a caller waits for one.
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
  // An open store does not keep the process alive; only a pending request does. Called last, because adding a listener
  // to a thread refs it again.
  worker.unref()
  checkpointer?.unref()

  const close = async (): Promise<void> => {
    checkpoints?.stop()
    await queue.ended()
    // The worker closes last, because it copies the log into the database.
    if (here) here.close()
    if (checkpointer) {
      // Kept alive until it has closed the file.
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
      return (await queue.ask(act)) as Value // the caller names the type of its act's answer
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

/** Requests to the worker and their answers. */
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
          resolve(reply.value as never) // the caller names the type of its request's answer
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

/** Starts a thread from the file next to this one: its source if this is source, or the built file. */
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
