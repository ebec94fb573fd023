// A model that apps run, while the agent runs on a server: each session's calls go to an app of that session.
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
} from '@baton/core'
import { BatonError, checkFields, checkKinds, decodeModelAnswer } from '@baton/core'

export interface ClientModelOptions {
  /** As apps name it: `device/gemma`. The part before the slash is its provider. */
  readonly id: string
  /** Tokens of its window. Set it: without it, nothing makes room for a long history. */
  readonly contextTokens?: number
  /** `none` where what apps run takes no tools; wrap the model with `promptedTools` then. `native` by default. */
  readonly tools?: 'native' | 'none'
  /** Whether it sees images, which then go to the app; false by default. */
  readonly images?: boolean
  /**
   * Milliseconds that a call waits for an app that runs the model, 30,000 by default. Then it fails with `model_network_failed`, and the next
   * of the agent's models is asked, if it has several.
   */
  readonly waitMs?: number
  /** The platform's by default. */
  readonly timers?: Timers
}

const WAIT_MS = 30_000
const WAIT_MOST_MS = 3_600_000
/** Apps of one session. */
const APPS_MAX = 16

/**
 * A model for `defineAgent`. Hand it to the server too (`clientModels` of `createWebSocketFront`), and open the session in the app with
 * `models: { [id]: model }`.
 * @throws BatonError `invalid_option`
 */
export function clientModel(options: ClientModelOptions): ClientModel {
  return new AppModel(options)
}

const FIELDS = new Set(['id', 'contextTokens', 'tools', 'images', 'waitMs', 'timers'])

interface App {
  readonly runner: ModelRunner
  /** Fails what it was asked. */
  readonly running: Set<(cause: BatonError) => void>
  /** It has left, and is asked nothing any more. */
  gone?: BatonError
}

class AppModel implements ClientModel {
  readonly id: string
  readonly provider: string
  readonly capabilities: ModelCapabilities
  readonly #waitMs: number
  readonly #timers: Timers
  /** By session; those that came last stand last. */
  readonly #apps = new Map<string, App[]>()
  /** Calls that wait for an app, by session. */
  readonly #waiting = new Map<string, Set<() => void>>()

  constructor(options: ClientModelOptions) {
    check(options)
    const { id, contextTokens, tools = 'native', images = false, waitMs = WAIT_MS, timers = PLATFORM_TIMERS } = options
    this.id = id
    this.provider = id.split('/', 1)[0] ?? id
    // Requests go to an app of the session alone, and to no provider.
    this.capabilities = { tools, images, network: false, ...(contextTokens !== undefined && { contextTokens }) }
    this.#waitMs = waitMs
    this.#timers = timers
  }

  attach(session: string, runner: ModelRunner): () => void {
    const apps = this.#apps.get(session) ?? []
    if (apps.length >= APPS_MAX)
      throw new BatonError({
        code: 'rate_limited',
        message: `${APPS_MAX} apps of session "${session}" run the model ${this.id} already`,
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

  /** Removes fields for other providers: they may hold a token, as for an MCP server that a provider calls. */
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
      message: `the app that ran the model ${this.id} is gone`,
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
            message: `no app of this session runs the model ${this.id}; ${this.#waitMs} ms were waited for one`,
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

/** Settles when the app answers, is gone, or the call is cancelled; what the app says after that reaches nobody. */
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
    if (app.gone) return fail(app.gone) // it left before the call that had waited for it went on
    const hear = (event: ModelEvent): void => {
      if (isOver) return
      try {
        checkPiece(event)
        sink(event)
      } catch (cause) {
        const message = 'the app streamed a piece of an answer that cannot be used'
        fail(new BatonError({ code: 'model_malformed_answer', message, cause }))
      }
    }
    const take = (answer: ModelAnswer): void => {
      const decoded = decodeModelAnswer(answer)
      if (decoded.ok) resolve(decoded.value)
      else reject(new BatonError(decoded.refusal))
    }
    // Begun at once: between now and a later moment the call may end, and the app would answer for nobody.
    const begin = async (): Promise<ModelAnswer> => await runner.run(request, hear, controller.signal)
    void begin().then(take).catch(reject).finally(end)
  })
}

/**
 * Checks an app's answer, which has any shape. Wrappers, as of prompted tools, read it before the host checks it: a text that is an object of a great
 * length would keep them busy for ever.
 * @throws TypeError
 */
function checkPiece(event: ModelEvent): void {
  const { type } = event
  const isDelta = type === 'text-delta' || type === 'reasoning-delta' || type === 'call-delta'
  if (isDelta && typeof event.text !== 'string') throw new TypeError(`the text of a ${type} is not text`)
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
      ? `id must be text of 1 to ${ID_MAX} characters`
      : !Number.isSafeInteger(waitMs) || waitMs < 0 || waitMs > WAIT_MOST_MS
        ? `waitMs must be a whole number from 0 to ${WAIT_MOST_MS}, not ${waitMs}`
        : contextTokens !== undefined && (!Number.isSafeInteger(contextTokens) || contextTokens < 1)
          ? `contextTokens must be a whole number above 0, not ${contextTokens}`
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
