// The JSON Schemas in docs/schemas, for programs in other languages: the schemas that the packages export as constants,
// and the schema of a record.
import { SESSION_EVENT_SCHEMA } from '@baton/core'
import type { JsonObject, JsonValue } from '@baton/core'
import type { s } from '@baton/core/internal'
import {
  AssistantPart,
  MediaSource,
  ModelSettings,
  Provenance,
  ProviderState,
  StoredPart,
  Usage,
} from '@baton/core/internal'
import {
  CallProposal,
  EntryMedia,
  FACT_SHAPES,
  Failure,
  FORMAT_VERSION,
  IndexEntry,
  Settlement,
} from '@baton/core/machine'
import { CLIENT_FRAME_2_SCHEMA, CLIENT_FRAME_SCHEMA, SERVER_FRAME_2_SCHEMA, SERVER_FRAME_SCHEMA } from '@baton/protocol'

/** Shapes that the schema of records defines once; those inside others come first. */
const DEFINED: Readonly<Record<string, s.Shape<unknown>>> = {
  ProviderState,
  MediaSource,
  Provenance,
  Usage,
  Failure,
  EntryMedia,
  ModelSettings,
  StoredPart,
  AssistantPart,
  CallProposal,
  Settlement,
  IndexEntry,
}

/** Replaces each schema of `DEFINED` by a reference to its definition, except `except`. */
function share(schema: JsonValue, except?: string): JsonValue {
  if (typeof schema !== 'object' || schema === null) return schema
  const text = JSON.stringify(schema)
  const known = Object.entries(DEFINED).find(
    ([name, one]) => name !== except && JSON.stringify(one.describe()) === text,
  )
  if (known) return { $ref: `#/$defs/${known[0]}` }
  if (Array.isArray(schema)) return (schema as readonly JsonValue[]).map((item) => share(item))
  return Object.fromEntries(Object.entries(schema).map(([name, field]) => [name, share(field)]))
}

function createRecordSchema(): JsonObject {
  const facts = [...FACT_SHAPES].map(([type, shape]) => ({
    allOf: [{ properties: { type: { const: type } }, required: ['type'] }, share(shape.describe())],
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
    $defs: Object.fromEntries(Object.entries(DEFINED).map(([name, one]) => [name, share(one.describe(), name)])),
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
