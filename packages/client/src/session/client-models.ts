// The models that this copy of the app runs: for each request of the server, sends the pieces as they arrive, and then
// the whole answer.
import type { AbortSignalLike, ModelAnswer, ModelEvent, ModelRequest } from '@baton/core/internal'
import type { ModelOutcome } from '@baton/protocol'
import { describeThrown } from '../tool-calls.ts'
import type { Notice } from '../wire.ts'
import type { AppModel } from './session-client.ts'
import type { SessionContext } from './session-context.ts'

export type ModelNotice = Extract<Notice, { readonly type: 'model.run' | 'model.cancel' }>

export interface ClientModelsSession extends Pick<SessionContext, 'ask' | 'world'> {
  readonly options: { readonly models?: Readonly<Record<string, AppModel>> }
}

/** Milliseconds to collect pieces: a frame per token would cost more than the token. */
const COLLECT_MS = 40
/** Maximum concurrent calls. A session asks for one at a time; a misbehaving server must not wear out the device. */
const RUNS_MAX = 8
/** Maximum pieces of one frame. */
const PIECES_MAX = 500

export class ClientModels {
  readonly #session: ClientModelsSession
  readonly #running = new Map<string, AbortController>()

  constructor(session: ClientModelsSession) {
    this.#session = session
  }

  take(notice: ModelNotice): void {
    if (typeof notice.run !== 'string') return
    if (notice.type === 'model.cancel') this.#abort(notice.run)
    else void this.#run(notice)
  }

  /** Aborts all runs; the server asks again over the next connection. */
  lose(): void {
    for (const run of this.#running.keys()) this.#abort(run)
  }

  #abort(run: string): void {
    const abort = this.#running.get(run)
    this.#running.delete(run)
    abort?.abort()
  }

  /** Never rejects. */
  async #run({ run, model: name, request }: ModelNotice & { readonly type: 'model.run' }): Promise<void> {
    const { options, world, ask } = this.#session
    if (this.#running.size >= RUNS_MAX) {
      const error = { message: `this app is already answering ${RUNS_MAX} calls`, code: 'model_overloaded' }
      return ask('model.result', { run, outcome: { error } }, () => {})
    }
    this.#abort(run) // in case a server uses an id twice
    const abort = new AbortController()
    this.#running.set(run, abort)
    const isAsked = (): boolean => this.#running.get(run) === abort
    let pieces: ModelEvent[] = []
    let stopTimer: (() => void) | undefined
    const flush = (): void => {
      stopTimer?.()
      stopTimer = undefined
      const written = pieces
      pieces = []
      if (written.length > 0 && isAsked()) ask('model.pieces', { run, pieces: written }, () => {})
    }
    const collect = (piece: ModelEvent): void => {
      if (!isAsked()) return
      JSON.stringify(piece) // throws at the model that wrote an unsendable piece, not at a timer
      pieces.push(piece)
      if (pieces.length >= PIECES_MAX) flush()
      else stopTimer ??= world.start(COLLECT_MS, flush)
    }
    const outcome = await answer(options.models?.[name], { name, request, sink: collect, signal: abort.signal })
    flush()
    if (!isAsked()) return
    this.#running.delete(run)
    ask('model.result', { run, outcome }, (told) => {
      // The answer does not fit a frame or is invalid: report it, so that the session does not wait.
      if (!told.ok && told.error.code !== 'connection_failed')
        ask('model.result', { run, outcome: { error: { message: told.error.message } } }, () => {})
    })
  }
}

/** Never rejects. */
async function answer(
  model: AppModel | undefined,
  asked: {
    readonly name: string
    readonly request: ModelRequest
    readonly sink: (piece: ModelEvent) => void
    readonly signal: AbortSignalLike
  },
): Promise<ModelOutcome> {
  try {
    if (!model) return { error: { message: `this app has no model "${asked.name}"` } }
    const said = await model.run(asked.request, asked.sink, asked.signal)
    // A value that JSON cannot write, such as a BigInt, would throw unnoticed later, and the server would wait.
    return { answer: JSON.parse(JSON.stringify(said ?? null)) as ModelAnswer }
  } catch (thrown) {
    const { code, retryable } = (thrown ?? {}) as { readonly code?: unknown; readonly retryable?: unknown }
    return {
      error: {
        message: describeThrown(thrown),
        ...(typeof code === 'string' && { code }),
        ...(retryable === true && { retryable }),
      },
    }
  }
}
