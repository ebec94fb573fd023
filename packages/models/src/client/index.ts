// A model that runs in apps while the agent runs on a server. Calls of a session go to an app connected to that
// session.
import type {
  AbortSignalLike,
  ClientModel,
  ModelAnswer,
  ModelCapabilities,
  ModelEvent,
  ModelRequest,
  ModelRunner,
  ModelSettings,
  Timers,
} from '@baton/core/internal'
import { BatonError, checkFields, checkKinds, decodeModelAnswer } from '@baton/core/internal'

export type { ClientModel } from '@baton/core/internal'

/** Options of `clientModel`: `{ id: 'device/gemma', contextTokens: 8192 }`. */
export interface ClientModelOptions {
  /** The name apps use, such as `device/gemma`. The part before the slash is the provider. */
  readonly id: string
  /** Context window in tokens. Set it: without it, long histories are never trimmed. */
  readonly contextTokens?: number
  /** `none` if the app's model does not support tools; wrap the model in `promptedTools` then. `native` by default. */
  readonly tools?: 'native' | 'none'
  /** Whether the model accepts images, which are then sent to the app; false by default. */
  readonly images?: boolean
  /**
   * Milliseconds that a call waits for an app that runs the model; 30,000 by default. After that it fails with
   * `model_network_failed`, and the agent's next model is tried, if it has one.
   */
  readonly waitMs?: number
  /** The platform's by default. */
  readonly timers?: Timers
}

const WAIT_MS = 30_000
const WAIT_MOST_MS = 3_600_000
/** Maximum apps per session. */
const APPS_MAX = 16

/**
 * A model for `defineAgent`. Also pass it to the server (`clientModels` of `createWebSocketFront`), and open the
 * session in the app with `models: { [id]: model }`.
 * @throws BatonError `invalid_option`
 */
export function clientModel(options: ClientModelOptions): ClientModel {
  return new AppModel(options)
}

const FIELDS = new Set(['id', 'contextTokens', 'tools', 'images', 'waitMs', 'timers'])

interface App {
  readonly runner: ModelRunner
  /** Callbacks that fail the app's running calls. */
  readonly running: Set<(cause: BatonError) => void>
  /** Set once the app has disconnected; it gets no further calls. */
  gone?: BatonError
}

class AppModel implements ClientModel {
  readonly id: string
  readonly provider: string
  readonly capabilities: ModelCapabilities
  readonly #waitMs: number
  readonly #timers: Timers
  /** Apps by session, in order of arrival. */
  readonly #apps = new Map<string, App[]>()
  /** Calls waiting for an app, by session. */
  readonly #waiting = new Map<string, Set<() => void>>()

  constructor(options: ClientModelOptions) {
    check(options)
    const { id, contextTokens, tools = 'native', images = false, waitMs = WAIT_MS, timers = PLATFORM_TIMERS } = options
    this.id = id
    this.provider = id.split('/', 1)[0] ?? id
    // Requests go only to an app of the session, never to a provider.
    this.capabilities = { tools, images, network: false, ...(contextTokens !== undefined && { contextTokens }) }
    this.#waitMs = waitMs
    this.#timers = timers
  }

  attach(session: string, runner: ModelRunner): () => void {
    const apps = this.#apps.get(session) ?? []
    if (apps.length >= APPS_MAX)
      throw new BatonError({
        code: 'rate_limited',
        message: `session "${session}" already has ${APPS_MAX} apps that run the model ${this.id}`,
      })
    const app: App = { runner, running: new Set() }
    apps.push(app)
    this.#apps.set(session, apps)
    for (const wake of this.#waiting.get(session) ?? []) wake()
    return () => this.#detach(session, app)
  }

  async run(request: ModelRequest, sink: (event: ModelEvent) => void, signal: AbortSignalLike): Promise<ModelAnswer> {
    const app = this.#apps.get(request.session)?.at(-1) ?? (await this.#waitForApp(request.session, signal))
    return await ask(app, { request: { ...request, settings: this.#ownSettings(request.settings) }, sink, signal })
  }

  /** Removes fields for other providers: they may hold a token, such as for an MCP server that a provider calls. */
  #ownSettings({ provider, serverTools, ...settings }: ModelSettings): ModelSettings {
    const own = provider?.[this.provider]
    const tools = serverTools?.[this.provider]
    return {
      ...settings,
      ...(own && { provider: { [this.provider]: own } }),
      ...(tools && { serverTools: { [this.provider]: tools } }),
    }
  }

  #detach(session: string, app: App): void {
    const apps = (this.#apps.get(session) ?? []).filter((other) => other !== app)
    if (apps.length > 0) this.#apps.set(session, apps)
    else this.#apps.delete(session)
    const gone = new BatonError({
      code: 'model_network_failed',
      message: `the app that ran the model ${this.id} disconnected`,
      retryable: true,
    })
    app.gone = gone
    for (const fail of app.running) fail(gone)
  }

  #waitForApp(session: string, signal: AbortSignalLike): Promise<App> {
    return new Promise<App>((resolve, reject) => {
      const waiting = this.#waiting.get(session) ?? new Set()
      this.#waiting.set(session, waiting)
      const end = (): void => {
        stopTimer()
        signal.removeEventListener('abort', onAbort)
        waiting.delete(onAttach)
        if (waiting.size === 0) this.#waiting.delete(session)
      }
      const onAttach = (): void => {
        const app = this.#apps.get(session)?.at(-1)
        if (!app) return
        end()
        resolve(app)
      }
      const onAbort = (): void => {
        end()
        reject(createCancelled(signal))
      }
      const stopTimer = this.#timers.start(this.#waitMs, () => {
        end()
        reject(
          new BatonError({
            code: 'model_network_failed',
            message: `no app of this session runs the model ${this.id}; waited ${this.#waitMs} ms for one`,
            hint: `Open the session in an app with models: { "${this.id}": … }, or give the agent another model after this one.`,
          }),
        )
      })
      waiting.add(onAttach)
      signal.addEventListener('abort', onAbort)
      if (signal.aborted) onAbort()
    })
  }
}

interface Asked {
  readonly request: ModelRequest
  readonly sink: (event: ModelEvent) => void
  readonly signal: AbortSignalLike
}

/**
 * Settles when the app answers or disconnects, or the call is cancelled. Anything the app sends afterwards is ignored.
 */
function ask(app: App, { request, sink, signal }: Asked): Promise<ModelAnswer> {
  const { runner, running } = app
  return new Promise<ModelAnswer>((resolve, reject) => {
    let isOver = false
    const controller = new AbortController()
    const end = (): void => {
      isOver = true
      running.delete(fail)
      signal.removeEventListener('abort', onAbort)
    }
    const fail = (cause: BatonError): void => {
      end()
      reject(cause)
      controller.abort()
    }
    const onAbort = (): void => fail(createCancelled(signal))
    running.add(fail)
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) return onAbort()
    if (app.gone) return fail(app.gone) // it disconnected before the waiting call resumed
    const hear = (event: ModelEvent): void => {
      if (isOver) return
      try {
        checkPiece(event)
        sink(event)
      } catch (cause) {
        const message = 'the app streamed an invalid piece of an answer'
        fail(new BatonError({ code: 'model_malformed_answer', message, cause }))
      }
    }
    const take = (answer: ModelAnswer): void => {
      const decoded = decodeModelAnswer(answer)
      if (decoded.ok) resolve(decoded.value)
      else reject(new BatonError(decoded.refusal))
    }
    // Starts synchronously: if the call ended before a deferred start, the app would answer a call that no longer
    // exists.
    const begin = async (): Promise<ModelAnswer> => await runner.run(request, hear, controller.signal)
    void begin().then(take).catch(reject).finally(end)
  })
}

/**
 * Validates a piece of an app's answer, which may have any shape. Wrappers such as prompted tools read pieces before
 * the host checks them; an object with a huge `length` in place of text would keep them busy forever.
 * @throws TypeError
 */
function checkPiece(event: ModelEvent): void {
  const { type } = event
  const isDelta = type === 'text-delta' || type === 'reasoning-delta' || type === 'call-delta'
  if (isDelta && typeof event.text !== 'string') throw new TypeError(`the text of a ${type} must be a string`)
}

function createCancelled(signal: AbortSignalLike): BatonError {
  return new BatonError({ code: 'cancelled', message: 'the model call was cancelled', cause: signal.reason })
}

/** @throws BatonError `invalid_option` */
function check(options: ClientModelOptions): void {
  const what = 'clientModel'
  checkFields(options, { what, code: 'invalid_option', fields: FIELDS })
  checkKinds(options, {
    what,
    code: 'invalid_option',
    kinds: { id: 'text', tools: ['native', 'none'], images: 'true or false' },
  })
  const { id, contextTokens, waitMs = WAIT_MS } = options
  const wrong =
    id === '' || id.length > ID_MAX
      ? `id must be a string of 1 to ${ID_MAX} characters`
      : !Number.isSafeInteger(waitMs) || waitMs < 0 || waitMs > WAIT_MOST_MS
        ? `waitMs must be a whole number from 0 to ${WAIT_MOST_MS}, not ${waitMs}`
        : contextTokens !== undefined && (!Number.isSafeInteger(contextTokens) || contextTokens < 1)
          ? `contextTokens must be a whole number greater than 0, not ${contextTokens}`
          : undefined
  if (wrong !== undefined) throw new BatonError({ code: 'invalid_option', message: `${what}: ${wrong}` })
}

const ID_MAX = 128

const PLATFORM_TIMERS: Timers = {
  start: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
}
