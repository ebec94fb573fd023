// Validates a call's arguments against its tool's own schema, in words that a model can act on.
import type { JsonObject, JsonValue, Schema, SchemaIssue, StandardSchema, Tool } from '@baton/core'
import { isStandardSchema, jsonSchemaOf, parseJson, withoutForcedNulls } from '@baton/core'
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js'
import { Ajv2020 } from 'ajv/dist/2020.js'

export type Validated = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly issues: string }

export interface ArgumentValidator {
  /** Answers at once for plain JSON Schema; a schema of a library may take its time, or throw. */
  validate(tool: Pick<Tool, 'input'>, argumentsText: string): Validated | Promise<Validated>
}

/** Characters of what is wrong: enough to correct it, also where each of a thousand items is wrong. */
const ISSUES_CHARS = 2000

/**
 * Compiled JSON Schemas are kept for as long as their schema object lives. The draft that a schema names is not looked
 * at: most tools in the world still say draft 7, and mean what 2020-12 means.
 */
export function createArgumentValidator(): ArgumentValidator {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    logger: false,
    validateFormats: false,
    validateSchema: false,
  })
  const compiled = new WeakMap<object, ValidateFunction>()
  const compile = (schema: object): ValidateFunction => {
    const check = ajv.compile(schema)
    // Else it is kept for ever, and a second schema with its `$id` would be refused.
    ajv.removeSchema(schema)
    compiled.set(schema, check)
    return check
  }
  const validateJson = (schema: object, value: JsonValue): Validated => {
    const check = compiled.get(schema) ?? compile(schema)
    if (check(value)) return { ok: true, value }
    const complaints = check.errors ?? []
    const meant = withoutForcedNulls(schema as JsonObject, value)
    if (check(meant)) return { ok: true, value: meant }
    return { ok: false, issues: joinIssues(complaints.map(describeError)) }
  }
  return {
    validate: (tool, argumentsText) => {
      const parsed = parseJson(argumentsText)
      if (!parsed.ok) return { ok: false, issues: 'the arguments are not JSON' }
      const schema: Schema = tool.input
      return isStandardSchema(schema) ? validateStandard(schema, parsed.value) : validateJson(schema, parsed.value)
    },
  }
}

async function validateStandard(schema: StandardSchema, value: JsonValue): Promise<Validated> {
  const result = await schema['~standard'].validate(value)
  if (!result.issues) return { ok: true, value: result.value }
  const meant = await schema['~standard'].validate(withoutForcedNulls(jsonSchemaOf(schema), value))
  if (!meant.issues) return { ok: true, value: meant.value }
  return { ok: false, issues: joinIssues(result.issues.map(describeIssue)) }
}

function joinIssues(issues: readonly string[]): string {
  const text = issues.join('; ')
  return text.length <= ISSUES_CHARS ? text : `${text.slice(0, ISSUES_CHARS)}… (${issues.length} issues)`
}

/** Ajv's own words do not say which property is one too many, and which values were allowed. */
function describeError({ instancePath, message, keyword, params }: ErrorObject): string {
  const said = `${instancePath || 'the value'} ${message ?? 'is wrong'}`
  const { additionalProperty, allowedValues } = params as Readonly<Record<string, unknown>>
  if (keyword === 'additionalProperties') return `${said}: ${JSON.stringify(additionalProperty)}`
  return keyword === 'enum' ? `${said}: ${JSON.stringify(allowedValues)}` : said
}

function describeIssue(issue: SchemaIssue): string {
  const path = (issue.path ?? []).map((step) => String(typeof step === 'object' ? step.key : step)).join('.')
  return path === '' ? issue.message : `${path}: ${issue.message}`
}
