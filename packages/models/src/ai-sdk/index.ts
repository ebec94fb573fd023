// Adapts any AI SDK 7 language model to a Baton model: `fromAiSdkModel(xai('grok-4'))`. AI SDK provider packages do
// their own networking, so Baton's transport and its timeouts between bytes do not apply.
import type { AbortSignalLike, Model, ModelCapabilities } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import { chooseToolNames } from '../tool-names.ts'
import { cancelledError } from '../transport/transport-errors.ts'
import { createAiSdkDecoder } from './decode-stream.ts'
import { encodeCallOptions } from './encode-prompt.ts'
import { describeCapabilities } from '../traits/find-traits.ts'
import type { TraitsOverride } from '../traits/model-traits.ts'
import { describeError } from './errors.ts'
import type { AiSdkLanguageModel, CallOptions, StreamPart } from './language-model.ts'

export type { AiSdkLanguageModel } from './language-model.ts'

/** Options of `fromAiSdkModel`. */
export interface AiSdkModelOptions {
  /** Overrides for the model's row in the traits table: `{ contextTokens: 32_768, images: false }`. */
  readonly traits?: TraitsOverride
  /** Whether the provider enforces output schemas; `none` by default, because AI SDK models do not report it. */
  readonly output?: ModelCapabilities['output']
  /** Maximum milliseconds before the first part and between two parts; 30 s by default. */
  readonly timeoutMs?: number
  /**
   * Maximum UTF-16 units of one answer: text, reasoning and arguments. Streamed arguments count twice. 8 Mi by default.
   */
  readonly answerLengthMax?: number
}

const TIMEOUT_MS = 30_000

/** @throws BatonError `unknown_model` if the value is not a language model of specification v4 */
export function fromAiSdkModel(model: AiSdkLanguageModel, options: AiSdkModelOptions = {}): Model {
  if (model.specificationVersion !== 'v4' || typeof model.doStream !== 'function')
    throw new BatonError({
      code: 'unknown_model',
      message: `fromAiSdkModel needs a language model from AI SDK 7 (specification v4), not ${String(model.specificationVersion)}`,
    })
  const { traits: override, output = 'none', timeoutMs = TIMEOUT_MS, answerLengthMax } = options
  const provider = `ai-sdk:${model.provider}`
  const target = { provider, model: model.modelId, traits: override }
  const told = describeCapabilities({ model: model.modelId, override })
  return {
    id: `${provider}/${model.modelId}`,
    provider,
    capabilities: { ...told, tools: 'native', output },
    run: async (request, sink, signal) => {
      const names = chooseToolNames(request)
      const decoder = createAiSdkDecoder({
        ...target,
        names,
        sink,
        ...(answerLengthMax !== undefined && { answerLengthMax }),
      })
      const asked = encodeCallOptions(request, { ...target, names })
      try {
        await read({ model, asked, signal, timeoutMs }, (part) => decoder.push(part))
      } catch (cause) {
        throw signal.aborted ? cancelledError(signal) : describeError(provider, cause)
      }
      return decoder.end()
    },
  }
}

interface Reading {
  readonly model: AiSdkLanguageModel
  readonly asked: CallOptions
  readonly signal: AbortSignalLike
  readonly timeoutMs: number
}

/** Closes the stream and aborts the request however reading ends. */
async function read({ model, asked, signal, timeoutMs }: Reading, onPart: (part: StreamPart) => void): Promise<void> {
  if (signal.aborted) throw cancelledError(signal)
  const controller = new AbortController()
  const watch = createWatch(signal, timeoutMs)
  let parts: AsyncIterator<unknown> | undefined
  try {
    // A provider's class may require more properties than the type declares.
    const options = { ...asked, abortSignal: controller.signal } as never
    const { stream } = await watch.within(model.doStream(options))
    parts = stream[Symbol.asyncIterator]()
    for (;;) {
      const next = await watch.within(parts.next())
      if (next.done === true) return
      onPart(next.value as StreamPart) // other part types are ignored
    }
  } finally {
    watch.stop()
    controller.abort()
    // Not awaited: an iterator that ignores its signal may never settle, and its outcome is irrelevant.
    parts?.return?.().catch(() => {})
  }
}

interface Watch {
  /** @throws BatonError `model_timeout`, `cancelled` */
  within<Value>(work: PromiseLike<Value>): Promise<Value>
  stop(): void
}

/** A provider that ignores its signal must not block the turn or keep streaming. */
function createWatch(signal: AbortSignalLike, timeoutMs: number): Watch {
  let timer: ReturnType<typeof setTimeout> | undefined
  let leave: (cause: BatonError) => void = () => {}
  const onAbort = (): void => leave(cancelledError(signal))
  signal.addEventListener('abort', onAbort)
  return {
    within: (work) =>
      new Promise((resolve, reject) => {
        leave = reject
        clearTimeout(timer)
        timer = setTimeout(() => {
          reject(new BatonError({ code: 'model_timeout', message: `no data arrived for ${timeoutMs} ms` }))
        }, timeoutMs)
        work.then(resolve, reject)
        if (signal.aborted) onAbort()
      }),
    stop: () => {
      signal.removeEventListener('abort', onAbort)
      clearTimeout(timer)
    },
  }
}
