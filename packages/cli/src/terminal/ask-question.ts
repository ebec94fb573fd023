// Asks a tool's question on the terminal: each field of the answer's schema is one line of input.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import { createArgumentValidator } from '@baton/runtime'
import { escapeLine } from './escape-controls.ts'
import type { FormField } from './form-field.ts'
import { describeField, readField } from './form-field.ts'
import type { Screen } from './screen.ts'

export interface AskedQuestion {
  readonly questionId: string
  readonly callId: string
  readonly message: string
  /** JSON Schema of the answer. */
  readonly schema: JsonObject
}

const DECLINE = '/decline'

/**
 * Returns `undefined` if the person declines. Each field is checked by the session's validator and asked again if it is
 * invalid; the session checks the whole answer.
 */
export async function askQuestion(
  { message, schema }: AskedQuestion,
  screen: Screen,
  ask: (question: string) => Promise<string>,
): Promise<JsonValue | undefined> {
  const [first = '', ...more] = message.split('\n')
  screen.note(`a tool asks: ${escapeLine(first)}`, 'bold')
  // Indented, so that a line of the question cannot look like a line of the chat.
  for (const line of more) screen.note(`  ${escapeLine(line)}`)
  const fields = listFields(schema)
  const check = createFieldCheck(schema)
  if (fields.length === 0) return (await askField(AGREEMENT, { screen, ask, check })) === true ? {} : undefined
  const canSkip = fields.some(({ isOptional }) => isOptional)
  screen.note(`${canSkip ? 'Enter skips an optional field; ' : ''}${DECLINE} declines to answer`, 'dim')
  const given: Record<string, JsonValue> = {}
  for (const field of fields) {
    const value = await askField(field, { screen, ask, check })
    if (value === DECLINED) return undefined
    if (field.name === '') return value
    if (value !== undefined) given[field.name] = value
  }
  return given
}

/** A form without fields, such as an MCP server's request to open a page, must be confirmed by a person. */
const AGREEMENT: FormField = { name: 'agree', schema: { type: 'boolean' }, isOptional: false }
const DECLINED = Symbol('declined')

/** A schema without fields is one field without a name. */
function listFields(schema: JsonObject): readonly FormField[] {
  const { properties, required } = schema
  if (!isJsonObject(properties)) return [{ name: '', schema: { title: 'answer', ...schema }, isOptional: false }]
  const needed = Array.isArray(required) ? required : []
  return Object.entries(properties).map(([name, field]) => ({
    name,
    schema: isJsonObject(field) ? field : {},
    isOptional: !needed.includes(name),
  }))
}

/** Resolves with the message about a wrong value; an omitted one is right. */
type FieldCheck = (field: FormField, value: JsonValue | undefined) => Promise<string | undefined>

function createFieldCheck({ $schema, $defs, definitions }: JsonObject): FieldCheck {
  const validator = createArgumentValidator()
  // Only these can be referred to from a field.
  const root = { ...($schema && { $schema }), ...($defs && { $defs }), ...(definitions && { definitions }) }
  return async ({ schema }, value) => {
    if (value === undefined) return undefined
    const checked = await validator.validate({ input: { ...root, ...schema } }, JSON.stringify(value))
    return checked.ok ? undefined : checked.issues
  }
}

interface Asking {
  readonly screen: Screen
  readonly ask: (question: string) => Promise<string>
  readonly check: FieldCheck
}

async function askField(
  field: FormField,
  { screen, ask, check }: Asking,
): Promise<JsonValue | undefined | typeof DECLINED> {
  const { description } = field.schema
  if (typeof description === 'string') screen.note(`  ${escapeLine(description)}`, 'dim')
  for (;;) {
    const said = (await ask(`${escapeLine(describeField(field))}: `)).trim()
    if (said === DECLINE) return DECLINED
    const answer = readField(said, field)
    const wrong = 'wrong' in answer ? answer.wrong : await check(field, answer.value)
    if ('value' in answer && wrong === undefined) return answer.value
    screen.note(`  ${escapeLine(wrong ?? '')}`, 'bad')
  }
}
