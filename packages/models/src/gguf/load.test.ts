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
