// A GGUF file as a model in this process, by node-llama-cpp: loaded and warmed once, shared by all sessions. Calls are written
// by grammar, so their arguments always parse.
import type {
  AbortSignalLike,
  FinishReason,
  JsonObject,
  Model,
  ModelAnswer,
  ModelEvent,
  ModelPart,
  ModelRequest,
  ToolDeclaration,
} from '@baton/core'
import { BatonError, describeValue, isBatonError } from '@baton/core'
import { access } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { compileSchema } from '../schema/compile-schema.ts'
import { withSayableOutput } from '../schema/sayable-output.ts'
import type { ToolNames } from '../tool-names.ts'
import { chooseToolNames } from '../tool-names.ts'
import { mergeTraits } from '../traits/find-traits.ts'
import type { ModelTraits, TraitsOverride } from '../traits/model-traits.ts'
import { PLAIN_TRAITS } from '../traits/model-traits.ts'
import { chooseSampling } from '../traits/sampling.ts'
import { limitOutput, planThinking } from '../traits/thinking-plan.ts'
import { encodeHistory } from './encode-history.ts'
import { findForced, partOfForced, streamForced } from './forced-call.ts'
import type { ChatItem, GenerateOptions, Generated, Llama, LlamaChat, ParamsChunk } from './llama.ts'
import { loadLlamaPackage } from './llama.ts'
import { createWorkQueue } from './work-queue.ts'

export interface GgufModelOptions {
  /** Tokens of the window; at most what the model was trained for. 8,192 by default: memory grows with it. */
  readonly contextTokens?: number
  /** Requests that may wait while one is answered. 16. */
  readonly waitingMax?: number
  /** Threads of the processor; all but one by default. */
  readonly threads?: number
  /**
   * Corrections of the model's traits: `{ thinking: { kind: 'untold', off: 'never' } }` gives its thoughts room beside the answer. Of
   * these count `thinking`, `outputTokens`, `sampling`, `output`, `stop`, `singleCalls`, `schemas`, and `contextTokens` where the option of that
   * name is absent.
   */
  readonly traits?: TraitsOverride
}

export interface GgufModel extends Model {
  /** Ends what runs and gives the memory back. */
  close(): Promise<void>
}

const CONTEXT_TOKENS = 8192
/** Traits of a file, whose name says nothing: it may hold a model of any family. */
const GGUF_TRAITS: ModelTraits = { ...PLAIN_TRAITS, images: false, output: 'without-tools' }
const WAITING_MAX = 16

/**
 * Loads the file and answers nothing yet.
 * @throws BatonError `model_not_configured` (no such file, no GGUF file, or node-llama-cpp is not installed or cannot start)
 */
export async function loadGgufModel(path: string, options: GgufModelOptions = {}): Promise<GgufModel> {
  if (typeof path !== 'string') {
    const message = `loadGgufModel takes the path of a file, not ${describeValue(path)}`
    throw new BatonError({ code: 'invalid_option', message })
  }
  const file = resolve(path)
  await access(file).catch((cause: unknown) => {
    throw new BatonError({
      code: 'model_not_configured',
      message: `there is no file ${file} to load a model from; https://huggingface.co/models?library=gguf has such files`,
      cause,
    })
  })
  const { getLlama, LlamaChat: Chat } = await loadLlamaPackage()
  // Threads that wait for each other by spinning need a processor each.
  const { threads = Math.max(1, availableParallelism() - 1) } = options
  const llama = await getLlama({ build: 'never', logLevel: 'error', maxThreads: threads }).catch((cause: unknown) => {
    throw new BatonError({
      code: 'model_not_configured',
      message: `node-llama-cpp cannot start on this machine: ${readMessage(cause)}`,
      cause,
    })
  })
  try {
    const model = await llama.loadModel({ modelPath: file })
    const wished = options.contextTokens ?? options.traits?.contextTokens ?? CONTEXT_TOKENS
    const most = Math.min(wished, model.trainContextSize)
    const context = await model.createContext({ contextSize: { max: most } })
    const chat = new Chat({ contextSequence: context.getSequence() })
    await chat.generateResponse(structuredClone(WARM_UP), {
      maxTokens: 1,
      temperature: 0,
      signal: NEVER,
      onTextChunk: () => {},
    })
    return modelOver({
      llama,
      chat,
      file,
      contextTokens: context.contextSize,
      waitingMax: options.waitingMax ?? WAITING_MAX,
      traits: mergeTraits(GGUF_TRAITS, { ...options.traits, contextTokens: context.contextSize }),
    })
  } catch (cause) {
    await llama.dispose()
    throw new BatonError({
      code: 'model_not_configured',
      message: `${file} cannot be loaded as a model: ${readMessage(cause)}`,
      cause,
    })
  }
}

/** One line: the package explains at length how to build it. */
function readMessage(cause: unknown): string {
  return (cause instanceof Error ? cause.message : String(cause)).split('\n', 1)[0] ?? ''
}

const WARM_UP: readonly ChatItem[] = [
  { type: 'user', text: 'Hi' },
  { type: 'model', response: [] },
]
const NEVER = new AbortController().signal

interface Loaded {
  readonly llama: Llama
  readonly chat: LlamaChat
  readonly file: string
  readonly contextTokens: number
  readonly waitingMax: number
  readonly traits: ModelTraits
}

function modelOver(loaded: Loaded): GgufModel {
  const queue = createWorkQueue(loaded.waitingMax)
  const closing = new AbortController()
  return {
    id: `gguf:${loaded.file}`,
    provider: 'gguf',
    capabilities: {
      tools: 'native',
      images: false,
      network: false,
      output: loaded.traits.output,
      contextTokens: loaded.contextTokens,
    },
    run: async (request, sink, signal) => {
      const either = anyOf(signal, closing.signal)
      try {
        return await queue.run(() => answer(loaded, { request, sink, signal: either.signal }), either.signal)
      } finally {
        either.release()
      }
    },
    close: async () => {
      closing.abort()
      await queue.idle()
      await loaded.llama.dispose()
    },
  }
}

/** `release` takes the listeners away: the model lives longer than its calls. */
function anyOf(
  one: AbortSignalLike,
  other: AbortSignal,
): { readonly signal: AbortSignal; readonly release: () => void } {
  const controller = new AbortController()
  const abort = (): void => controller.abort()
  const signals = [one, other]
  for (const signal of signals) {
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort)
  }
  const release = (): void => signals.forEach((signal) => signal.removeEventListener('abort', abort))
  return { signal: controller.signal, release }
}

interface Asked {
  readonly request: ModelRequest
  readonly sink: (event: ModelEvent) => void
  readonly signal: AbortSignal
}

async function answer(loaded: Loaded, asked: Asked): Promise<ModelAnswer> {
  const { chat, file } = loaded
  const { signal } = asked
  const request = withSayableOutput(asked.request, 'gguf', compileSchema, loaded.traits.schemas)
  const names = chooseToolNames(request)
  const history = encodeHistory(request, names)
  const before = chat.sequence.tokenMeter.getState()
  try {
    const wished = await optionsFor(loaded, { ...asked, request }, names)
    const options = { ...wished, maxTokens: Math.min(wished.maxTokens, roomFor(loaded, history, wished)) }
    // Its chat writes into the history that it is given.
    const said = await chat.generateResponse(structuredClone(history), options)
    const after = chat.sequence.tokenMeter.getState()
    const forced = findForced(request)
    if (forced && said.response !== '') asked.sink({ type: 'call-end', index: 0 })
    return {
      ...listParts(said, names, forced),
      usage: {
        inputTokens: after.usedInputTokens - before.usedInputTokens,
        outputTokens: after.usedOutputTokens - before.usedOutputTokens,
      },
      model: file,
    }
  } catch (cause) {
    if (isBatonError(cause)) throw cause
    if (signal.aborted) throw new BatonError({ code: 'cancelled', message: 'the model call was aborted', cause })
    const why = readMessage(cause)
    const code = /context/i.test(why) ? 'context_overflow' : 'model_provider_failed'
    throw new BatonError({ code, message: `the local model failed: ${why}`, cause })
  }
}

/** The part of the window that node-llama-cpp keeps free for the answer, and leaves out older items for. */
const FREE_SHARE = 0.1

/**
 * Tokens that are left for the answer. Its chat would leave out what does not fit, before the answer or in the middle of it,
 * and say nothing.
 * @throws BatonError `context_overflow`
 */
function roomFor({ chat, contextTokens }: Loaded, history: readonly ChatItem[], options: GenerateOptions): number {
  const { functions, documentFunctionParams } = options
  const { contextText } = chat.chatWrapper.generateContextState({
    chatHistory: history,
    ...(functions && { availableFunctions: functions }),
    ...(documentFunctionParams && { documentFunctionParams }),
  })
  const tokens = contextText.tokenize(chat.model.tokenizer).length
  const most = contextTokens - Math.max(1, Math.floor(contextTokens * FREE_SHARE))
  // The window is full one token early.
  if (tokens <= most) return contextTokens - tokens - 1
  throw new BatonError({
    code: 'context_overflow',
    message: `the request has ${tokens} tokens, and the window of the local model takes ${most} of its ${contextTokens}`,
    hint: 'Shorten the instructions or the tools, or load the model with a larger contextTokens.',
  })
}

async function optionsFor(
  { llama, traits }: Loaded,
  { request, sink, signal }: Asked,
  names: ToolNames,
): Promise<GenerateOptions> {
  const { settings, tools, toolChoice, output } = request
  const plan = planThinking(traits, settings)
  const tokens = settings.maxOutputTokens
  const base = {
    // The model's own tokenizer finds the room in its window, see `roomFor`.
    maxTokens:
      tokens === undefined ? Number.MAX_SAFE_INTEGER : (limitOutput(traits, tokens, { plan, request }) ?? tokens),
    temperature: 0,
    ...chooseSampling(traits, settings, { thinks: plan.isOn, temperatureMax: Infinity }),
    ...(settings.seed !== undefined && { seed: settings.seed }),
    ...(settings.stop && traits.stop && { customStopTriggers: settings.stop }),
    signal,
    onTextChunk: (text: string) => sink({ type: 'text-delta', text }),
  }
  if (output)
    return { ...base, grammar: await llama.createGrammarForJsonSchema(compileSchema(output.schema, 'gguf').schema) }
  if (tools.length === 0 || toolChoice.type === 'none') return base
  const forced = findForced(request)
  if (forced) {
    const { customStopTriggers: _, ...plain } = base
    const { schema } = compileSchema(forced.inputSchema, 'gguf')
    const grammar = await llama.createGrammarForJsonSchema(await grammarSchema(llama, schema))
    return { ...plain, grammar, onTextChunk: streamForced(forced, sink) }
  }
  const declared = await Promise.all(
    tools.map(async ({ name, description, inputSchema }) => {
      const params = await grammarSchema(llama, compileSchema(inputSchema, 'gguf').schema)
      return [names.encode(name), { description, params }] as const
    }),
  )
  return {
    ...base,
    functions: Object.fromEntries(declared),
    documentFunctionParams: true,
    ...(settings.parallelCalls === false && traits.singleCalls && { maxParallelFunctionCalls: 1 }),
    onFunctionCallParamsChunk: streamCalls(sink, names),
  }
}

/** A schema that no grammar can say costs its own tool the arguments' shape, and the others nothing. */
async function grammarSchema(llama: Llama, schema: JsonObject): Promise<JsonObject> {
  return await llama.createGrammarForJsonSchema(schema).then(
    () => schema,
    () => ({ type: 'object', properties: {} }),
  )
}

function streamCalls(sink: (event: ModelEvent) => void, names: ToolNames): (chunk: ParamsChunk) => void {
  let begun = -1
  return ({ callIndex: index, functionName, paramsChunk, done }) => {
    if (index > begun) sink({ type: 'call-start', index, name: names.decode(functionName) })
    begun = Math.max(begun, index)
    if (paramsChunk !== '') sink({ type: 'call-delta', index, text: paramsChunk })
    if (done) sink({ type: 'call-end', index })
  }
}

/** Calls that it gives are whole: one that the limit cut off is not among them. */
function listParts(
  { response, functionCalls = [], metadata }: Generated,
  names: ToolNames,
  forced: ToolDeclaration | undefined,
): Pick<ModelAnswer, 'parts' | 'finish'> {
  const isCut = metadata.stopReason === 'maxTokens'
  if (forced) return { parts: [partOfForced(forced, response)], finish: isCut ? 'max-tokens' : 'tool-calls' }
  const text: ModelPart[] = response === '' ? [] : [{ type: 'text', text: response }]
  const calls = functionCalls.map(({ functionName, params }): ModelPart => ({
    type: 'call',
    name: names.decode(functionName),
    arguments: JSON.stringify(params ?? {}),
  }))
  const finish: FinishReason = isCut ? 'max-tokens' : calls.length > 0 ? 'tool-calls' : 'end'
  return { parts: [...text, ...calls], finish }
}
