// Several hundred schemas in every dialect: the strict wire of its provider accepts each compiled one, and nothing that
// the original allows is lost without being reported.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import {
  validateAnthropicRequest,
  validateBedrockRequest,
  validateGeminiRequest,
  validateOpenAiChatRequest,
  validateOpenAiResponsesRequest,
} from '@baton/testing/wires'
import { chooseCount, chooseSample } from '@baton/testing/depth'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, describe, expect, test } from 'vitest'
import type { CompiledSchema } from './compile-schema.ts'
import { compileSchema } from './compile-schema.ts'
import type { DialectName } from './dialects.ts'
import { DIALECTS } from './dialects.ts'
import { generateSchemas, listPublished } from './schema-sources.test-kit.ts'
import { WRITTEN } from './written-schemas.test-kit.ts'

const NAMES = Object.keys(DIALECTS) as readonly DialectName[] // the keys of that record
const RANDOM = chooseCount({ quick: 5, landing: 15, deep: 150 })

const counts = { schemas: 0, compiled: 0, exact: 0, degraded: 0 }
afterAll(() => {
  const { schemas, compiled, exact, degraded } = counts
  console.log(
    `schemas: ${schemas} × ${NAMES.length} dialects = ${compiled}; ${exact} without loss, ${degraded} degraded to any object`,
  )
})

const USER = 'hello'
const issuesOf: Readonly<Record<DialectName, (schema: JsonObject) => readonly unknown[]>> = {
  anthropic: (schema) =>
    validateAnthropicRequest({
      model: 'm',
      max_tokens: 9,
      messages: [{ role: 'user', content: USER }],
      tools: [{ name: 't', input_schema: schema }],
    }),
  'anthropic-strict': (schema) => strictIssues(schema, ANTHROPIC_REFUSES),
  openai: (schema) => [...openAiChat(schema), ...openAiResponses(schema, false)],
  'openai-strict': (schema) => openAiResponses(schema, true),
  gemini: (schema) =>
    validateGeminiRequest({
      contents: [{ role: 'user', parts: [{ text: USER }] }],
      tools: [{ functionDeclarations: [{ name: 't', description: 'd', parameters: schema }] }],
    }),
  gguf: (schema) => strictIssues(schema, ['anyOf', 'allOf', '$ref', 'pattern', 'minLength']),
  bedrock: (schema) => bedrock('anthropic.claude', schema),
  nova: (schema) => [
    ...bedrock('amazon.nova-lite-v1:0', schema),
    ...Object.keys(schema).filter((keyword) => !['type', 'properties', 'required'].includes(keyword)),
  ],
}

function openAiChat(parameters: JsonObject) {
  return validateOpenAiChatRequest({
    model: 'm',
    messages: [{ role: 'user', content: USER }],
    tools: [{ type: 'function', function: { name: 't', parameters } }],
  })
}

function openAiResponses(parameters: JsonObject, strict: boolean) {
  return validateOpenAiResponsesRequest({
    model: 'm',
    input: [{ role: 'user', content: USER }],
    tools: [{ type: 'function', name: 't', parameters, strict }],
  })
}

function bedrock(modelId: string, json: JsonObject) {
  const body = {
    messages: [{ role: 'user', content: [{ text: USER }] }],
    toolConfig: { tools: [{ toolSpec: { name: 't', inputSchema: { json } } }] },
  }
  return validateBedrockRequest({ ...body, modelId })
}

/** Keywords removed by @anthropic-ai/sdk/lib/transform-json-schema.js. */
const ANTHROPIC_REFUSES = ['minimum', 'maximum', 'multipleOf', 'minLength', 'maxLength', 'pattern', 'maxItems', 'oneOf']

function strictIssues(schema: JsonValue, refused: readonly string[], path = ''): readonly string[] {
  if (!isJsonObject(schema)) return []
  const own = refused.filter((keyword) => keyword in schema).map((keyword) => `${path} has ${keyword}`)
  const open = schema['type'] === 'object' && schema['additionalProperties'] !== false ? [`${path} is open`] : []
  const properties = isJsonObject(schema['properties']) ? Object.entries(schema['properties']) : []
  const lists = [schema['anyOf'], schema['allOf']].flatMap((list) => (Array.isArray(list) ? (list as JsonValue[]) : []))
  return [
    ...own,
    ...open,
    ...properties.flatMap(([name, one]) => strictIssues(one, refused, `${path}.${name}`)),
    ...lists.flatMap((one, index) => strictIssues(one, refused, `${path}.${index}`)),
    ...strictIssues(schema['items'] ?? null, refused, `${path}.items`),
  ]
}

const ajv = new Ajv2020({ strict: false, validateSchema: false, logger: false, validateFormats: false })

/** The provider compiles the schema too. */
function compiles(name: string, schema: JsonObject): void {
  let failure: unknown = null
  try {
    ajv.compile(schema)
  } catch (cause) {
    failure = cause
  }
  ajv.removeSchema(schema)
  expect({ name, failure }).toEqual({ name, failure: null })
}

function note({ losses }: CompiledSchema): void {
  counts.compiled += 1
  if (losses.length === 0) counts.exact += 1
  if (losses.some(({ path, how }) => path === '' && how === 'degraded')) counts.degraded += 1
}

describe.each([
  ['written', WRITTEN],
  ['published', chooseSample(listPublished(), { quick: 4, landing: 12 })],
  ['generated', generateSchemas(RANDOM)],
])('%s schemas', (kind, schemas) => {
  counts.schemas += schemas.length
  test.each(NAMES)('are accepted in the dialect %s', (dialect) => {
    for (const [name, schema] of schemas) {
      const compiled = compileSchema(schema, dialect)
      note(compiled)
      expect({ name, issues: issuesOf[dialect](compiled.schema) }).toEqual({ name, issues: [] })
      if (kind !== 'published' && dialect !== 'gemini') compiles(name, compiled.schema)
    }
  })
})

test('compiling changes nothing of the original, and gives the same again', () => {
  for (const [, schema] of [...WRITTEN, ...generateSchemas(RANDOM)]) {
    const before = JSON.stringify(schema)
    for (const dialect of NAMES) expect(compileSchema(schema, dialect)).toEqual(compileSchema(schema, dialect))
    expect(JSON.stringify(schema)).toBe(before)
  }
})
