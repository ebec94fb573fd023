// Another agent as a program that speaks the Agent Client Protocol (version 1, https://agentclientprotocol.com) over its standard input and
// output: started when it is needed, ended when it is idle, and told apart from one that died.
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { Readable, Writable } from 'node:stream'
import type {
  AnyMessage,
  ClientContext,
  InitializeResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
} from '@agentclientprotocol/sdk'
import { client, methods, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk'
import { BatonError, isBatonError } from '@baton/core'

export interface AgentProgram {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Begins errors. */
  readonly name: string
}

/** Events in one session of the agent. */
export interface SessionListener {
  onUpdate(update: SessionUpdate): void
  askPermission(request: RequestPermissionRequest, signal: AbortSignal): Promise<RequestPermissionResponse>
}

const LINE_BYTES = 16 * 1024 * 1024
const START_MS = 30_000
/** Messages of whatever kind and session after one request; those of a prompt have their own limit. */
const MESSAGES_MAX = 400_000
const KILL_MS = 2_000
/** Milliseconds between two looks at whether it has ended. */
const LOOK_MS = 20
const CANCELLED: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } }

export class AgentProcess {
  readonly #program: AgentProgram
  readonly #child: ChildProcess
  readonly #sessions = new Map<string, SessionListener>()
  readonly #open = new Set<string>()
  /** Rejects when the program ends. */
  readonly #ended: Promise<never>
  readonly #peer: ClientContext
  readonly #close: () => void
  #about: InitializeResponse | undefined
  #ending: Promise<void> | undefined
  /** Since it was last asked something. */
  #messages = 0
  isAlive = true

  private constructor(program: AgentProgram, child: ChildProcess, ended: Promise<never>) {
    this.#program = program
    this.#child = child
    this.#ended = ended
    const input = Writable.toWeb(child.stdin ?? new Writable()) as WritableStream<Uint8Array> // of Node's own types
    const output = Readable.toWeb(child.stdout ?? Readable.from([])) as ReadableStream<Uint8Array>
    const app = client({ name: 'baton' })
      .onNotification(methods.client.session.update, ({ params }) => {
        this.#sessions.get(params.sessionId)?.onUpdate(params.update)
      })
      .onRequest(methods.client.session.requestPermission, async ({ params, signal }) => {
        const listener = this.#sessions.get(params.sessionId)
        return listener ? await listener.askPermission(params, signal) : CANCELLED
      })
    const { readable, writable } = ndJsonStream(input, output, { maxMessageBytes: LINE_BYTES })
    const heard = new TransformStream<AnyMessage, AnyMessage>({
      transform: (message, controller) => {
        this.#messages += 1
        if (this.#messages > MESSAGES_MAX) void this.end()
        else if (!isStrayAnswer(message)) controller.enqueue(message)
      },
    })
    const connection = app.connect({ readable: readable.pipeThrough(heard), writable })
    this.#peer = connection.agent
    this.#close = () => connection.close()
    // A line that is too long ends the connection, and the program with it. One that is not a message is passed over.
    connection.closed.then(
      () => this.end(),
      () => this.end(),
    )
    // Its child processes may outlive it.
    ended.catch(() => this.end())
  }

  /** @throws BatonError `api_unavailable`: it cannot be started, ends at once, or does not answer `initialize` in 30 s */
  static async start(program: AgentProgram, signal: AbortSignal): Promise<AgentProcess> {
    const { command, args, cwd, env, name } = program
    const child = spawn(command, [...args], {
      cwd,
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
    })
    // Read and thrown away, because it may hold keys.
    child.stderr?.resume()
    child.stdin?.on('error', () => {})
    const ended = new Promise<never>((_, reject) => {
      const fail = (why: string): void => reject(new BatonError({ code: 'api_unavailable', message: `${name} ${why}` }))
      // The system says the same of a missing folder and of a missing program.
      const why = (cause: Error): string =>
        existsSync(cwd) ? cause.message.slice(0, 200) : `there is no folder ${cwd}`
      child.once('error', (cause) => fail(`cannot be started: ${why(cause)}`))
      child.once('exit', (code, by) => fail(by === null ? `ended with code ${code}` : `was ended by ${by}`))
    })
    ended.catch(() => {})
    const started = new AgentProcess(program, child, ended)
    try {
      const greeting = started.ask(
        started.#peer.request(methods.agent.initialize, {
          protocolVersion: PROTOCOL_VERSION,
          clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
        }),
        { signal, timeoutMs: START_MS, what: 'answer' },
      )
      const about = await greeting.catch((thrown: unknown) => {
        throw child.pid === undefined ? thrown : sayWhereToLook(thrown)
      })
      if (about.protocolVersion !== PROTOCOL_VERSION)
        throw new BatonError({
          code: 'api_unavailable',
          message: `${name} speaks version ${String(about.protocolVersion).slice(0, 20)} of the Agent Client Protocol, and not ${PROTOCOL_VERSION}`,
        })
      started.#about = about
      return started
    } catch (thrown) {
      void started.end()
      throw thrown
    }
  }

  get about(): InitializeResponse | undefined {
    return this.#about
  }

  get peer(): ClientContext {
    return this.#peer
  }

  /** Sessions that this run of the program has open. */
  has(sessionId: string): boolean {
    return this.#open.has(sessionId)
  }

  remember(sessionId: string): void {
    this.#open.add(sessionId)
  }

  listen(sessionId: string, listener: SessionListener): () => void {
    this.#sessions.set(sessionId, listener)
    return () => {
      if (this.#sessions.get(sessionId) === listener) this.#sessions.delete(sessionId)
    }
  }

  /**
   * Waits for an answer, and no longer than the program lives.
   * @throws BatonError `api_unavailable` (it ended, or does not answer in time), `tool_failed` (it answered with an error); the reason of an
   * aborted signal
   */
  async ask<Value>(
    request: Promise<Value>,
    { signal, timeoutMs, what }: { readonly signal?: AbortSignal; readonly timeoutMs?: number; readonly what: string },
  ): Promise<Value> {
    this.#messages = 0
    const { promise, reject } = Promise.withResolvers<never>()
    const late = `${this.#program.name} did not ${what} in ${timeoutMs} ms`
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => reject(new BatonError({ code: 'api_unavailable', message: late })), timeoutMs)
    const abort = (): void => reject(signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    try {
      if (signal?.aborted) abort()
      return await Promise.race([request.catch((cause: unknown) => this.#refuse(cause, what)), this.#ended, promise])
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
  }

  /** Its error, or why it ended: both arrive together, and the end says more. */
  async #refuse(cause: unknown, what: string): Promise<never> {
    await new Promise((resolve) => setImmediate(resolve))
    if (!this.isAlive) await Promise.race([this.#ended, new Promise((resolve) => setTimeout(resolve, KILL_MS).unref())])
    const why = cause instanceof Error ? cause.message.slice(0, 300).toWellFormed() : 'an unknown error'
    throw new BatonError({ code: 'tool_failed', message: `${this.#program.name} did not ${what}: ${why}` })
  }

  /**
   * Ends the program and what it started: first by SIGTERM, then by SIGKILL. Resolves when all of it has ended, or was told to for the second
   * time. Never rejects.
   */
  async end(): Promise<void> {
    this.isAlive = false
    this.#close()
    this.#ending ??= this.#endAll()
    await this.#ending
  }

  async #endAll(): Promise<void> {
    this.#kill('SIGTERM')
    for (let waitedMs = 0; waitedMs < KILL_MS && this.#kill(0); waitedMs += LOOK_MS)
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    this.#kill('SIGKILL')
  }

  /** By 0 it only looks. False: there is nobody any more. The group has the number of the program, also when that has ended before the rest. */
  #kill(by: 'SIGTERM' | 'SIGKILL' | 0): boolean {
    const { pid } = this.#child
    if (pid === undefined) return false
    try {
      return process.platform === 'win32' ? this.#child.kill(by) : process.kill(-pid, by)
    } catch {
      return false // it has just ended
    }
  }
}

/** Ids of requests to the agent are numbers. The SDK prints one that it does not know on the terminal, with all that it holds. */
function isStrayAnswer(message: AnyMessage): boolean {
  return 'id' in message && !('method' in message) && typeof message.id !== 'number'
}

/** The standard error of a program is not shown: it may hold keys. A person who starts it sees it. */
function sayWhereToLook(thrown: unknown): unknown {
  if (!isBatonError(thrown) || thrown.code !== 'api_unavailable') return thrown
  const message = `${thrown.message}; it had not yet spoken the Agent Client Protocol: run its command in a terminal to see why`
  return new BatonError({ code: thrown.code, message, cause: thrown })
}
