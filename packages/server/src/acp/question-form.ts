// A tool's question as an editor's form, and the answer. Forms are flat: a nested schema becomes a single JSON field.
import type { JsonObject, QuestionAnswer } from '@baton/core/internal'
import { BatonError, isJsonObject, parseJson } from '@baton/core/internal'
import type { ElicitationSchema } from '@agentclientprotocol/sdk'

const SCHEMA_CHARS = 4000

/** Schema fields that a form may have. Baton checks the answer against the whole schema. */
const FORM_FIELDS: ReadonlySet<string> = new Set([
  'type',
  'title',
  'description',
  'default',
  'enum',
  'oneOf',
  'items',
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
])
const FORMATS: ReadonlySet<unknown> = new Set(['email', 'uri', 'date', 'date-time'])
const PRIMITIVES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean'])

export function createForm(schema: JsonObject): ElicitationSchema {
  const properties = readProperties(schema)
  const { required } = schema
  const form = properties
    ? {
        type: 'object',
        properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, pickFields(one)])),
        ...(Array.isArray(required) && { required }),
      }
    : {
        type: 'object',
        properties: {
          json: {
            type: 'string',
            title: 'The answer as JSON',
            description: `Must match this schema: ${JSON.stringify(schema).slice(0, SCHEMA_CHARS)}`,
          },
        },
        required: ['json'],
      }
  return form as ElicitationSchema // its properties are checked above, which the type cannot express
}

/** @throws BatonError `question_refused` for an answer that is not JSON */
export function readAnswer(questionId: string, schema: JsonObject, answer: unknown): QuestionAnswer {
  const { action, content } = isJsonObject(answer) ? answer : {}
  if (action === 'accept' && isJsonObject(content))
    return { questionId, value: readProperties(schema) ? content : readJson(content) }
  return { questionId, decline: true, ...(action !== 'decline' && { reason: 'the question was dismissed' }) }
}

function readJson({ json }: JsonObject) {
  const parsed = parseJson(typeof json === 'string' ? json : '')
  if (parsed.ok) return parsed.value
  throw new BatonError({ code: 'question_refused', message: 'the field "json" is not JSON' })
}

function pickFields(property: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(property).filter(
      ([name, value]) => FORM_FIELDS.has(name) || (name === 'format' && FORMATS.has(value)),
    ),
  )
}

/** `undefined` if a property is not a string, a number, a boolean or a choice. */
function readProperties({ properties = {} }: JsonObject): Readonly<Record<string, JsonObject>> | undefined {
  if (!isJsonObject(properties)) return undefined
  const found: Record<string, JsonObject> = {}
  for (const [name, property] of Object.entries(properties)) {
    if (!isJsonObject(property)) return undefined
    const { type, items } = property
    const isChoice = type === 'array' && isJsonObject(items) && ('enum' in items || 'anyOf' in items)
    if (!PRIMITIVES.has(type) && !isChoice) return undefined
    found[name] = property
  }
  return found
}
