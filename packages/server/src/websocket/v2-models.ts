// The models that the device of one connection runs: what the host asks of them goes to the app, and what the app writes comes back.
import type { AbortSignalLike, ClientModel, ModelAnswer, ModelEvent, ModelRequest } from '@baton/core'
import { BatonError, isErrorCode } from '@baton/core'
import type { ClientFrame2, ModelError, Requests, ServerFrame2 } from '@baton/protocol'

export interface V2ModelsInit {
  readonly session: string
  /** Models that the app may run, by id. */
  readonly known: readonly ClientModel[]
  readonly newId: () => string
  readonly write: (frame: Extract<ServerFrame2, { readonly type: 'model.run' | 'model.cancel' }>) => void
}

type ModelFrame = Extract<ClientFrame2, { readonly type: 'model.pieces' | 'model.result' }>

interface Run {
  readonly sink: (event: ModelEvent) => void
  readonly end: () => void
  readonly resolve: (answer: ModelAnswer) => void
  readonly reject: (cause: unknown) => void
}

/** Models of one device. */
const MODELS_MAX = 16
/** Pieces of one frame. */
const PIECES_MAX = 1000

export class V2Models {
  readonly #init: V2ModelsInit
  readonly #runs = new Map<string, Run>()
  readonly #detach: readonly (() => void)[]

  /** @throws BatonError `invalid_event`, `invalid_option` for a model that the server does not leave to apps, `rate_limited` */
  constructor(init: V2ModelsInit, names: readonly string[]) {
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

  /** Whether the frame brings something of an answer that is awaited. One that brings nothing would be free without end. */
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

  /** @throws BatonError `invalid_event` for an outcome that cannot be read, which ends the call too: another one may never come */
  finish({ run, outcome }: Requests['model.result']['given']): { readonly ignored?: 'late' } {
    const waiting = this.#runs.get(run)
    if (!waiting) return { ignored: 'late' }
    waiting.end()
    // Its answer is checked like every model's.
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

  /** The device is gone, or has another list of models. */
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
      // A signal that is aborted already tells nobody: the app would write an answer that nobody waits for.
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
      message: `this server leaves no model ${JSON.stringify(name).slice(0, 100)} to apps`,
      hint:
        known.length > 0 ? `Models that apps run here: ${known.map(({ id }) => id).join(', ')}.` : 'It leaves none.',
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
