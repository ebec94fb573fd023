// The models run by one connection's device: sends the host's model calls to the app, and returns the app's answers.
import type { AbortSignalLike, ClientModel, ModelAnswer, ModelEvent, ModelRequest } from '@baton/core/internal'
import { BatonError, isErrorCode } from '@baton/core/internal'
import type { V2ClientFrame, ModelError, Requests, V2ServerFrame } from '@baton/protocol'

export interface V2ModelsOptions {
  readonly session: string
  /** Models that the app may run, by id. */
  readonly known: readonly ClientModel[]
  readonly newId: () => string
  readonly write: (frame: Extract<V2ServerFrame, { readonly type: 'model.run' | 'model.cancel' }>) => void
}

type ModelFrame = Extract<V2ClientFrame, { readonly type: 'model.pieces' | 'model.result' }>

interface Run {
  readonly sink: (event: ModelEvent) => void
  readonly end: () => void
  readonly resolve: (answer: ModelAnswer) => void
  readonly reject: (cause: unknown) => void
}

/** Models per device. */
const MODELS_MAX = 16
/** Pieces per frame. */
const PIECES_MAX = 1000

export class V2Models {
  readonly #init: V2ModelsOptions
  readonly #runs = new Map<string, Run>()
  readonly #detach: readonly (() => void)[]

  /** @throws BatonError `invalid_event`, `invalid_option` for a model that does not run in apps, `rate_limited` */
  constructor(init: V2ModelsOptions, names: readonly string[]) {
    this.#init = init
    const models = findModels(init.known, names)
    const detach: (() => void)[] = []
    try {
      for (const model of models)
        detach.push(
          model.attach(init.session, {
            run: (request, sink, signal) => this.#run(model.id, request, { sink, signal }),
          }),
        )
    } catch (cause) {
      for (const leave of detach) leave()
      throw cause
    }
    this.#detach = detach
  }

  /** Whether the frame contains part of an awaited answer. Empty frames must not bypass the rates without limit. */
  awaits({ run, type, ...given }: ModelFrame): boolean {
    if (!this.#runs.has(run)) return false
    if (type === 'model.result') return true
    const { pieces } = given as { readonly pieces?: unknown } // not checked yet
    return Array.isArray(pieces) && pieces.length > 0 && pieces.length <= PIECES_MAX
  }

  take({ run, pieces }: Requests['model.pieces']['given']): object {
    if (pieces.length > PIECES_MAX)
      throw new BatonError({
        code: 'invalid_event',
        message: `pieces must be at most ${PIECES_MAX}, not ${pieces.length}; send the others in another frame`,
      })
    const sink = this.#runs.get(run)?.sink
    for (const piece of pieces) sink?.(piece)
    return {}
  }

  /**
   * @throws BatonError `invalid_event` for an outcome that cannot be read; that ends the call too, since another may
   * never come
   */
  finish({ run, outcome }: Requests['model.result']['given']): { readonly ignored?: 'late' } {
    const waiting = this.#runs.get(run)
    if (!waiting) return { ignored: 'late' }
    waiting.end()
    // Its answer is checked like any model's.
    const isOne = Object.keys(outcome).length === 1
    if (isOne && 'answer' in outcome) waiting.resolve(outcome.answer)
    else if (isOne && 'error' in outcome && isModelError(outcome.error)) waiting.reject(readError(outcome.error))
    else {
      const message = 'model.result: outcome must be { answer: … } or { error: { message: "…" } }'
      waiting.reject(new BatonError({ code: 'model_malformed_answer', message: `the app's ${message}` }))
      throw new BatonError({ code: 'invalid_event', message })
    }
    return {}
  }

  /** Called when the device disconnects or changes its list of models. */
  leave(): void {
    for (const detach of this.#detach) detach()
  }

  #run(
    model: string,
    request: ModelRequest,
    { sink, signal }: { readonly sink: Run['sink']; readonly signal: AbortSignalLike },
  ): Promise<ModelAnswer> {
    const { newId, write } = this.#init
    const run = newId()
    return new Promise((resolve, reject) => {
      const fail = (): void =>
        reject(new BatonError({ code: 'cancelled', message: 'the model call was cancelled', cause: signal.reason }))
      // An aborted signal fires no event, so the app would write an answer that is not awaited.
      if (signal.aborted) return fail()
      const cancel = (): void => {
        end()
        write({ type: 'model.cancel', run })
        fail()
      }
      const end = (): void => {
        this.#runs.delete(run)
        signal.removeEventListener('abort', cancel)
      }
      this.#runs.set(run, { sink, end, resolve, reject })
      signal.addEventListener('abort', cancel)
      write({ type: 'model.run', run, model, request })
    })
  }
}

/** @throws BatonError `invalid_event`, `invalid_option` */
function findModels(known: readonly ClientModel[], names: unknown): readonly ClientModel[] {
  if (!Array.isArray(names) || names.length > MODELS_MAX)
    throw new BatonError({
      code: 'invalid_event',
      message: `device: models must be a list of at most ${MODELS_MAX} names`,
    })
  return [...new Set<unknown>(names)].map((name) => {
    const model = known.find(({ id }) => id === name)
    if (model) return model
    throw new BatonError({
      code: 'invalid_option',
      message: `this server has no model ${JSON.stringify(name).slice(0, 100)} that apps may run`,
      hint: known.length > 0 ? `Apps may run ${known.map(({ id }) => id).join(', ')}.` : 'Apps may run no models here.',
    })
  })
}

function isModelError(given: unknown): given is ModelError {
  return typeof given === 'object' && given !== null && 'message' in given && typeof given.message === 'string'
}

function readError({ message, code, retryable }: ModelError): BatonError {
  const isOfModel = isErrorCode(code) && (code.startsWith('model_') || code === 'context_overflow')
  return new BatonError({
    code: isOfModel ? code : 'model_provider_failed',
    message: `the app's model failed: ${message}`,
    retryable: retryable === true,
  })
}
