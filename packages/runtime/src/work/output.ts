// Typed answers of an agent or turn with an output schema: converts a model's text to a value, or describes what is
// wrong.
import type { JsonObject, Refused, Schema } from '@baton/core/internal'
import { BatonError, readSchema } from '@baton/core/internal'
import type { OutputCheck } from '@baton/core/machine'
import type { ArgumentValidator, Validated } from './arguments.ts'
import { describeThrown } from '../describe-thrown.ts'

export interface OutputReader {
  /** Never rejects: a throwing schema is an issue as well. */
  check(text: string): Promise<OutputCheck>
  /** @throws BatonError `invalid_output` */
  read(text: string): Promise<unknown>
}

export function createOutputReader(output: Schema, validator: ArgumentValidator): OutputReader {
  const validate = async (text: string): Promise<Validated> => {
    try {
      return await validator.validate({ input: output, subject: 'the answer is' }, findJson(text))
    } catch (cause) {
      return { ok: false, issues: describeThrown(cause) }
    }
  }
  return {
    check: async (text) => {
      const checked = await validate(text)
      return { issue: checked.ok ? null : checked.issues }
    },
    read: async (text) => {
      const checked = await validate(text)
      if (checked.ok) return checked.value
      throw new BatonError({
        code: 'invalid_output',
        message: checked.issues,
        data: { text, issues: checked.issues },
      })
    },
  }
}

/** Refuses a schema that cannot fully check answers, before any model call. */
export function findSchemaRefusal(schema: JsonObject): Refused | undefined {
  const [fault] = readSchema(schema).faults
  if (!fault) return undefined
  const where = fault.path === '' ? '' : `${fault.path}: `
  return {
    type: 'refused',
    code: 'invalid_schema',
    message: `the output schema cannot be used: ${where}${fault.message}`,
  }
}

/** Models like to put JSON into a code block, after a polite sentence. */
function findJson(text: string): string {
  const candidate = findFenced(text) ?? text
  const from = candidate.indexOf('{')
  const to = candidate.lastIndexOf('}')
  return from >= 0 && to > from ? candidate.slice(from, to + 1) : candidate
}

/** The content of the first complete code block that is marked as JSON or unmarked. */
function findFenced(text: string): string | undefined {
  for (const { index } of text.matchAll(/```(?:json)?[^\S\n]*\n/g)) {
    const from = text.indexOf('\n', index) + 1
    const to = text.indexOf('```', from)
    // No later block ends, either.
    return to < 0 ? undefined : text.slice(from, to)
  }
  return undefined
}
