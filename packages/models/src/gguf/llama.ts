// The subset of node-llama-cpp 3 that the adapter uses, redeclared here because the package is an optional peer, loaded
// together with a file.
import type { AbortSignalLike, JsonObject, JsonValue } from '@baton/core/internal'
import { importPeer } from '@baton/core/internal'

export interface LlamaPackage {
  getLlama(options: {
    readonly gpu?: false
    readonly build: 'never'
    readonly logLevel: 'error'
    readonly maxThreads?: number
  }): Promise<Llama>
  readonly LlamaChat: new (options: { readonly contextSequence: unknown }) => LlamaChat
}

export interface Llama {
  loadModel(options: { readonly modelPath: string }): Promise<LlamaModel>
  /** @throws Error if the schema cannot be turned into a grammar */
  createGrammarForJsonSchema(schema: JsonObject): Promise<unknown>
  dispose(): Promise<void>
}

export interface LlamaModel {
  readonly trainContextSize: number
  createContext(options: { readonly contextSize: { readonly max: number } }): Promise<LlamaContext>
  dispose(): Promise<void>
}

export interface LlamaContext {
  readonly contextSize: number
  getSequence(): LlamaSequence
  dispose(): Promise<void>
}

export interface LlamaSequence {
  readonly tokenMeter: { getState(): { readonly usedInputTokens: number; readonly usedOutputTokens: number } }
}

export type ChatItem =
  | { readonly type: 'system' | 'user'; readonly text: string }
  | { readonly type: 'model'; readonly response: (string | FunctionCallItem)[] }

export interface FunctionCallItem {
  readonly type: 'functionCall'
  readonly name: string
  readonly params: JsonValue
  result: JsonValue
}

export interface GenerateOptions {
  readonly functions?: Readonly<Record<string, { readonly description: string; readonly params: JsonObject }>>
  readonly documentFunctionParams?: true
  readonly maxParallelFunctionCalls?: number
  readonly grammar?: unknown
  readonly maxTokens: number
  readonly temperature: number
  readonly topP?: number
  readonly seed?: number
  readonly customStopTriggers?: readonly string[]
  readonly signal: AbortSignalLike
  readonly onTextChunk: (text: string) => void
  readonly onFunctionCallParamsChunk?: (chunk: ParamsChunk) => void
}

export interface ContextFunctions {
  readonly availableFunctions?: GenerateOptions['functions']
  readonly documentFunctionParams?: true
}

export interface ParamsChunk {
  readonly callIndex: number
  readonly functionName: string
  readonly paramsChunk: string
  readonly done: boolean
}

export interface LlamaChat {
  readonly sequence: LlamaSequence
  readonly model: { readonly tokenizer: unknown }
  readonly chatWrapper: {
    /** The whole prompt as `generateResponse` would build it. */
    generateContextState(given: { readonly chatHistory: readonly ChatItem[] } & ContextFunctions): {
      readonly contextText: { tokenize(tokenizer: unknown): { readonly length: number } }
    }
  }
  generateResponse(history: readonly ChatItem[], options: GenerateOptions): Promise<Generated>
}

export interface Generated {
  readonly response: string
  readonly functionCalls?: readonly { readonly functionName: string; readonly params: JsonValue | undefined }[]
  readonly metadata: { readonly stopReason: string }
}

const PACKAGE = 'node-llama-cpp'

/** @throws BatonError `model_not_configured` if the package is not installed; what it throws if it is broken */
export async function loadLlamaPackage(
  load = async (): Promise<unknown> => await import(PACKAGE),
): Promise<LlamaPackage> {
  return (await importPeer(PACKAGE, 'a GGUF model', load, 'model_not_configured')) as LlamaPackage // of version 3
}
