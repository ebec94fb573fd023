// When the write-ahead log is written back: a moment after a commit, and beyond a bound while commits wait, since a log that
// is always written to never begins anew by itself. A reader that stays open keeps it from shrinking, and is told about.
import { statSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import type { CheckpointReply, CheckpointRequest } from './protocol.ts'
import type { WriteQueue } from './write-queue.ts'

export interface CheckpointsInit {
  readonly path: string
  readonly thread: Worker
  readonly queue: WriteQueue
  /** Bytes of the log after which commits wait for it to be written back. */
  readonly logBytes: number
  readonly warn: (message: string) => void
}

/** Milliseconds from a commit to the writing back, and UTF-16 units of commits after which it comes earlier. */
const AFTER_MS = 1000
const AFTER_CHARS = 1_048_576
/**
 * Bytes of the log from which commits wait for the little that came during its writing back. The log begins anew then, and
 * is written over: a sync of a file that grows costs the processor about twice as much.
 */
const REUSE_BYTES = 4_194_304
/** The operator is warned of a log that is this many times its bound. */
const TOLD_AT = 4

const NOTHING: CheckpointReply = { restBytes: 0, logBytes: 0 }

export class Checkpoints {
  readonly #init: CheckpointsInit
  #chars = 0
  #timer: NodeJS.Timeout | undefined
  /** Resolvers of the open requests, in their order: the thread answers them one after another. */
  readonly #answers: ((reply: CheckpointReply) => void)[] = []
  #toldBytes = 0
  #longInARow = 0
  /** The writing back that is under way; never rejects. */
  #passing: Promise<void> = Promise.resolve()
  #isHolding = false
  /** No thread is there to ask, or nobody wants anything any more. */
  #hasEnded = false

  constructor(init: CheckpointsInit) {
    this.#init = init
    const ended = (): void => {
      this.#hasEnded = true
      for (const answer of this.#answers.splice(0)) answer(NOTHING)
    }
    init.thread.on('message', (reply: CheckpointReply) => this.#take(reply))
    init.thread.on('error', ended) // the write-ahead log only grows until the file is opened again
    init.thread.on('exit', ended)
  }

  /** After each commit. */
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
        // A reader that stays open is not waited for.
        else if (reply.logBytes > REUSE_BYTES) queue.alone(async () => void (await this.#ask('PASSIVE')))
      })
      .catch(() => {}) // an answer never fails
  }

  /** Commits may be quicker than the writing back that is under way: beyond the bound they wait for it. */
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
    // A reading that is just ending keeps it from shrinking once.
    if (this.#longInARow < 2 || bytes < 2 * this.#toldBytes) return
    this.#toldBytes = bytes
    warn(
      `the write-ahead log of the store ${path} has grown to ${bytes} bytes: another program reads the file and does not end its reading`,
    )
  }

  #ask(mode: CheckpointRequest['mode']): Promise<CheckpointReply> {
    if (this.#hasEnded) return Promise.resolve(NOTHING)
    const { thread } = this.#init
    return new Promise((resolve) => {
      // Commits may wait for the answer, and a program that waits for nothing else must not end.
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
