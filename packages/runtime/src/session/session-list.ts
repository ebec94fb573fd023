// Queries of lists and of the inbox over the entries of a store: pages by time, whose cursors stay right while sessions
// move.
import type {
  Principal,
  ApprovalPage,
  ApprovalQuery,
  EntryQuery,
  FoundEntry,
  JsonValue,
  SessionInfo,
  SessionPage,
  SessionQuery,
  WaitingApproval,
} from '@baton/core/internal'
import { BatonError, checkFields, checkName, describeValue, findDeciderIssue } from '@baton/core/internal'
import type { EntryBody } from './session-entry.ts'
import { findList, LISTS, PLACE_MS } from './session-entry.ts'

const PAGE = 50
const PAGE_MAX = 200

export interface ListedEntry extends Pick<FoundEntry, 'place' | 'atMs' | 'item'> {
  /** Undefined if it cannot be read. */
  readonly body: EntryBody | undefined
}

/** One page of a list, as in the store. */
export type FindEntries = (query: EntryQuery) => Promise<readonly ListedEntry[]>

/** @throws BatonError `invalid_option`, `store_failed` */
export async function querySessions(find: FindEntries, query: SessionQuery): Promise<SessionPage> {
  const { since, order = 'newest', limit = PAGE } = query
  const sinceMs = since === undefined ? {} : { sinceMs: since - PLACE_MS }
  const reading = { list: findList(query), order, limit: limit + 1, ...sinceMs, ...startAfter(query) }
  const sessions: SessionInfo[] = []
  let last = ''
  for await (const { body, place } of eachEntry(find, reading)) {
    if (!body || !isWanted(body.info, query)) continue
    if (sessions.length === limit) return { sessions, cursor: `${order} ${last}` }
    sessions.push(body.info)
    last = place
  }
  return { sessions }
}

/** @throws BatonError `invalid_option`, `store_failed` */
export async function queryApprovals(find: FindEntries, query: ApprovalQuery, nowMs: number): Promise<ApprovalPage> {
  const { principal, decider, agent, tool, order = 'newest', limit = PAGE } = query
  const lists = decider
    ? LISTS.decidedBy({ principal: decider.id, roles: decider.roles })
    : tool !== undefined
      ? [LISTS.approvals('tool', tool)]
      : agent !== undefined
        ? [LISTS.approvals('agent', agent)]
        : [principal ? LISTS.approvals('principal', principal.id) : LISTS.approvals()]
  const approvals: WaitingApproval[] = []
  let last = ''
  for await (const { body, place, item } of mergeLists(find, lists, {
    order,
    limit: limit + 1,
    ...startAfter(query),
  })) {
    const one = body?.approvals[item]
    if (!one || one.expiresAtMs <= nowMs || !isMeant(one, query)) continue
    if (approvals.length === limit) return { approvals, cursor: `${order} ${last}` }
    approvals.push(one)
    last = place
  }
  return { approvals }
}

async function* eachEntry(find: FindEntries, query: EntryQuery): AsyncGenerator<ListedEntry> {
  for (let after = query.after; ;) {
    const found = await find({ ...query, ...(after !== undefined && { after }) })
    yield* found
    after = found.at(-1)?.place
    if (found.length < query.limit || after === undefined) return
  }
}

/** Several lists in one order; an entry that is in several comes once. */
async function* mergeLists(
  find: FindEntries,
  lists: readonly string[],
  query: Omit<EntryQuery, 'list'>,
): AsyncGenerator<ListedEntry> {
  const readers = lists.map((list) => eachEntry(find, { ...query, list }))
  const heads = await Promise.all(readers.map((reader) => reader.next()))
  let given = ''
  for (;;) {
    let first: { readonly at: number; readonly entry: ListedEntry } | undefined
    for (const [at, { done, value }] of heads.entries())
      if (!done && (!first || isBefore(value, first.entry, query.order))) first = { at, entry: value }
    if (!first) return
    const { at, entry } = first
    if (entry.place !== given) yield entry
    given = entry.place
    heads[at] = (await readers[at]?.next()) ?? { done: true, value: undefined }
  }
}

function isBefore(one: ListedEntry, other: ListedEntry, order: 'newest' | 'oldest'): boolean {
  const sign = order === 'newest' ? -1 : 1
  if (one.atMs !== other.atMs) return sign * (one.atMs - other.atMs) < 0
  if (one.item !== other.item) return sign * (one.item - other.item) < 0
  const [key, otherKey] = [one.place, other.place].map((place) =>
    place.slice(place.indexOf('.', place.indexOf('.') + 1)),
  )
  return key !== otherKey && (order === 'newest') === (key ?? '') > (otherKey ?? '')
}

/** Whether the query means it: a decider must be among the people and roles, and not have approved it yet. */
export function isMeant(one: WaitingApproval, { principal, decider, agent, tool }: ApprovalQuery): boolean {
  if (principal !== undefined && one.principal.id !== principal.id) return false
  if (agent !== undefined && one.agent !== agent) return false
  if (tool !== undefined && one.name !== tool) return false
  if (decider === undefined) return true
  if (one.given?.some(({ id }) => id === decider.id)) return false
  return findDeciderIssue(one.principal.id, one.deciders, { principal: decider.id, roles: decider.roles }) === undefined
}

function isWanted(info: SessionInfo, { principal, agent, activity, since, meta }: SessionQuery): boolean {
  if (principal !== undefined && info.principal.id !== principal.id) return false
  if (agent !== undefined && info.agent !== agent) return false
  if (activity !== undefined && info.activity !== activity) return false
  if (since !== undefined && info.lastMs < since) return false
  return Object.entries(meta ?? {}).every(
    ([key, value]) => Object.hasOwn(info.meta, key) && isSame(info.meta[key], value),
  )
}

function isSame(one: JsonValue | undefined, other: JsonValue): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
}

/** A cursor is the order, and the place of the last entry of its page. */
function startAfter({ cursor, order = 'newest' }: Pick<SessionQuery, 'cursor' | 'order'>): Pick<EntryQuery, 'after'> {
  if (cursor === undefined) return {}
  const after = cursor.slice(order.length + 1)
  if (cursor.startsWith(`${order} `) && PLACE.test(after)) return { after }
  throw new BatonError({
    code: 'invalid_option',
    message: `cursor must come from a page of the same order, not ${describeValue(cursor)}`,
    hint: 'Pass the cursor of the page before, or none for the first page.',
  })
}

/** A place in a list: the time, the number of the item, and what the store calls the session. */
const PLACE = /^-?\d{1,16}\.\d{1,9}\.[^]+$/

/** The error for a principal that is not an object. */
export function createPrincipalError(given: unknown, field = 'principal'): BatonError {
  return new BatonError({
    code: 'invalid_option',
    message: `${field} must be an object with an id, not ${describeValue(given)}`,
    hint: `Write ${field}: { id: userId }.`,
  })
}

const PRINCIPAL_FIELDS = {
  fields: new Set(['id', 'roles']),
  elsewhere: { role: 'roles', groups: 'roles', userId: 'id', sub: 'id' },
}

/**
 * Checks all but the id. @throws BatonError `invalid_option` for an unknown field, since a person with a misspelt `roles`
 * has none; and for roles that are not a list, since the letters of a text would count as roles
 */
export function checkPrincipal(principal: Principal, field: string): void {
  checkFields(principal, { what: field, code: 'invalid_option', ...PRINCIPAL_FIELDS })
  const { roles }: { readonly roles?: unknown } = principal
  if (roles === undefined) return
  if (!Array.isArray(roles))
    throw new BatonError({
      code: 'invalid_option',
      message: `${field}.roles must be an array of names, not ${describeValue(roles)}`,
      hint: "Write { id, roles: ['manager'] }.",
    })
  for (const role of roles) checkName(`a role of ${field}.roles`, role)
}

type Query = SessionQuery & ApprovalQuery

/** @throws BatonError `invalid_option`: an unknown or malformed filter would show other people's sessions */
export function checkQuery(query: Query, method: keyof typeof QUERY_FIELDS): void {
  checkFields(query, { what: `the query of ${method}`, code: 'invalid_option', ...QUERY_FIELDS[method] })
  // A forgotten principal must not mean all principals.
  for (const name of ['principal', 'decider'] as const) {
    if (name in query && typeof (query[name] as { readonly id?: unknown } | null | undefined)?.id !== 'string')
      throw createPrincipalError(query[name], name)
    if (query[name]) checkPrincipal(query[name], name)
  }
  const wrong = (name: string, what: string, given: unknown): BatonError =>
    new BatonError({
      code: 'invalid_option',
      message: `${name} must be ${what}, not ${describeValue(given)}`,
      hint: `Pass ${name} as ${what}.`,
    })
  for (const name of ['agent', 'cursor', 'session', 'tool'] as const)
    if (query[name] !== undefined && typeof query[name] !== 'string') throw wrong(name, 'text', query[name])
  const { limit = PAGE, order = 'newest', since = 0, activity } = query
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_MAX) throw wrong('limit', `1 to ${PAGE_MAX}`, limit)
  if (order !== 'newest' && order !== 'oldest') throw wrong('order', '"newest" or "oldest"', order)
  if (typeof since !== 'number' || !Number.isFinite(since)) throw wrong('since', 'milliseconds since 1970', since)
  if (activity !== undefined && !ACTIVITIES.has(activity))
    throw wrong('activity', `one of ${[...ACTIVITIES].join(', ')}`, activity)
}

const ACTIVITIES: ReadonlySet<unknown> = new Set<SessionInfo['activity']>([
  'idle',
  'running',
  'waiting',
  'paused',
  'stopped',
])

const OF_USER = 'write principal: { id: userId }'
const OF_DECIDER = "write decider: { id: userId, roles: ['manager'] }"
const QUERY_ELSEWHERE = {
  user: OF_USER,
  userId: OF_USER,
  resourceId: OF_USER,
  owner: 'principal',
  metadata: 'meta',
  status: 'activity',
  by: 'decider',
  role: OF_DECIDER,
  roles: OF_DECIDER,
  perPage: 'limit',
  pageSize: 'limit',
} as const
const PAGING = ['principal', 'agent', 'order', 'cursor', 'limit'] as const
const QUERY_FIELDS = {
  sessions: { fields: new Set([...PAGING, 'activity', 'since', 'meta']), elsewhere: QUERY_ELSEWHERE },
  approvals: { fields: new Set([...PAGING, 'session', 'decider', 'tool']), elsewhere: QUERY_ELSEWHERE },
  watch: { fields: new Set(['principal']), elsewhere: QUERY_ELSEWHERE },
  watchApprovals: {
    fields: new Set(['principal', 'session', 'agent', 'order', 'limit', 'decider', 'tool']),
    elsewhere: QUERY_ELSEWHERE,
  },
} as const
