// Operators: principals who may see, decide or change sessions of all owners. This file alone says what a power allows; a
// principal without the power gets what it gets as an ordinary client.
import type { FrontSession, JsonValue, Principal, SessionView } from '@baton/core/internal'
import { BatonError, describeValue, frontOf } from '@baton/core/internal'
import { encodeAppView } from '../shared/app-errors.ts'
import type { Call, HandlerParts } from './handler-parts.ts'

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

/** What is expected instead of a value that is no array of powers; undefined if it is one. */
export function findPowersIssue(given: unknown): string | undefined {
  const isPower = (one: unknown): boolean => POWERS.some((power) => power === one)
  if (Array.isArray(given) && given.every(isPower)) return undefined
  return `an array of the powers ${POWERS.join(', ')}, not ${describeValue(given)}`
}

/** @throws BatonError `unauthorized` */
export function demandPower({ powers }: Call, power: OperatorPower): void {
  if (powers.has(power)) return
  throw new BatonError({
    code: 'unauthorized',
    message: `this needs the power "${power}", which the caller does not have`,
  })
}

/**
 * Opens a session for one act. An operator with the power reads it without opening it (`see`, `export`), or acts in its
 * owner's name (`act`, `decide`), which the log shows. Anyone else opens it as its owner.
 * @throws BatonError as `host.session`
 */
export async function openFor(
  { host, world }: HandlerParts,
  call: Call,
  id: string,
  power: OperatorPower | undefined,
): Promise<SessionView | FrontSession> {
  const { principal, powers } = call
  const owner = power && powers.has(power) ? await host.views?.ownerOf(id) : undefined
  if (!owner || !host.views) return await call.open(id, { existing: true })
  if (power === 'see' || power === 'export') return await host.views.open(id)
  if (owner.id === principal.id) return await call.open(id, { existing: true })
  const session = frontOf(await host.session(id, { principal: owner, by: principal, existing: true }))
  world.log.info('an operator acts on a session', { session: id, operator: principal.id, address: call.url.pathname })
  return session
}

/** Encodes views as JSON. Operators see errors in full, and never a secret of the host. */
export function createWriter(
  { host }: Pick<HandlerParts, 'host'>,
  powers: ReadonlySet<OperatorPower>,
): Pick<Call, 'write' | 'show'> {
  const { views } = host
  if (powers.size === 0 || !views) return { write: (value) => JSON.stringify(value), show: encodeAppView }
  const hide = (_name: string, value: unknown): unknown =>
    typeof value === 'string' ? views.hideSecrets(value) : value
  return { write: (value) => JSON.stringify(value, hide), show: (view) => view }
}

/** Bytes of a text in a log or a request that are shown; UTF-16 units. */
const TEXT_CHARS = 65_536

/** Cuts long texts, and says how much was left out. Bytes of images count as text. */
export function cutTexts(value: JsonValue): JsonValue {
  if (typeof value === 'string') {
    const left = value.length - TEXT_CHARS
    return left <= 0 ? value : `${value.slice(0, TEXT_CHARS).toWellFormed()}… [${left} more characters]`
  }
  if (Array.isArray(value)) return value.map(cutTexts)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cutTexts(one as JsonValue)])) // JSON has no undefined
}
