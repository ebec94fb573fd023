// A first look at edited arguments, while a person types: JSON, and the common words of JSON Schema. The server checks the
// edit with the tool's whole schema and has the last word.

type Json = unknown
type Schema = Readonly<Record<string, Json>>

const ISSUES_MAX = 20

/** Returns the issues of an object's JSON text; empty if there are none. */
export function findJsonIssues(text: string, schema?: Json): readonly string[] {
  let value: Json
  try {
    value = JSON.parse(text)
  } catch (cause) {
    return [`not JSON: ${(cause as Error).message}`] // a SyntaxError
  }
  if (!isObject(value)) return ['the arguments must be a JSON object']
  return isObject(schema) ? [...checkValue(value, schema, '')].slice(0, ISSUES_MAX) : []
}

function* checkValue(value: Json, schema: Schema, path: string): Generator<string> {
  const where = path === '' ? 'the arguments' : path
  const types = [schema['type']].flat().filter((type) => typeof type === 'string')
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) {
    yield `${where}: must be ${types.map((type) => NAMES[type] ?? type).join(' or ')}`
    return
  }
  const { enum: words, const: only } = schema
  if (Array.isArray(words) && !words.some((word) => isSame(word, value)))
    yield `${where}: must be one of ${words.map((word) => JSON.stringify(word)).join(', ')}`
  if ('const' in schema && !isSame(only, value)) yield `${where}: must be ${JSON.stringify(only)}`
  if (typeof value === 'number') yield* checkNumber(value, schema, where)
  if (typeof value === 'string') yield* checkText(value, schema, where)
  if (Array.isArray(value)) yield* checkList(value, schema, path)
  else if (isObject(value)) yield* checkObject(value, schema, path)
}

function* checkNumber(
  value: number,
  { minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Schema,
  where: string,
): Generator<string> {
  if (typeof minimum === 'number' && value < minimum) yield `${where}: must be at least ${minimum}`
  if (typeof maximum === 'number' && value > maximum) yield `${where}: must be at most ${maximum}`
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum)
    yield `${where}: must be more than ${exclusiveMinimum}`
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum)
    yield `${where}: must be less than ${exclusiveMaximum}`
}

function* checkText(value: string, { minLength, maxLength }: Schema, where: string): Generator<string> {
  const chars = Array.from(value).length
  if (typeof minLength === 'number' && chars < minLength) yield `${where}: must have at least ${minLength} characters`
  if (typeof maxLength === 'number' && chars > maxLength) yield `${where}: must have at most ${maxLength} characters`
}

function* checkList(value: readonly Json[], { items, minItems, maxItems }: Schema, path: string): Generator<string> {
  const where = path === '' ? 'the arguments' : path
  if (typeof minItems === 'number' && value.length < minItems) yield `${where}: must have at least ${minItems} entries`
  if (typeof maxItems === 'number' && value.length > maxItems) yield `${where}: must have at most ${maxItems} entries`
  if (isObject(items)) for (const [index, item] of value.entries()) yield* checkValue(item, items, `${path}[${index}]`)
}

function* checkObject(
  value: Schema,
  { properties, required, additionalProperties }: Schema,
  path: string,
): Generator<string> {
  const known = isObject(properties) ? properties : {}
  const place = (name: string): string => (path === '' ? name : `${path}.${name}`)
  for (const name of Array.isArray(required) ? required : [])
    if (typeof name === 'string' && !Object.hasOwn(value, name)) yield `${place(name)}: is missing`
  for (const [name, inner] of Object.entries(value)) {
    const schema = Object.hasOwn(known, name) ? known[name] : additionalProperties
    if (schema === false) yield `${place(name)}: the tool has no such argument`
    else if (isObject(schema)) yield* checkValue(inner, schema, place(name))
  }
}

const NAMES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
}

function isOfType(value: Json, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'array') return Array.isArray(value)
  if (type === 'null') return value === null
  if (type === 'object') return isObject(value)
  return typeof value === type
}

function isSame(one: Json, other: Json): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function isObject(value: Json): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
