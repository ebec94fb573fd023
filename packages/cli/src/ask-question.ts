// What a tool asks its user: each field of the answer's schema is one line to type.
import type { JsonObject, JsonValue } from '@baton/core'
import { isJsonObject, parseJson } from '@baton/core'
import { escapeLine } from './escape-controls.ts'
import type { Screen } from './screen.ts'

export interface AskedQuestion {
  readonly questionId: string
  readonly callId: string
  readonly message: string
  /** JSON Schema of the answer. */
  readonly schema: JsonObject
}

const DECLINE = '/decline'

/** Undefined: the person declines. What does not fit a field is asked for again; the session checks the whole. */
export async function askQuestion(
  { message, schema }: AskedQuestion,
  screen: Screen,
  ask: (question: string) => Promise<string>,
): Promise<JsonValue | undefined> {
  screen.note(`a tool asks: ${escapeLine(message)}`, 'bold')
  screen.note(`${DECLINE} says nothing`, 'dim')
  const { properties } = schema
  if (!isJsonObject(properties)) return await askValue('answer', schema, ask)
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const given: Record<string, JsonValue> = {}
  for (const [name, field] of Object.entries(properties)) {
    const isOptional = !required.includes(name)
    const value = await askValue(name, isJsonObject(field) ? field : {}, ask, isOptional)
    if (value === undefined && !isOptional) return undefined
    if (value !== undefined) given[name] = value
  }
  return given
}

/** Undefined: declined, or left empty where it may be. */
async function askValue(
  name: string,
  schema: JsonObject,
  ask: (question: string) => Promise<string>,
  isOptional = false,
): Promise<JsonValue | undefined> {
  for (;;) {
    const said = (await ask(`${escapeLine(describeField(name, schema, isOptional))}: `)).trim()
    if (said === DECLINE || (said === '' && isOptional)) return undefined
    const value = readValue(said, schema)
    if (value !== undefined) return value
  }
}

function describeField(name: string, schema: JsonObject, isOptional: boolean): string {
  const { title, description, type } = schema
  const label = typeof title === 'string' ? title : name
  const about = typeof description === 'string' ? `, ${description}` : ''
  const choices = listChoices(schema)
  const kind = choices ? choices.map(nameChoice).join('/') : type === 'boolean' ? 'y/n' : ''
  return `${label}${about}${kind === '' ? '' : ` (${kind})`}${isOptional ? ', or nothing' : ''}`
}

function listChoices(schema: JsonObject): readonly JsonValue[] | undefined {
  return Array.isArray(schema['enum']) ? schema['enum'] : undefined
}

function nameChoice(choice: JsonValue): string {
  return typeof choice === 'string' ? choice : JSON.stringify(choice)
}

/** Undefined: it does not fit. */
function readValue(said: string, schema: JsonObject): JsonValue | undefined {
  const choices = listChoices(schema)
  if (choices) return choices.find((choice) => nameChoice(choice) === said)
  switch (schema['type']) {
    case 'boolean':
      return /^(y|yes|true)$/i.test(said) ? true : /^(n|no|false)$/i.test(said) ? false : undefined
    case 'integer':
      return /^-?\d+$/.test(said) ? Number(said) : undefined
    case 'number':
      return said !== '' && Number.isFinite(Number(said)) ? Number(said) : undefined
    case 'object':
    case 'array': {
      const parsed = parseJson(said)
      return parsed.ok ? parsed.value : undefined
    }
    default:
      return said
  }
}
