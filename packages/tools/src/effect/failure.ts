// Converts the failure of an Effect to the error that the model reads: a typed failure with tag and message, a defect
// with its message.
import { BatonError, isBatonError, readServiceFailure } from '@baton/core/internal'
import type { Opaque } from './library.ts'

/** Maximum characters of a failure's fields. */
const FIELDS_CHARS = 2000
/** Maximum steps through the causes of a failure, which form a tree in Effect 3. */
const CAUSES = 1000

/** Whether the failure is a defect, which the Effect's type does not declare. */
export interface Ending {
  readonly error: BatonError
  readonly isDefect: boolean
}

/** A BatonError that the Effect failed with is kept as is. */
export function describeEnding(cause: Opaque): Ending {
  const reasons = listReasons(cause)
  const failed = reasons.find((reason) => 'error' in reason)
  if (failed && 'error' in failed)
    return { error: toError(failed.error, describeFailure(failed.error)), isDefect: false }
  const died = reasons.find((reason) => 'defect' in reason)
  if (died && 'defect' in died) return { error: toError(died.defect, wordsOf(died.defect)), isDefect: true }
  return { error: new BatonError({ code: 'cancelled', message: 'the Effect was interrupted' }), isDefect: false }
}

/** Such as `OrderNotFound: there is no order A-71`; lists the fields if there is no message. */
export function describeFailure(error: unknown): string {
  const tag = isRecord(error) && typeof error['_tag'] === 'string' ? error['_tag'] : ''
  const words = wordsOf(error)
  if (tag === '' || words === tag) return words
  return words === '' ? tag : `${tag}: ${words}`
}

function toError(thrown: unknown, message: string): BatonError {
  if (isBatonError(thrown)) return thrown
  const said = message === '' ? 'the tool failed and did not say why' : message
  return new BatonError({ code: readServiceFailure(thrown) ?? 'tool_failed', message: said, cause: thrown })
}

function wordsOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown
  if (!isRecord(thrown))
    return thrown === undefined || thrown === null ? '' : String(thrown as number | boolean | bigint | symbol)
  const { message } = thrown
  if (typeof message === 'string' && message !== '') return message
  const fields = Object.entries(thrown).filter(([name]) => !UNSAID.has(name) && !name.startsWith('~'))
  return fields.length === 0 ? '' : stringify(Object.fromEntries(fields))
}

const UNSAID: ReadonlySet<string> = new Set(['_tag', 'name', 'message', 'stack', 'cause'])

function stringify(value: object): string {
  try {
    return JSON.stringify(value).slice(0, FIELDS_CHARS)
  } catch {
    return '' // it is circular, or contains a bigint
  }
}

type Reason = { readonly error: unknown } | { readonly defect: unknown }

/** Effect 4 keeps a list of reasons; Effect 3 a tree whose left side came first. */
function listReasons(cause: Opaque): readonly Reason[] {
  const reasons: Reason[] = []
  const open: unknown[] = [cause]
  for (let steps = 0; open.length > 0 && steps < CAUSES; steps += 1) {
    const next = open.pop()
    if (!isRecord(next)) continue
    if (Array.isArray(next['reasons'])) open.push(...next['reasons'].toReversed())
    else if (next['_tag'] === 'Fail') reasons.push({ error: next['error'] })
    else if (next['_tag'] === 'Die') reasons.push({ defect: next['defect'] })
    else open.push(next['right'], next['left'])
  }
  return reasons
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
