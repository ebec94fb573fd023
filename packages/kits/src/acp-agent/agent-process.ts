// Another agent as a program that speaks the Agent Client Protocol (version 1, https://agentclientprotocol.com) over
// standard input and output: started on demand, ended when idle, and replaced when it has died.
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { Readable, Writable } from 'node:stream'
import type * as Protocol from '@agentclientprotocol/sdk'
import type {
  AnyMessage,
  ClientContext,
  InitializeResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
} from '@agentclientprotocol/sdk'
import { BatonError, Cutoff, importPeer, isBatonError } from '@baton/core/internal'

export interface AgentProgram {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Prefix of errors. */
  readonly name: string
}

/** Receives events of one agent session. */
export interface SessionListener {
  onUpdate(update: SessionUpdate): void
  askPermission(request: RequestPermissionRequest, signal: AbortSignal): Promise<RequestPermissionResponse>
}

const LINE_BYTES = 16 * 1024 * 1024
const START_MS = 30_000
/** Maximum messages of any kind and session after one request; prompts have a separate limit. */
const MESSAGES_MAX = 400_000
const KILL_MS = 2_000
/** Milliseconds between two checks of whether it has ended. */
const LOOK_MS = 20
const CANCELLED: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } }

export class AgentProcess {
  readonly #program: AgentProgram
  readonly #child: ChildProcess
  readonly #sessions = new Map<string, SessionListener>()
  readonly #open = new Set<string>()
  /** Cuts requests off when the program ends. */
  readonly #ended = new Cutoff()
  readonly #peer: ClientContext
  readonly #close: () => void
  #about: InitializeResponse | undefined
  #ending: Promise<void> | undefined
  /** Messages since the last request to it. */
  #messages = 0
  isAlive = true

  /** Names of the protocol's requests. */
  readonly methods: typeof Protocol.methods

  private constructor(
    { client, methods, ndJsonStream }: typeof Protocol,
    { program, child, ended }: { program: AgentProgram; child: ChildProcess; ended: Promise<never> },
  ) {
    this.methods = methods
    this.#program = program
    this.#child = child
    const input = Writable.toWeb(child.stdin ?? new Writable()) as WritableStream<Uint8Array> // Node's own types
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
    // An overlong line closes the connection and ends the program. A line that is not a message is ignored.
    connection.closed.then(
      () => this.end(),
      () => this.end(),
    )
    // Its child processes may outlive it.
    ended.catch((cause: Error) => {
      this.#ended.end(cause)
      void this.end()
    })
  }

  /**
   * @throws BatonError `api_unavailable` if it cannot be started, exits immediately, or does not answer `initialize`
   * within 30 s; `invalid_option` if the protocol's package is not installed
   */
  static async start(program: AgentProgram, signal: AbortSignal): Promise<AgentProcess> {
    const { command, args, cwd, env, name } = program
    const sdk = await importPeer('@agentclientprotocol/sdk', name, () => import('@agentclientprotocol/sdk'))
    const { methods, PROTOCOL_VERSION } = sdk
    const child = spawn(command, [...args], {
      cwd,
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
    })
    // Drained and discarded, because it may contain keys.
    child.stderr?.resume()
    child.stdin?.on('error', () => {})
    const ended = new Promise<never>((_, reject) => {
      const fail = (why: string): void => reject(new BatonError({ code: 'api_unavailable', message: `${name} ${why}` }))
      // The operating system reports a missing folder and a missing program the same way.
      const why = (cause: Error): string =>
        existsSync(cwd) ? cause.message.slice(0, 200) : `the folder ${cwd} does not exist`
      child.once('error', (cause) => fail(`could not be started: ${why(cause)}`))
      child.once('exit', (code, by) => fail(by === null ? `exited with code ${code}` : `was killed by ${by}`))
    })
    ended.catch(() => {})
    const started = new AgentProcess(sdk, { program, child, ended })
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
          message: `${name} speaks version ${String(about.protocolVersion).slice(0, 20)} of the Agent Client Protocol, not ${PROTOCOL_VERSION}`,
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

  /** Whether the session is open in this run of the program. */
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
   * Waits for a response, but no longer than the program lives.
   * @throws BatonError `api_unavailable` (it exited or timed out), `tool_failed` (it responded with an error); the
   * reason of an aborted signal
   */
  async ask<Value>(
    request: Promise<Value>,
    { signal, timeoutMs, what }: { readonly signal?: AbortSignal; readonly timeoutMs?: number; readonly what: string },
  ): Promise<Value> {
    this.#messages = 0
    const { promise, reject } = Promise.withResolvers<never>()
    const late = `${this.#program.name} did not ${what} within ${timeoutMs} ms`
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => reject(new BatonError({ code: 'api_unavailable', message: late })), timeoutMs)
    const abort = (): void => reject(signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    try {
      if (signal?.aborted) abort()
      return await Promise.race([
        this.#ended.until(request.catch((cause: unknown) => this.#refuse(cause, what))),
        promise,
      ])
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
  }

  /** Throws its error or the reason it exited. Both arrive together, and the exit says more. */
  async #refuse(cause: unknown, what: string): Promise<never> {
    await new Promise((resolve) => setImmediate(resolve))
    if (!this.isAlive) await this.#ended.until(new Promise((resolve) => setTimeout(resolve, KILL_MS).unref()))
    const why = cause instanceof Error ? cause.message.slice(0, 300).toWellFormed() : 'an unknown error'
    throw new BatonError({ code: 'tool_failed', message: `${this.#program.name} did not ${what}: ${why}` })
  }

  /**
   * Ends the program and its child processes, first with SIGTERM, then with SIGKILL. Resolves once all have ended or
   * SIGKILL was sent. Never rejects.
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

  /**
   * Signals the process group; 0 only checks. Returns false if no process is left. The group keeps the program's pid
   * even after the program itself has exited.
   */
  #kill(by: 'SIGTERM' | 'SIGKILL' | 0): boolean {
    const { pid } = this.#child
    if (pid === undefined) return false
    try {
      return process.platform === 'win32' ? this.#child.kill(by) : process.kill(-pid, by)
    } catch {
      return false // it has just exited
    }
  }
}

/**
 * Requests to the agent have numeric ids. The SDK prints responses with unknown ids to the terminal, including their
 * contents.
 */
function isStrayAnswer(message: AnyMessage): boolean {
  return 'id' in message && !('method' in message) && typeof message.id !== 'number'
}

/** A program's standard error is not shown, because it may contain keys. A user who runs the program sees it. */
function sayWhereToLook(thrown: unknown): unknown {
  if (!isBatonError(thrown) || thrown.code !== 'api_unavailable') return thrown
  const message = `${thrown.message}; it had not yet spoken the Agent Client Protocol: run its command in a terminal to see why`
  return new BatonError({ code: thrown.code, message, cause: thrown })
}
