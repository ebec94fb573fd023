// Checks the deciders of a tool or a policy, before a call waits for a decision that no person could make.
import { BatonError } from '../errors.ts'
import { Deciders } from '../machine/values.ts'
import { decodeWith } from '../shape/value-reader.ts'

const DECIDERS_FORM =
  "Write deciders: { roles: ['manager'] }, { people: ['mia', 'tom', 'eve'], needed: 2 } or { notAsker: true }."

/** Approvals that one call may need. */
const NEEDED_MAX = 10

/** Returns what is wrong with deciders; undefined if they can decide. */
export function findDecidersIssue(value: unknown): string | undefined {
  const read = decodeWith('deciders', value, Deciders.read)
  if (!read.ok) return read.refusal.message
  const { people, roles, notAsker, needed = 1 } = read.value
  if (!people?.length && !roles?.length && !notAsker) return 'deciders need people, roles or notAsker: true'
  if (needed < 1 || needed > NEEDED_MAX) return `needed must be 1 to ${NEEDED_MAX}, not ${needed}`
  const enough = roles?.length || !people ? NEEDED_MAX : new Set(people).size
  return needed > enough ? `needed is ${needed}, but only ${enough} people may decide` : undefined
}

/**
 * Checks those of a tool. Without `approval` they would decide nothing, and its calls would run.
 * @throws BatonError `invalid_tool`
 */
export function checkDeciders(tool: {
  readonly name: string
  readonly approval?: unknown
  readonly deciders?: unknown
}): void {
  const { name, approval, deciders } = tool
  const issue = findDecidersIssue(deciders)
  if (issue !== undefined)
    throw new BatonError({ code: 'invalid_tool', message: `tool "${name}": ${issue}`, hint: DECIDERS_FORM })
  if (approval !== undefined) return
  throw new BatonError({
    code: 'invalid_tool',
    message: `tool "${name}": it has deciders, but approval does not say when they are asked`,
    hint: 'Write approval: true, a function of the input, or false if only a policy asks.',
  })
}
