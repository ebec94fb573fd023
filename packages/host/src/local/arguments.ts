// Validates a call's arguments against its tool's own schema, in words that a model can act on.
import { createHash } from 'node:crypto'
import type { JsonValue, Schema, SchemaIssue, Tool } from '@baton/core'
import { isStandardSchema, parseJson } from '@baton/core'
import { Ajv2020 } from 'ajv/dist/2020.js'

export type Validated = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly issues: string }

export interface ArgumentValidator {
  validate(tool: Pick<Tool, 'input'>, argumentsText: string): Promise<Validated>
}

/** Compiled JSON Schemas are kept for as long as their schema object lives. */
export function createArgumentValidator(): ArgumentValidator {
  const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false, validateFormats: false })
  const compiled = new WeakMap<object, ReturnType<typeof ajv.compile>>()
  const validateJson = (schema: object, value: JsonValue): Validated => {
    const check = compiled.get(schema) ?? ajv.compile(schema)
    compiled.set(schema, check)
    if (check(value)) return { ok: true, value }
    const issues = (check.errors ?? []).map(
      (error) => `${error.instancePath || 'the arguments'} ${error.message ?? 'is wrong'}`,
    )
    return { ok: false, issues: issues.join('; ') }
  }
  return {
    validate: async (tool, argumentsText) => {
      const parsed = parseJson(argumentsText)
      if (!parsed.ok) return { ok: false, issues: 'the arguments are not JSON' }
      const schema: Schema = tool.input
      if (!isStandardSchema(schema)) return validateJson(schema, parsed.value)
      const result = await schema['~standard'].validate(parsed.value)
      return result.issues
        ? { ok: false, issues: result.issues.map(issueText).join('; ') }
        : { ok: true, value: result.value }
    },
  }
}

function issueText(issue: SchemaIssue): string {
  const path = (issue.path ?? []).map((step) => String(typeof step === 'object' ? step.key : step)).join('.')
  return path === '' ? issue.message : `${path}: ${issue.message}`
}

/** What an approval is bound to. */
export function hashArguments(argumentsText: string): string {
  return createHash('sha256').update(argumentsText).digest('base64url')
}
