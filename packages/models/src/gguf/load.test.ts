// What stands in the way of a local model, in words: its file, its package. The model itself is in packages/testing.
import { afterEach, expect, test, vi } from 'vitest'
import { loadGgufModel } from './index.ts'

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

test('a file that is no model is named, and what was begun is given back', async () => {
  let disposed = 0
  const llama = {
    loadModel: () => Promise.reject(new Error('not a GGUF file')),
    dispose: () => Promise.resolve(void (disposed += 1)),
  }
  vi.doMock(PACKAGE, () => ({ getLlama: () => Promise.resolve(llama), LlamaChat: class {} }))
  await expect(loadGgufModel(FILE)).rejects.toMatchObject({
    code: 'model_not_configured',
    message: `${FILE} cannot be loaded as a model: not a GGUF file`,
  })
  expect(disposed).toBe(1)
})

test('a file that is not there is named', async () => {
  await expect(loadGgufModel('/nothing')).rejects.toMatchObject({
    code: 'model_not_configured',
    message: 'there is no file /nothing to load a model from',
  })
})

/** A chat whose history has as many tokens as characters, and that tells how many it may write. */
function chatOf(seen: { maxTokens: number }[]) {
  const meter = { getState: () => ({ usedInputTokens: 0, usedOutputTokens: 0 }) }
  return class {
    readonly sequence = { tokenMeter: meter }
    readonly model = { tokenizer: undefined }
    readonly chatWrapper = {
      generateContextState: ({ chatHistory }: { chatHistory: readonly unknown[] }) => ({
        contextText: { tokenize: () => ({ length: JSON.stringify(chatHistory).length }) },
      }),
    }
    generateResponse(_history: unknown, options: { maxTokens: number }) {
      seen.push(options)
      return Promise.resolve({ response: 'Hi', metadata: { stopReason: 'eogToken' } })
    }
  }
}

test('a request that does not fit the window is an error, and an answer never pushes out what was said', async () => {
  const seen: { maxTokens: number }[] = []
  const context = { contextSize: 1000, getSequence: () => ({}) }
  const loaded = { trainContextSize: 1000, createContext: () => Promise.resolve(context) }
  const llama = { loadModel: () => Promise.resolve(loaded), dispose: () => Promise.resolve() }
  vi.doMock(PACKAGE, () => ({ getLlama: () => Promise.resolve(llama), LlamaChat: chatOf(seen) }))
  const model = await loadGgufModel(FILE)
  const ask = (text: string) =>
    model.run(
      {
        instructions: '',
        messages: [{ role: 'user', parts: [{ type: 'text', text }] }],
        tools: [],
        toolChoice: { type: 'auto' },
        settings: { maxOutputTokens: 512 },
        session: 's',
      },
      () => undefined,
      new AbortController().signal,
    )
  await ask('x')
  await ask('x'.repeat(700))
  await expect(ask('x'.repeat(950))).rejects.toMatchObject({ code: 'context_overflow' })
  const [, short, long] = seen.map(({ maxTokens }) => maxTokens)
  expect([short, seen.length, (long ?? 0) < 300]).toEqual([512, 3, true])
})
