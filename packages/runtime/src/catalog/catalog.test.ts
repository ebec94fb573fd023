// Agents of a host: a model that cannot be found is refused before a session begins.
import type { Environment } from '@baton/core'
import { defineAgent } from '@baton/core'
import { expect, test } from 'vitest'
import { createCatalog } from './catalog.ts'

const parts = {
  environment: { clock: { nowMs: () => 0 } } as unknown as Environment, // nothing is done
  blobs: { put: async () => {}, get: async () => undefined, names: async () => [] },
  log: { info: () => {}, warn: () => {} },
  digest: (text: string) => text,
  digestMedia: (base64: string) => base64,
}

test('an agent that names a model is refused at once where no name can be resolved', () => {
  const agent = defineAgent({ name: 'a', model: 'some/model' })
  expect(() => createCatalog({ ...parts, agent })).toThrow('some/model')
  expect(() => createCatalog({ ...parts, agent, agentOf: () => agent })).not.toThrow()
})
