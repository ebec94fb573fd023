// The JSON Schemas in docs/schemas, for programs in other languages: the schemas that the packages export as constants,
// and the schema of a record.
import { SESSION_EVENT_SCHEMA } from '@baton/core'
import type { JsonObject } from '@baton/core'
import { s } from '@baton/core/internal'
import { FACTS, FORMAT_VERSION } from '@baton/core/machine'
import { CLIENT_FRAME_2_SCHEMA, CLIENT_FRAME_SCHEMA, SERVER_FRAME_2_SCHEMA, SERVER_FRAME_SCHEMA } from '@baton/protocol'

function createRecordSchema(): JsonObject {
  const facts = Object.entries(FACTS).map(([type, of]) => {
    const shape = 'check' in of && typeof of['check'] === 'function' ? of : s.fields(of as s.Fields) // as FACTS are built
    return { allOf: [{ properties: { type: { const: type } }, required: ['type'] }, shape.describe()] }
  })
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
