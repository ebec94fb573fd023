// Agents of a host: a model that cannot be found is refused before a session begins, and what an opening loads.
import type { Environment, Model } from '@baton/core'
import { defineAgent, delegate, isBatonError, tool } from '@baton/core'
import { afterEach, expect, test, vi } from 'vitest'
import * as z from 'zod'
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

const AJV = 'ajv/dist/2020.js'
afterEach(() => {
  vi.doUnmock(AJV)
})

const session = { id: 's', agent: '', principal: { id: 'ann' }, meta: {} }
const modelOf = (id: string) => ({ id, capabilities: {} }) as Model // it is not called
const look = { name: 'look', description: 'Looks.', effect: 'pure', execute: () => 'seen' } as const
const ofLibrary = tool({ ...look, input: z.object({ at: z.string() }), output: z.string() })
const plain = tool({ ...look, input: { type: 'object', properties: { at: { type: 'string' } } } })

test('an agent whose schemas all belong to a library opens without Ajv', async () => {
  vi.doMock(AJV, () => {
    throw new Error('too many open files')
  })
  const catalog = createCatalog({ ...parts, modelOf })
  const agent = defineAgent({ name: 'a', model: 'm', tools: [ofLibrary], output: z.object({}) })
  const { validator } = await catalog.open(session, agent)
  expect(await validator.validate(ofLibrary, '{"at":"home"}')).toEqual({ ok: true, value: { at: 'home' } })
})

test.each([
  ['input', { tools: [plain] }],
  ['output', { tools: [ofLibrary], output: { type: 'object' } as const }],
])('an agent with a plain %s is refused by a BatonError while Ajv cannot be loaded, then opens', async (_, more) => {
  const catalog = createCatalog({ ...parts, modelOf })
  const agent = defineAgent({ name: 'a', model: 'm', ...more })
  vi.doMock(AJV, () => {
    throw new Error('too many open files')
  })
  const opening = await catalog.open(session, agent).catch((thrown: unknown) => thrown)
  expect(isBatonError(opening)).toBe(true)
  expect(opening).toMatchObject({
    code: 'internal',
    message: expect.stringMatching(/^the package ajv, which /) as string,
  })
  vi.doUnmock(AJV)
  const { validator } = await catalog.open(session, agent)
  expect(validator.validate(plain, '{"at":"home"}')).toEqual({ ok: true, value: { at: 'home' } })
})

test('a host that runs no children refuses an agent that delegates, at once and at an opening', async () => {
  const helper = defineAgent({ name: 'helper', model: 'm' })
  const agent = defineAgent({ name: 'a', model: 'm', tools: [delegate({ agent: helper, description: 'Helps' })] })
  const refusal = { code: 'invalid_agent', message: expect.stringContaining('the calls of "helper"') as string }
  expect(() => createCatalog({ ...parts, modelOf, agent })).toThrow(expect.objectContaining(refusal) as Error)
  await expect(createCatalog({ ...parts, modelOf }).open(session, agent)).rejects.toMatchObject(refusal)
  await expect(createCatalog({ ...parts, modelOf, runsChildren: true }).open(session, agent)).resolves.toBeDefined()
})
