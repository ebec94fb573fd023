// Errors that prevent a local model from loading: its file, its package. Tests with a real model are in
// packages/testing.
import type { ModelSettings } from '@baton/core'
import { afterEach, expect, test, vi } from 'vitest'
import type { GgufModelOptions } from './index.ts'
import { loadGgufModel } from './index.ts'
import type { GenerateOptions } from './llama.ts'
import { loadLlamaPackage } from './llama.ts'

const PACKAGE = 'node-llama-cpp'
const FILE = import.meta.filename

afterEach(() => {
  vi.doUnmock(PACKAGE)
})

test('a package that has no binary for this machine is one clear line', async () => {
  const error = new Error('no prebuilt binary was found\nThe build option is "never"')
  vi.doMock(PACKAGE, () => ({ getLlama: () => Promise.reject(error), LlamaChat: class {} }))
  await expect(loadGgufModel(FILE)).rejects.toMatchObject({
    code: 'model_not_configured',
    message: 'node-llama-cpp cannot start on this machine: no prebuilt binary was found',
  })
})

test('a package that is missing is named, with the command that installs it', async () => {
  const missing = Object.assign(new Error(`Cannot find package "${PACKAGE}"`), { code: 'ERR_MODULE_NOT_FOUND' })
  await expect(loadLlamaPackage(() => Promise.reject(missing))).rejects.toMatchObject({
    code: 'model_not_configured',
    message: 'a GGUF model needs the package node-llama-cpp, which is not installed: npm install node-llama-cpp',
  })
})

test('a package that is installed but broken is reported as it failed', async () => {
  const broken = new Error('the binary is for another machine')
  await expect(loadLlamaPackage(() => Promise.reject(broken))).rejects.toBe(broken)
})

test('a file that is no model is named, and what was begun is given back', async () => {
  let disposed = 0
  const llama = {
    loadModel: () => Promise.reject(new Error('not a GGUF file')),
    dispose: () => Promise.resolve(void (disposed += 1)),
  }
  vi.doMock(PACKAGE, () => ({ getLlama: () => Promise.resolve(llama), LlamaChat: class {} }))
  await expect(loadGgufModel(FILE)).rejects.toMatchObject({
    code: 'model_not_configured',
    message: `could not load ${FILE} as a model: not a GGUF file`,
  })
  expect(disposed).toBe(1)
})

test('a file that is not there is named', async () => {
  await expect(loadGgufModel('/nothing')).rejects.toMatchObject({
    code: 'model_not_configured',
    message: 'the model file /nothing does not exist; see https://huggingface.co/models?library=gguf for GGUF files',
  })
})

/** Tokens that the chat evaluates for each request; it holds the rest from the one before. */
const EVALUATED = 5

/** A chat whose history has as many tokens as characters, and that records its token limit. */
function chatOf(seen: GenerateOptions[]) {
  const used = { usedInputTokens: 0, usedOutputTokens: 0 }
  const meter = { getState: () => ({ ...used }) }
  return class {
    readonly sequence = { tokenMeter: meter }
    readonly model = { tokenizer: undefined }
    readonly chatWrapper = {
      generateContextState: ({ chatHistory }: { chatHistory: readonly unknown[] }) => ({
        contextText: { tokenize: () => ({ length: JSON.stringify(chatHistory).length }) },
      }),
    }
    generateResponse(_history: unknown, options: GenerateOptions) {
      seen.push(options)
      used.usedInputTokens += EVALUATED
      used.usedOutputTokens += 2
      return Promise.resolve({ response: 'Hi', metadata: { stopReason: 'eogToken' } })
    }
  }
}

/** A model over an empty chat, whose window is as long as the context it is created with. */
async function load(seen: GenerateOptions[], options: GgufModelOptions = {}) {
  const contextOf = ({ contextSize: { max } }: { readonly contextSize: { readonly max: number } }) =>
    Promise.resolve({ contextSize: max, getSequence: () => ({}) })
  const loaded = { trainContextSize: 1000, createContext: contextOf }
  const llama = { loadModel: () => Promise.resolve(loaded), dispose: () => Promise.resolve() }
  vi.doMock(PACKAGE, () => ({ getLlama: () => Promise.resolve(llama), LlamaChat: chatOf(seen) }))
  const model = await loadGgufModel(FILE, options)
  const ask = (text: string, settings: ModelSettings) =>
    model.run(
      {
        instructions: '',
        messages: [{ role: 'user', parts: [{ type: 'text', text }] }],
        tools: [],
        toolChoice: { type: 'auto' },
        settings,
        session: 's',
      },
      () => undefined,
      new AbortController().signal,
    )
  return { model, ask }
}

test('a request that does not fit the window is an error, and an answer never pushes out what was said', async () => {
  const seen: GenerateOptions[] = []
  const { ask } = await load(seen)
  const settings = { maxOutputTokens: 512 }
  await ask('x', settings)
  await ask('x'.repeat(700), settings)
  await expect(ask('x'.repeat(950), settings)).rejects.toMatchObject({ code: 'context_overflow' })
  const [, short, long] = seen.map(({ maxTokens }) => maxTokens)
  expect([short, seen.length, (long ?? 0) < 300]).toEqual([512, 3, true])
})

test('the tokens of an answer are those of its whole request, and those that the model still held count as cached', async () => {
  const { ask } = await load([])
  const [short, long] = [await ask('x', {}), await ask('x'.repeat(100), {})]
  const inputTokens = short.usage.inputTokens ?? 0
  expect(inputTokens).toBeGreaterThan(EVALUATED)
  expect(short.usage).toEqual({ inputTokens, cacheReadTokens: inputTokens - EVALUATED, outputTokens: 2 })
  expect(long.usage.inputTokens).toBe(inputTokens + 99)
})

test('what is known of the model decides what it is asked for', async () => {
  const seen: GenerateOptions[] = []
  const settings = { maxOutputTokens: 100, temperature: 0.5, topP: 0.9, stop: ['END'] }
  const plain = await load(seen)
  await plain.ask('x', settings)
  expect(seen.at(-1)).toMatchObject({ maxTokens: 100, temperature: 0.5, topP: 0.9, customStopTriggers: ['END'] })
  const thinking = { kind: 'untold', off: 'never' } as const
  const known = await load(seen, {
    traits: { contextTokens: 800, thinking, sampling: 'refused', stop: false, output: 'none' },
  })
  await known.ask('x', settings)
  expect(known.model.capabilities).toMatchObject({ contextTokens: 800, output: 'none', images: false })
  expect(seen.at(-1)).toMatchObject({ maxTokens: 400, temperature: 0 })
  expect(seen.at(-1)).not.toHaveProperty('customStopTriggers')
  const short = await load(seen, { contextTokens: 700, traits: { contextTokens: 800, outputTokens: 50 } })
  await short.ask('x', settings)
  expect([short.model.capabilities.contextTokens, seen.at(-1)?.maxTokens]).toEqual([700, 50])
})

test('a file is loaded and warmed once for all requests, and its window is 8,192 tokens at most', async () => {
  let loaded = 0
  const asked: number[] = []
  const generated: GenerateOptions[] = []
  const createContext = ({ contextSize: { max } }: { readonly contextSize: { readonly max: number } }) => {
    asked.push(max)
    return Promise.resolve({ contextSize: max, getSequence: () => ({}) })
  }
  const llama = {
    loadModel: () => Promise.resolve({ trainContextSize: 32_768, createContext, loads: (loaded += 1) }),
    dispose: () => Promise.resolve(),
  }
  vi.doMock(PACKAGE, () => ({ getLlama: () => Promise.resolve(llama), LlamaChat: chatOf(generated) }))
  const model = await loadGgufModel(FILE)
  const parts = [{ type: 'text', text: 'Hi' }] as const
  const request = { instructions: '', tools: [], toolChoice: { type: 'auto' }, settings: {} } as const
  for (const session of ['one', 'two', 'three'])
    await model.run(
      { ...request, messages: [{ role: 'user', parts }], session },
      () => {},
      new AbortController().signal,
    )
  expect([loaded, asked, generated.length]).toEqual([1, [8192], 1 + 3])
})
