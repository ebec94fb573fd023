// One field of a form: how it is shown, and how input becomes a value of its JSON Schema. It reads the schemas of MCP's
// forms (titled choices, multiple choices, formats, defaults). The session's validator checks the value; it ignores
// formats, so those are checked here.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'

export interface FormField {
  readonly name: string
  readonly schema: JsonObject
  readonly isOptional: boolean
}

/** `value` is `undefined` if an optional field was left out. `wrong` says why the answer is invalid. */
export type FieldAnswer = { readonly value: JsonValue | undefined } | { readonly wrong: string }

interface Choice {
  readonly value: JsonValue
  readonly label: string
}

/** Describes a field, such as `Size (s/m, Enter for s)`. */
export function describeField({ name, schema, isOptional }: FormField): string {
  const { title, type, default: preset } = schema
  const label = typeof title === 'string' && title !== '' ? title : name
  const several = listSeveral(schema)
  const choices = several ?? listChoices(schema)
  const hints = [
    choices ? choices.map((choice) => choice.label).join('/') : nameKind(type, schema['format']),
    several && 'separate several with commas',
    describeBounds(schema),
    preset !== undefined ? `Enter for ${showPreset(preset, choices, several !== undefined)}` : isOptional && 'optional',
  ].filter((hint) => typeof hint === 'string')
  return hints.length === 0 ? label : `${label} (${hints.join(', ')})`
}

export function readField(said: string, { schema, isOptional }: FormField): FieldAnswer {
  if (said === '') {
    const { default: preset } = schema
    return preset !== undefined || isOptional ? { value: preset } : { wrong: 'this field is required' }
  }
  const several = listSeveral(schema)
  const choices = several ?? listChoices(schema)
  if (several) return readSeveral(said, several)
  if (choices) return readChoice(said, choices)
  return readPlain(said, schema)
}

function readPlain(said: string, schema: JsonObject): FieldAnswer {
  switch (schema['type']) {
    case 'boolean':
      if (/^(y|yes|true)$/i.test(said)) return { value: true }
      return /^(n|no|false)$/i.test(said) ? { value: false } : { wrong: 'answer y or n' }
    case 'integer':
      return /^-?\d+$/.test(said) ? { value: Number(said) } : { wrong: `"${said}" is not a whole number` }
    case 'number':
      return Number.isFinite(Number(said)) ? { value: Number(said) } : { wrong: `"${said}" is not a number` }
    case 'object':
    case 'array': {
      const parsed = parseJson(said)
      return parsed.ok
        ? { value: parsed.value }
        : { wrong: `enter JSON, such as ${schema['type'] === 'array' ? '["a"]' : '{"a":1}'}` }
    }
    default:
      return checkFormat(said, schema)
  }
}

function checkFormat(value: string, { format }: JsonObject): FieldAnswer {
  const known = typeof format === 'string' && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined
  return known && !known.fits(value) ? { wrong: `"${value}" is not ${known.article} ${known.name}` } : { value }
}

interface Format {
  readonly article: 'a' | 'an'
  readonly name: string
  readonly fits: (value: string) => boolean
}

/** The formats of MCP's forms. */
const FORMATS: Readonly<Record<string, Format>> = {
  email: { article: 'an', name: 'email address', fits: (value) => /^[^\s@]+@[^\s@]+$/.test(value) },
  uri: { article: 'an', name: 'address such as https://example.com', fits: (value) => URL.canParse(value) },
  date: { article: 'a', name: 'date such as 2026-01-31', fits: (value) => isDay(value) },
  'date-time': {
    article: 'a',
    name: 'time such as 2026-01-31T09:00:00Z',
    fits: (value) =>
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i.test(value) && isDay(value.slice(0, 10)),
  },
}

function isDay(value: string): boolean {
  const day = new Date(`${value}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(value) && value.length === 10
}

function readSeveral(said: string, choices: readonly Choice[]): FieldAnswer {
  const chosen: JsonValue[] = []
  for (const word of said.split(',').map((part) => part.trim())) {
    const found = readChoice(word, choices)
    if ('wrong' in found) return found
    if (found.value !== undefined && !chosen.includes(found.value)) chosen.push(found.value)
  }
  return { value: chosen }
}

/** Finds a choice by its exact label or value, or else by its label regardless of case. */
function readChoice(said: string, choices: readonly Choice[]): FieldAnswer {
  const found =
    choices.find(({ label }) => label === said) ??
    choices.find(({ value }) => nameValue(value) === said) ??
    choices.find(({ label }) => label.toLowerCase() === said.toLowerCase())
  return found
    ? { value: found.value }
    : { wrong: `"${said}" is not one of ${choices.map(({ label }) => label).join(', ')}` }
}

function listSeveral({ type, items }: JsonObject): readonly Choice[] | undefined {
  return type === 'array' && isJsonObject(items) ? listChoices(items) : undefined
}

/** Choices from `enum`, with MCP's older `enumNames`, or from titled `const`s. */
function listChoices(schema: JsonObject): readonly Choice[] | undefined {
  const { enum: values, enumNames, oneOf, anyOf } = schema
  if (Array.isArray(values))
    return values.map((value, at) => {
      const name = Array.isArray(enumNames) ? enumNames[at] : undefined
      return { value, label: typeof name === 'string' ? name : nameValue(value) }
    })
  const titled = Array.isArray(oneOf) ? oneOf : Array.isArray(anyOf) ? anyOf : []
  const choices = titled.flatMap((one): readonly Choice[] => {
    if (!isJsonObject(one) || one['const'] === undefined) return []
    const { const: value, title } = one
    return [{ value, label: typeof title === 'string' ? title : nameValue(value) }]
  })
  return choices.length > 0 && choices.length === titled.length ? choices : undefined
}

function nameValue(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function nameKind(type: JsonValue | undefined, format: JsonValue | undefined): string | undefined {
  if (typeof format === 'string' && Object.hasOwn(FORMATS, format)) return FORMATS[format]?.name
  const kinds: Readonly<Record<string, string>> = {
    boolean: 'y/n',
    integer: 'whole number',
    number: 'number',
    array: 'JSON',
    object: 'JSON',
  }
  return typeof type === 'string' && Object.hasOwn(kinds, type) ? kinds[type] : undefined
}

function describeBounds(schema: JsonObject): string | undefined {
  const range = (least: JsonValue | undefined, most: JsonValue | undefined, unit: string): string | undefined => {
    if (typeof least === 'number' && typeof most === 'number') return `${least} to ${most}${unit}`
    if (typeof least === 'number') return `at least ${least}${unit}`
    return typeof most === 'number' ? `at most ${most}${unit}` : undefined
  }
  return (
    range(schema['minimum'], schema['maximum'], '') ??
    range(schema['minLength'], schema['maxLength'], ' characters') ??
    range(schema['minItems'], schema['maxItems'], ' of them')
  )
}

function showPreset(preset: JsonValue, choices: readonly Choice[] | undefined, isSeveral: boolean): string {
  if (typeof preset === 'boolean') return preset ? 'y' : 'n'
  const name = (value: JsonValue): string =>
    choices?.find((choice) => choice.value === value)?.label ?? nameValue(value)
  return isSeveral && Array.isArray(preset) ? preset.map(name).join(', ') : name(preset)
}
