// Addresses for operators: who they are, the live list of sessions, logs, requests, children, acts on a session, and costs.
// Other callers find nothing at these addresses.
import type { FrontSession, JsonObject, Principal, SessionInfo, SessionPage, SessionQuery } from '@baton/core/internal'
import { BatonError, decodeChildPath } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import { describeThrown, PageWatcher } from '@baton/runtime'
import { answerCosts } from './cost-report.ts'
import { encodeEvent } from './event-response.ts'
import type { Call, HandlerParts } from './handler-parts.ts'
import { answerJsonText, answerRefusal, answerView } from './http-errors.ts'
import { answerLive } from './live-answer.ts'
import type { OperatorPower } from './operator-powers.ts'
import { demandPower, openFor } from './operators.ts'
import { readNumber, readObjectBody } from './requests.ts'
import { createInvalid } from './ui-messages.ts'

interface Routing {
  readonly parts: HandlerParts
  readonly call: Call
  /** The session of the address. */
  readonly id: string
  /** The part of the address after the route's own name. */
  readonly name: string
}

interface Route {
  readonly method: 'GET' | 'POST'
  readonly power: OperatorPower | undefined
  readonly run: (routing: Routing) => Promise<Response>
}

/** By address; `:` matches any part. */
const ROUTES: ReadonlyMap<string, Route> = new Map<string, Route>([
  ['me', { method: 'GET', power: undefined, run: showOperator }],
  ['cost', { method: 'GET', power: 'see', run: ({ parts, call }) => answerCosts(parts, call) }],
  ['sessions/changes', { method: 'GET', power: 'see', run: watchSessions }],
  ['sessions/:/log', { method: 'GET', power: 'see', run: showLog }],
  ['sessions/:/children', { method: 'GET', power: 'see', run: showChildren }],
  ['sessions/:/requests/:', { method: 'GET', power: 'see', run: showRequest }],
  ['sessions/:/results/:', { method: 'GET', power: 'see', run: showResult }],
  ['sessions/:/interrupt', { method: 'POST', power: 'act', run: (routing) => act(routing, interrupt) }],
  ['sessions/:/rewind', { method: 'POST', power: 'act', run: (routing) => act(routing, rewind) }],
  ['sessions/:/retry', { method: 'POST', power: 'act', run: (routing) => act(routing, rewindNewest) }],
  ['sessions/:/continue', { method: 'POST', power: 'act', run: (routing) => act(routing, goOn) }],
  ['sessions/:/tasks/:/cancel', { method: 'POST', power: 'act', run: (routing) => act(routing, cancel) }],
])

function findRoute(path: readonly string[]): Route | undefined {
  const [area, id, ...rest] = path
  const direct = ROUTES.get(path.length > 2 ? '' : path.join('/'))
  if (direct || area !== 'sessions' || id === undefined) return direct
  return ROUTES.get(['sessions', ':', ...rest.map((part, at) => (at === 1 ? ':' : part))].join('/'))
}

/** Methods of an address that only operators have; none for any other. */
export function listOperatorMethods(path: readonly string[]): readonly string[] {
  const route = findRoute(path)
  return route ? [route.method] : []
}

/** @throws BatonError `unauthorized` without the power; errors of the host */
export async function answerOperator(parts: HandlerParts, call: Call, path: readonly string[]): Promise<Response> {
  const route = findRoute(path)
  const { views } = parts.host
  if (!route || !views) return answerRefusal(501, 'invalid_option', 'this host has nothing for operators')
  if (route.power) demandPower(call, route.power)
  const [, id = '', , name = ''] = path
  if (path.length > 2 && !(await views.ownerOf(id))) throw createUnknownError()
  return await route.run({ parts, call, id, name })
}

function createUnknownError(): BatonError {
  return new BatonError({ code: 'unknown_session', message: 'there is no such session' })
}

/** The caller, as an operator. */
export interface Me {
  readonly principal: Principal
  readonly powers: readonly OperatorPower[]
}

async function showOperator({ call }: Routing): Promise<Response> {
  return answerView(call, { principal: call.principal, powers: [...call.powers] } satisfies Me)
}

/** Entries that one request looks through for a text. */
const SEARCHED_MAX = 2000
const SEARCHED_MIN = 20
const PAGE_MAX = 200
const PAGE = 50

/**
 * Lists sessions of all owners. `search` is a part of the id, title, agent or owner: looks through 2,000 at a time,
 * and may find up to 19 more than `limit`.
 */
export async function searchSessions(
  list: (query: SessionQuery) => Promise<SessionPage>,
  url: URL,
  query: SessionQuery,
): Promise<SessionPage> {
  const search = (url.searchParams.get('search') ?? '').toLowerCase()
  const owner = url.searchParams.get('principal')
  const whose = owner === null ? query : { ...query, principal: { id: owner } }
  if (search === '') return await list(whose)
  const { limit = PAGE, cursor: _, ...rest } = whose
  const found: SessionInfo[] = []
  let { cursor } = whose
  for (let looked = 0; looked < SEARCHED_MAX && found.length < limit;) {
    // Pages get shorter towards the end, because the cursor follows the last session that was compared.
    const size = Math.min(PAGE_MAX, Math.max(SEARCHED_MIN, limit - found.length))
    const page = await list({ ...rest, limit: size, ...(cursor !== undefined && { cursor }) })
    looked += page.sessions.length
    found.push(...page.sessions.filter((one) => isFound(one, search)))
    cursor = page.cursor
    if (cursor === undefined) return { sessions: found }
  }
  return { sessions: found, ...(cursor !== undefined && { cursor }) }
}

function isFound({ id, title = '', agent, principal }: SessionInfo, search: string): boolean {
  return [id, title, agent, principal.id].some((text) => text.toLowerCase().includes(search))
}

/** Milliseconds between two looks at the list, which other processes change too. */
const LOOK_MS = 1000

/**
 * Streams changes of the newest sessions: of all owners, whichever process runs them. Begins with `live`; a list that is read
 * after it misses none.
 */
async function watchSessions({ parts, call }: Routing): Promise<Response> {
  const { sessions } = parts.host
  if (!sessions) return answerRefusal(501, 'invalid_option', 'this host cannot list sessions')
  const pages = new PageWatcher<SessionPage>({
    timers: parts.world.timers,
    everyMs: LOOK_MS,
    read: () => sessions({ limit: PAGE_MAX }),
    onFailure: (cause) => parts.world.log.warn('the sessions could not be listed', { cause: describeThrown(cause) }),
    onEnd: () => {},
  })
  let known: ReadonlyMap<string, SessionInfo> | undefined
  return answerLive<object>(parts, call, {
    next: async () => {
      const { done, value } = await pages.next()
      if (done === true) return undefined
      const listed = new Map(value.sessions.map((info) => [info.id, info]))
      const changes = known ? await listChanges(parts.host, known, listed) : [LIVE]
      known = listed
      return changes
    },
    encode: (change) => encodeEvent(call.write(change)),
    leave: () => pages.end(),
  })
}

const LIVE = { type: 'live' }

/** A session that left the page was removed, or only is not among the newest. */
async function listChanges(
  { has }: Pick<HandlerParts['host'], 'has'>,
  before: ReadonlyMap<string, SessionInfo>,
  now: ReadonlyMap<string, SessionInfo>,
) {
  const changed = [...now.values()].filter((info) => JSON.stringify(info) !== JSON.stringify(before.get(info.id)))
  const left = [...before.values()].filter(({ id }) => !now.has(id))
  const areThere = await Promise.all(left.map(async ({ id }) => (await has?.(id)) ?? true))
  return [
    ...changed.toReversed().map((session) => ({ type: 'changed', session })),
    ...left.filter((_, at) => !areThere[at]).map(({ id, principal }) => ({ type: 'removed', id, principal })),
  ]
}

const RECORDS = 200
const RECORDS_MAX = 1000
/** UTF-16 units of a page of records; the record that reaches it is the last. */
const PAGE_CHARS = 8 * 1024 * 1024

export interface LogPage {
  readonly records: readonly SessionRecord[]
  /** Position to read on from. */
  readonly next: number
  readonly more: boolean
}

/**
 * A page of the log, with long texts cut: from a position on, or the `last` records. It may have fewer records than asked:
 * `next` says where to read on, and `more` that there were more.
 */
async function showLog({ parts, call, id }: Routing): Promise<Response> {
  const fromPos = readNumber(call.url, 'from') ?? 0
  const last = readNumber(call.url, 'last')
  const most = last ?? readNumber(call.url, 'limit') ?? RECORDS
  if (most < 1 || most > RECORDS_MAX)
    throw createInvalid(`${last === undefined ? 'limit' : 'last'} must be 1 to ${RECORDS_MAX}, not ${most}`)
  const log = parts.host.views?.log(id, { fromPos, path: readPath(call) }) ?? []
  const records: string[] = []
  let [next, chars, more] = [fromPos, 0, false]
  for await (const record of last === undefined ? log : await readLast(log, last)) {
    more = records.length >= most || chars >= PAGE_CHARS
    if (more) break
    const text = call.writeCut(record)
    records.push(text)
    chars += text.length
    next = record.pos + 1
  }
  const rest = JSON.stringify({ next, more } satisfies Omit<LogPage, 'records'>)
  return answerJsonText(200, `{"records":[${records.join()}],${rest.slice(1)}`)
}

async function readLast(
  log: AsyncIterable<SessionRecord> | readonly SessionRecord[],
  count: number,
): Promise<readonly SessionRecord[]> {
  let kept: SessionRecord[] = []
  for await (const record of log) if (kept.push(record) === 2 * RECORDS_MAX) kept = kept.slice(-count)
  return kept.slice(-count)
}

async function showChildren({ parts, call, id }: Routing): Promise<Response> {
  return answerView(call, { children: (await parts.host.views?.children(id)) ?? [] })
}

async function showRequest({ parts, call, id, name }: Routing): Promise<Response> {
  if (!/^\d{1,9}$/.test(name)) throw createInvalid('the address ends with the number of a model’s attempt')
  const rebuilt = await parts.host.views?.request(id, Number(name), readPath(call))
  return answerJsonText(200, call.writeCut(rebuilt ?? {}))
}

async function showResult({ parts, call, id, name }: Routing): Promise<Response> {
  const text = await parts.host.views?.longResult(id, name, readPath(call))
  if (text === undefined) return answerRefusal(404, 'unknown_input', 'the session has no such result')
  return answerView(call, { text })
}

/** @throws BatonError `invalid_option` */
function readPath({ url }: Call): readonly string[] {
  const path = url.searchParams.getAll('child')
  if (path.length === 0) return path
  const decoded = decodeChildPath(path)
  if (!decoded.ok) throw new BatonError(decoded.refusal)
  return decoded.value
}

type Act = (session: FrontSession, body: JsonObject, name: string) => Promise<object>

/** Acts in the owner's name. The session decodes the fields. */
async function act({ parts, call, id, name }: Routing, run: Act): Promise<Response> {
  const body = await readObjectBody(call)
  const session = (await openFor(parts, call, id, 'act')) as FrontSession // it is opened for an act
  try {
    return answerJsonText(200, JSON.stringify(await run(session, body, name)))
  } finally {
    await session.close()
  }
}

const interrupt: Act = (session, body) => session.interrupt(body)
const rewind: Act = (session, body) => {
  if ('replace' in body) throw createInvalid('replace is for owners: an operator does not write in their name')
  return session.rewind(body as unknown as Parameters<FrontSession['rewind']>[0])
}
const goOn: Act = (session) => session.control('continue')
const cancel: Act = (session, _body, callId) => session.cancel(callId)

/** Messages that are looked through for the newest question. */
const NEWEST = 50

/** Asks the newest question again. */
const rewindNewest: Act = async (session) => {
  const { messages } = await session.messages({ limit: NEWEST })
  const asked = messages.findLast(({ role }) => role === 'user')
  if (!asked)
    throw new BatonError({
      code: 'unknown_input',
      message: 'the conversation has no question that could be asked again',
    })
  return await session.rewind({ message: asked.id, again: true, interrupt: true })
}
