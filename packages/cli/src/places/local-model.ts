// Models in this process: `gguf:FILE` is loaded once, before the first question.
import type { GgufModel } from '@baton/models/gguf'
import { loadGgufModel } from '@baton/models/gguf'
import { resolve } from 'node:path'
import { UsageError } from '../words/usage-error.ts'

const PREFIX = 'gguf:'

export function isLocalModel(name: unknown): name is string {
  return typeof name === 'string' && name.startsWith(PREFIX)
}

/** @throws UsageError if the file name is missing; BatonError `model_not_configured` when it cannot be loaded */
export async function loadLocalModel(name: string, folder: string): Promise<GgufModel> {
  const file = name.slice(PREFIX.length)
  if (file === '') throw new UsageError('gguf: needs a file name: --model gguf:FILE')
  return await loadGgufModel(resolve(folder, file))
}
