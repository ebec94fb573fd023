// Powers over sessions of all owners, as a server's options give them, and views as their holders see them.
import type { JsonValue, Principal } from '@baton/core/internal'
import { BatonError, describeValue } from '@baton/core/internal'
import { encodeAppView } from '../shared/app-errors.ts'
import type { HostWithSessions } from '../shared/check-options.ts'

const POWERS = ['see', 'decide', 'act', 'export', 'remove'] as const

/**
 * A right over sessions of all owners. `see`: lists, conversations, logs and costs. `decide`: approvals, with the owner's
 * right where no deciders are named. `act`: interrupt, cancel, rewind, repeat, continue and copy. `export`; `remove`.
 */
export type OperatorPower = (typeof POWERS)[number]

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
  const isPower = (one: unknown): boolean => POWERS.some((power) => power === one)
  if (Array.isArray(given) && given.every(isPower)) return undefined
  return `an array of the powers ${POWERS.join(', ')}, not ${describeValue(given)}`
}

/** Writes views for one caller. */
export interface Writer {
  /** Encodes a view as JSON. */
  readonly write: (value: JsonValue) => string
  /** Returns an event or a message as the caller may see it. */
  readonly show: <View extends object>(view: View) => View
}

/** Encodes views as JSON. Operators see errors in full, and never a secret of the host. */
export function createWriter({ views }: HostWithSessions, powers: ReadonlySet<OperatorPower>): Writer {
  if (powers.size === 0 || !views) return { write: (value) => JSON.stringify(value), show: encodeAppView }
  const hide = (_name: string, value: unknown): unknown =>
    typeof value === 'string' ? views.hideSecrets(value) : value
  return { write: (value) => JSON.stringify(value, hide), show: (view) => view }
}
