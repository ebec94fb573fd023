// The JSON Schemas in docs/schemas, for programs in other languages: the schemas that the packages export as constants,
// and the schema of a record.
import { SESSION_EVENT_SCHEMA } from '@baton/core'
import type { JsonObject, JsonValue } from '@baton/core'
import { FORMAT_VERSION } from '@baton/core/machine'
import { CLIENT_FRAME_2_SCHEMA, CLIENT_FRAME_SCHEMA, SERVER_FRAME_2_SCHEMA, SERVER_FRAME_SCHEMA } from '@baton/protocol'
import type { LogField } from './docs-log.ts'
import { readKinds } from './docs-log.ts'
import { readSource } from './source-files.ts'

const PLAIN: Readonly<Record<string, JsonValue>> = {
  string: { type: 'string' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  true: { const: true },
  false: { const: false },
  'string | null': { type: ['string', 'null'] },
  'number | null': { type: ['number', 'null'] },
  'string[]': { type: 'array', items: { type: 'string' } },
  'number[]': { type: 'array', items: { type: 'number' } },
}

/** Accepts any value for a named type: docs/log.md lists its fields. */
function describeField({ type }: LogField): JsonValue {
  const words = type.split(' | ')
  if (words.every((word) => /^'[^']*'$/.test(word))) return { enum: words.map((word) => word.slice(1, -1)) }
  if (type.endsWith('[]') && !(type in PLAIN)) return { type: 'array' }
  return PLAIN[type] ?? true
}

function createRecordSchema(): JsonObject {
  const facts = readKinds(readSource('packages/core/src/machine/fact.ts'), 'Fact').map(({ name, fields }) => ({
    type: 'object',
    properties: {
      type: { const: name },
      ...Object.fromEntries(fields.map((field) => [field.name, describeField(field)])),
    },
    required: ['type', ...fields.filter(({ isOptional }) => !isOptional).map((field) => field.name)],
  }))
  const count = { type: 'integer', minimum: 0 }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A record of a session',
    type: 'object',
    properties: {
      version: { const: FORMAT_VERSION },
      pos: count,
      nowMs: { type: 'number' },
      wallMs: { type: 'number' },
      epoch: count,
      input: { type: 'object', properties: { type: { type: 'string' } }, required: ['type'] },
      facts: { type: 'array', items: { anyOf: facts } },
    },
    required: ['version', 'pos', 'nowMs', 'epoch', 'input', 'facts'],
  }
}

/** Schemas by file name. */
export const SCHEMA_FILES: Readonly<Record<string, object>> = {
  'client-frames-1': CLIENT_FRAME_SCHEMA,
  'server-frames-1': SERVER_FRAME_SCHEMA,
  'client-frames-2': CLIENT_FRAME_2_SCHEMA,
  'server-frames-2': SERVER_FRAME_2_SCHEMA,
  events: SESSION_EVENT_SCHEMA,
  record: createRecordSchema(),
}
