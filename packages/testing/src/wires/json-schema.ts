// Walks a JSON Schema for the validators, since every provider has its own dialect.
import type { JsonObject } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import type { Report } from './issue.ts'
import { show } from './issue.ts'

const NESTED: readonly string[] = ['items', 'additionalProperties', 'not', 'contains', 'propertyNames']
const NESTED_LISTS: readonly string[] = ['anyOf', 'oneOf', 'allOf', 'prefixItems']
const NESTED_MAPS: readonly string[] = ['properties', 'patternProperties', '$defs', 'definitions']

/** Calls `visit` for the schema and all schemas inside it. A property may be named `items`: names are not keywords. */
export function walkSchema(schema: unknown, path: string, visit: (schema: JsonObject, path: string) => void): void {
  if (!isJsonObject(schema)) return
  visit(schema, path)
  for (const key of NESTED) walkSchema(schema[key], `${path}.${key}`, visit)
  for (const key of NESTED_LISTS) {
    const list = schema[key]
    if (!Array.isArray(list)) continue
    for (const [index, inner] of (list as readonly unknown[]).entries())
      walkSchema(inner, `${path}.${key}.${index}`, visit)
  }
  for (const key of NESTED_MAPS) {
    const map = schema[key]
    if (!isJsonObject(map)) continue
    for (const [name, inner] of Object.entries(map)) walkSchema(inner, `${path}.${key}.${name}`, visit)
  }
}

export type OpenAiSchemaCode = 'schema_root' | 'schema_array_items' | 'schema_strict'

/** Codes of both OpenAI wires. */
export const OPENAI_SCHEMA_SOURCES: Readonly<Record<OpenAiSchemaCode, string>> = {
  schema_root: '400 "Invalid schema for function \'x\': schema must be a JSON Schema of \'type: \\"object\\"\'"',
  schema_array_items: '400 "Invalid schema for function \'x\': … array schema missing items"',
  schema_strict: 'openai/lib/transform.js; pydantic-ai profiles/openai.py (strict mode)',
}

/** Keywords that strict mode rejects. */
const NOT_STRICT: readonly string[] = [
  'oneOf',
  'minLength',
  'maxLength',
  'patternProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'propertyNames',
  'minProperties',
  'maxProperties',
  'contains',
  'uniqueItems',
]

/** A function's parameters in OpenAI's dialect; `strict` adds the rules of structured outputs. */
export function checkOpenAiSchema(
  schema: unknown,
  path: string,
  strict: boolean,
  report: Report<OpenAiSchemaCode>,
): void {
  // Omitted parameters are valid: the function takes none.
  if (schema === undefined || schema === null) return
  if (!isJsonObject(schema) || schema['type'] !== 'object') {
    report(
      'schema_root',
      path,
      `the root must have type "object", not ${show(isJsonObject(schema) ? schema['type'] : schema)}`,
    )
    return
  }
  if (strict && schema['anyOf'] !== undefined) report('schema_strict', path, 'anyOf is not allowed at the root')
  walkSchema(schema, path, (inner, place) => {
    if (inner['type'] === 'array' && inner['items'] === undefined && inner['prefixItems'] === undefined)
      report('schema_array_items', place, 'an array needs items')
    if (strict) checkStrict(inner, place, report)
  })
}

function checkStrict(schema: JsonObject, path: string, report: Report<OpenAiSchemaCode>): void {
  for (const keyword of NOT_STRICT)
    if (schema[keyword] !== undefined) report('schema_strict', path, `${keyword} is not permitted`)
  const properties = schema['properties']
  if (schema['type'] !== 'object' && properties === undefined) return
  if (schema['additionalProperties'] !== false) report('schema_strict', path, 'additionalProperties must be false')
  const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
  for (const name of Object.keys(isJsonObject(properties) ? properties : {}))
    if (!required.includes(name)) report('schema_strict', path, `"${name}" must be in required`)
}
