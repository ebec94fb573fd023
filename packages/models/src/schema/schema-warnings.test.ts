// A tool whose schema its provider cannot fully express is reported once.
import type { JsonObject, ModelRequest } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createSchemaWarnings } from './schema-warnings.ts'

const FINE = { type: 'object', properties: { a: { type: 'string' } } }
const ODD = { type: 'object', properties: { a: { type: 'string', enum: 'x' } } }
const MAP = { type: 'object', properties: { map: { type: 'object', additionalProperties: { type: 'string' } } } }

function request(tools: Readonly<Record<string, JsonObject>>): ModelRequest {
  return {
    instructions: '',
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'go' }] }],
    tools: Object.entries(tools).map(([name, inputSchema]) => ({ name, description: '', inputSchema })),
    toolChoice: { type: 'auto' },
    settings: {},
    session: 's',
  }
}

async function listWarnings(provider: string, tools: Readonly<Record<string, JsonObject>>) {
  const warnings: unknown[] = []
  const warned = createSchemaWarnings({ info: () => {}, warn: (_, data) => warnings.push(data) })
  const model = { ...createScriptedModel({ steps: [{ text: 'a' }, { text: 'b' }] }), provider, id: `${provider}/m` }
  for (let step = 0; step < 2; step++) await warned(model).run(request(tools), () => {}, new AbortController().signal)
  return warnings
}

test('a schema with a keyword of no draft is named once, those of the other tools are not', async () => {
  expect(await listWarnings('anthropic', { fine: FINE, odd: ODD, map: MAP })).toEqual([
    { tool: 'odd', model: 'anthropic/m', lost: ['properties.a: enum (invalid)'], losses: 1 },
  ])
})

test('what a grammar forbids although the schema allows it is named for the model that has one', async () => {
  expect(await listWarnings('gguf', { fine: FINE, map: MAP })).toEqual([
    { tool: 'map', model: 'gguf/m', lost: ['properties.map: additionalProperties (narrowed)'], losses: 1 },
  ])
})
