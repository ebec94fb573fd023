// Reads a page in a separate thread with limits on time and memory, because a stranger's page must not block others.
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { ToolContext } from '@baton/core'
import { BatonError } from '@baton/core'
import type { HtmlPage, HtmlReply, HtmlRequest } from './html-page.ts'

export interface ThreadLimits {
  /** Milliseconds; 10,000 by default. */
  readonly deadlineMs?: number
  readonly signal: ToolContext['signal']
}

const DEADLINE_MS = 10_000
const MEMORY_MIB = 256
/** Maximum threads per kit: together they may use four times the memory of one. */
const THREADS_MAX = 4

/** The threads of one kit. Pages wait for a free one as long as a page may take. */
export class PageThreads {
  readonly #most: number
  readonly #waiting = new Set<() => void>()
  #running = 0

  constructor(most = THREADS_MAX) {
    this.#most = most
  }

  /** @throws BatonError `api_unavailable` if no thread becomes free in time, and as `readHtmlInThread` does */
  async read(request: HtmlRequest, limits: ThreadLimits): Promise<HtmlPage> {
    while (this.#running >= this.#most) await this.#wait(limits)
    this.#running += 1
    try {
      return await readHtmlInThread(request, limits)
    } finally {
      this.#running -= 1
      const [next] = this.#waiting
      if (next) this.#waiting.delete(next) // two threads may end before it runs
      next?.()
    }
  }

  async #wait({ deadlineMs = DEADLINE_MS, signal }: ThreadLimits): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const message = `${this.#most} pages are being read, and none finished within ${deadlineMs} ms: try again later`
    const timer = setTimeout(() => reject(new BatonError({ code: 'api_unavailable', message })), deadlineMs)
    const abort = (): void => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    this.#waiting.add(resolve)
    try {
      if (signal.aborted) abort()
      await promise
    } finally {
      this.#waiting.delete(resolve)
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    }
  }
}

/** @throws BatonError `api_malformed` if the page cannot be read in time; the reason of an aborted signal */
export async function readHtmlInThread(
  request: HtmlRequest,
  { deadlineMs = DEADLINE_MS, signal }: ThreadLimits,
): Promise<HtmlPage> {
  signal.throwIfAborted()
  const file = fileURLToPath(new URL(`./html-worker${extname(import.meta.url)}`, import.meta.url))
  const worker = new Worker(file, {
    workerData: request,
    execArgv: ['--no-warnings'],
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MIB },
  })
  const { promise, resolve, reject } = Promise.withResolvers<HtmlPage>()
  const fail = (why: string): void =>
    reject(new BatonError({ code: 'api_malformed', message: `the page of ${place(request.url)} ${why}` }))
  worker.on('message', (reply: HtmlReply) => (reply.ok ? resolve(reply.page) : fail(`cannot be read: ${reply.why}`)))
  worker.on('error', () => fail('needs too much memory to be read, or its reader failed'))
  worker.on('exit', () => fail('could not be read'))
  const timer = setTimeout(() => fail(`takes more than ${deadlineMs} ms to read`), deadlineMs)
  const abort = (): void => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
    await worker.terminate()
  }
}

function place(url: string): string {
  return URL.parse(url)?.origin ?? 'this address'
}
