// Powers over sessions of all owners, as a server's options give them, and views as their holders see them.
import type { Decision, Principal } from '@baton/core/internal'
import { BatonError, describeValue, isJsonObject } from '@baton/core/internal'
import { encodeAppView } from '../shared/app-errors.ts'
import type { HostWithSessions } from '../shared/check-options.ts'

export const OPERATOR_POWERS = ['see', 'decide', 'act', 'export', 'remove'] as const

/**
 * A right over sessions of all owners. `see`: lists, conversations, logs and costs. `decide`: approvals, with the owner's
 * right where no deciders are named. `act`: interrupt, cancel, rewind, repeat, continue and copy. `export`; `remove`.
 */
export type OperatorPower = (typeof OPERATOR_POWERS)[number]

/** Returns the powers of an authenticated principal; none for an ordinary client. */
export type FindPowers = (principal: Principal) => readonly OperatorPower[] | undefined

/** @throws BatonError `internal` for a power that does not exist, and what `find` throws */
export function readPowers(find: FindPowers | undefined, principal: Principal): ReadonlySet<OperatorPower> {
  const found: unknown = find?.(principal) ?? []
  const issue = findPowersIssue(found)
  if (issue === undefined) return new Set(found as readonly OperatorPower[]) // checked
  throw new BatonError({ code: 'internal', message: `operators must return ${issue}` })
}

/** Describes the expected value if the given one is not an array of powers; undefined if it is one. */
export function findPowersIssue(given: unknown): string | undefined {
  const isPower = (one: unknown): boolean => OPERATOR_POWERS.some((power) => power === one)
  if (!Array.isArray(given)) return `an array of the powers ${OPERATOR_POWERS.join(', ')}, not ${describeValue(given)}`
  const unknown: unknown = given.find((one) => !isPower(one))
  return unknown === undefined
    ? undefined
    : `an array of the powers ${OPERATOR_POWERS.join(', ')}, without ${describeValue(unknown)}`
}

/** Writes views for one caller. */
export interface Writer {
  /** Encodes a view as JSON. */
  readonly write: (view: object) => string
  /** Encodes a view as JSON, with long texts cut. */
  readonly writeCut: (view: object) => string
  /** Returns an event or a message as the caller may see it. */
  readonly show: <View extends object>(view: View) => View
}

/** Encodes views as JSON. Operators see errors in full, and never a secret of the host. */
export function createWriter({ views }: HostWithSessions, powers: ReadonlySet<OperatorPower>): Writer {
  const hide = powers.size > 0 && views ? views.hideSecrets.bind(views) : undefined
  return {
    write: hide ? (value) => encode(value, hide) : (value) => JSON.stringify(value),
    // Hidden texts are cut afterwards, so that no half of a key stays.
    writeCut: (value) => encode(value, (text) => cutText(hide?.(text) ?? text)),
    show: hide ? (view) => view : encodeAppView,
  }
}

/** Encodes a value with its texts and names changed. */
function encode(value: object, change: (text: string) => string): string {
  const names = new Map<string, string>()
  const rename = (name: string): string => {
    const known = names.get(name) ?? change(name)
    names.set(name, known)
    return known
  }
  const replace = (_name: string, one: unknown): unknown => {
    if (typeof one === 'string') return change(one)
    if (!isJsonObject(one) || Object.keys(one).every((name) => rename(name) === name)) return one
    return Object.fromEntries(Object.entries(one).map(([name, field]) => [rename(name), field]))
  }
  return JSON.stringify(value, replace)
}

/** UTF-16 units of a text in a log or a request that are shown. Bytes of images count as text. */
const TEXT_CHARS = 65_536

function cutText(text: string): string {
  const left = text.length - TEXT_CHARS
  return left <= 0 ? text : `${text.slice(0, TEXT_CHARS).toWellFormed()}… [${left} more characters]`
}

/** Replaces a secret in what operators read. */
const HIDDEN = '[redacted]'

/**
 * Refuses a changed argument that an operator was not shown: the tool would run with the mark instead of the secret.
 * @throws BatonError `invalid_arguments`
 */
export function refuseHidden(decision: Decision, powers: ReadonlySet<OperatorPower>): void {
  if (powers.size === 0 || decision.decision !== 'edit' || !JSON.stringify(decision.input)?.includes(HIDDEN)) return
  throw new BatonError({
    code: 'invalid_arguments',
    message: `the changed arguments contain ${HIDDEN}, which stands for a secret that operators do not see`,
    hint: 'Write another value there, deny the call, or let its owner change it.',
  })
}
