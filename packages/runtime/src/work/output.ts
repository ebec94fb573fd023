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

/**
 * The content of the first complete code block that is marked as JSON or unmarked. Blocks with other marks are passed over
 * whole, so that their ends are not taken for beginnings.
 */
function findFenced(text: string): string | undefined {
  let open: { readonly from: number; readonly isJson: boolean } | undefined
  for (const { 0: line, 1: before = '', 2: after = '', index } of text.matchAll(FENCED_LINE)) {
    // In the middle of a line they are text of the block.
    if (open && before.trim() !== '' && after.trim() !== '') continue
    if (open?.isJson) return text.slice(open.from, index + before.length)
    const isMarked = /^\S/.test(after)
    const isEnd = open !== undefined && !isMarked
    open = isEnd ? undefined : { from: index + line.length + 1, isJson: ['', 'json'].includes(after.trim()) }
  }
  return undefined
}

/** A line with backticks in one place. */
const FENCED_LINE = /^([^`\n]*)`{3,}([^`\n]*)$/gm
