// Validates a call's arguments against its tool's own schema, in words that a model can act on.
import type { JsonObject, JsonValue, SchemaIssue, StandardSchema, Tool } from '@baton/core'
import { isStandardSchema, toJsonSchema, parseJson, withoutForcedNulls } from '@baton/core'
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
  return {
    validate: ({ input: schema }, argumentsText) => {
      const parsed = parseJson(argumentsText)
      if (!parsed.ok) return { ok: false, issues: 'the arguments are not JSON' }
      const { value } = parsed
      const known = compiled.get(schema)
      if (!known && isStandardSchema(schema)) return validateStandard(schema, value)
      const check = known ?? compile(schema)
      if (check(value)) return { ok: true, value }
      const complaints = check.errors ?? []
      const meant = withoutForcedNulls(schema as JsonObject, value) // it is not the schema of a library
      if (check(meant)) return { ok: true, value: meant }
      return { ok: false, issues: joinIssues(complaints.map(describeError)) }
    },
  }
}

async function validateStandard(schema: StandardSchema, value: JsonValue): Promise<Validated> {
  const result = await schema['~standard'].validate(value)
  if (!result.issues) return { ok: true, value: result.value }
  const meant = await schema['~standard'].validate(withoutForcedNulls(toJsonSchema(schema), value))
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

/** Calls of one session that may wait to run: more than a turn has. */
const KEPT_MAX = 256

/**
 * Arguments that were validated when their call was proposed, kept until it runs, so that they are validated once. What is
 * not here any more, as after a restart, is validated again.
 */
export class ValidatedArguments {
  /** From the first call on: most sessions that are open do nothing. */
  #kept: Map<string, unknown[]> | undefined
  #count = 0

  keep(name: string, argumentsText: string, value: unknown): void {
    if (this.#count >= KEPT_MAX) this.#forgetOldest()
    const key = `${name} ${argumentsText}`
    this.#kept ??= new Map()
    const values = this.#kept.get(key)
    if (values) values.push(value)
    else this.#kept.set(key, [value])
    this.#count += 1
  }

  /** Each value is given once: two equal calls never share an object. */
  take(name: string, argumentsText: string): { readonly value: unknown } | undefined {
    const key = `${name} ${argumentsText}`
    const values = this.#kept?.get(key)
    if (!values) return undefined
    const value = values.pop()
    this.#count -= 1
    if (values.length === 0) this.#kept?.delete(key)
    return { value }
  }

  #forgetOldest(): void {
    for (const [key, values] of this.#kept ?? []) {
      this.#kept?.delete(key)
      this.#count -= values.length
      return
    }
  }
}
