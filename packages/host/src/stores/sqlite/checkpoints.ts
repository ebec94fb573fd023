// Decides when to checkpoint the write-ahead log: shortly after a commit, and past a size limit while commits wait,
// because a log under constant writes never restarts by itself. A reader that stays open keeps the log from shrinking,
// which is logged.
import { statSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import type { CheckpointReply, CheckpointRequest } from './protocol.ts'
import type { WriteQueue } from './write-queue.ts'

export interface CheckpointsOptions {
  readonly path: string
  readonly thread: Worker
  readonly queue: WriteQueue
  /** Bytes of the log above which commits wait for a checkpoint. */
  readonly logBytes: number
  readonly warn: (message: string) => void
}

/** Milliseconds from a commit to its checkpoint, and UTF-16 units of commits that trigger it earlier. */
const AFTER_MS = 1000
const AFTER_CHARS = 1_048_576
/**
 * Bytes of the log above which commits briefly wait for the pages written during a checkpoint. The log then restarts
 * and is overwritten: syncing a growing file costs about twice the CPU time.
 */
const REUSE_BYTES = 4_194_304
/** Warns when the log exceeds its limit this many times. */
const TOLD_AT = 4

const NOTHING: CheckpointReply = { restBytes: 0, logBytes: 0 }

export class Checkpoints {
  readonly #init: CheckpointsOptions
  #chars = 0
  #timer: NodeJS.Timeout | undefined
  /** Resolvers of the open requests, in order: the thread answers them one after another. */
  readonly #answers: ((reply: CheckpointReply) => void)[] = []
  #toldBytes = 0
  #longInARow = 0
  /** The checkpoint in progress; never rejects. */
  #passing: Promise<void> = Promise.resolve()
  #isHolding = false
  /** Set when the thread has ended. */
  #hasEnded = false

  constructor(init: CheckpointsOptions) {
    this.#init = init
    const ended = (): void => {
      this.#hasEnded = true
      for (const answer of this.#answers.splice(0)) answer(NOTHING)
    }
    init.thread.on('message', (reply: CheckpointReply) => this.#take(reply))
    init.thread.on('error', ended) // the write-ahead log only grows until the file is opened again
    init.thread.on('exit', ended)
  }

  /** Called after each commit. */
  note(chars: number): void {
    this.#chars += chars
    if (this.#hasEnded) return
    if (this.#answers.length > 0) {
      this.#holdBack()
      return
    }
    if (this.#chars > AFTER_CHARS) this.#begin()
    else this.#timer ??= setTimeout(() => this.#begin(), AFTER_MS).unref()
  }

  stop(): void {
    this.#hasEnded = true
    clearTimeout(this.#timer)
  }

  #begin(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#chars = 0
    const { queue, logBytes } = this.#init
    this.#passing = this.#ask('PASSIVE')
      .then((reply) => {
        if (this.#hasEnded) return
        if (reply.logBytes > logBytes) queue.alone(() => this.#writeAllBack())
        // Passive: does not wait for a reader that stays open.
        else if (reply.logBytes > REUSE_BYTES) queue.alone(async () => void (await this.#ask('PASSIVE')))
      })
      .catch(() => {}) // an answer never fails
  }

  /** Makes commits wait if they outpace the running checkpoint and exceed the limit. */
  #holdBack(): void {
    const { queue, logBytes } = this.#init
    if (this.#isHolding || this.#chars <= logBytes) return
    this.#isHolding = true
    queue.alone(async () => {
      await this.#passing
      this.#isHolding = false
    })
  }

  async #writeAllBack(): Promise<void> {
    await this.#ask('TRUNCATE')
    const { path, logBytes, warn } = this.#init
    const bytes = measureLog(path)
    this.#longInARow = bytes < TOLD_AT * logBytes ? 0 : this.#longInARow + 1
    // A read that is about to end may keep it from shrinking once.
    if (this.#longInARow < 2 || bytes < 2 * this.#toldBytes) return
    this.#toldBytes = bytes
    warn(
      `the write-ahead log of the store ${path} has grown to ${bytes} bytes because another program keeps a read transaction open`,
    )
  }

  #ask(mode: CheckpointRequest['mode']): Promise<CheckpointReply> {
    if (this.#hasEnded) return Promise.resolve(NOTHING)
    const { thread } = this.#init
    return new Promise((resolve) => {
      // The process must not exit while commits may be waiting for the answer.
      if (this.#answers.length === 0) thread.ref()
      this.#answers.push(resolve)
      thread.postMessage({ mode } satisfies CheckpointRequest)
    })
  }

  #take(reply: CheckpointReply): void {
    this.#answers.shift()?.(reply)
    if (this.#answers.length === 0 && !this.#hasEnded) this.#init.thread.unref()
  }
}

export function measureLog(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
}
