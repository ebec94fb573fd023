// Addresses that only operators have: who they are, the live list of sessions, logs, requests and children, acts on a session,
// and costs. To other callers there is nothing at these addresses.
import type { FrontSession, JsonObject, JsonValue, SessionInfo, SessionPage, SessionQuery } from '@baton/core/internal'
import { BatonError, decodeChildPath } from '@baton/core/internal'
import { describeThrown, PageWatcher } from '@baton/runtime'
import { startExpiry } from '../shared/server-world.ts'
import { answerCosts } from './cost-report.ts'
import { answerEvents, encodeEvent } from './event-response.ts'
import type { Call, HandlerParts } from './handler-parts.ts'
import { answerJson, answerJsonText, answerRefusal } from './http-errors.ts'
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

async function showOperator({ call }: Routing): Promise<Response> {
  const { principal, powers } = call
  const readOnly = !['decide', 'act', 'remove'].some((power) => powers.has(power as OperatorPower))
  return answerView(call, { principal, powers: [...powers], readOnly })
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
    // Short pages towards the end: the cursor is after the last one that was looked at.
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
  const { host, world, limits } = parts
  const { sessions } = host
  if (!sessions) return answerRefusal(501, 'invalid_option', 'this host cannot list sessions')
  const pages = new PageWatcher<SessionPage>({
    timers: world.timers,
    everyMs: LOOK_MS,
    read: () => sessions({ limit: PAGE_MAX }),
    onFailure: (cause) => world.log.warn('the sessions could not be listed', { cause: describeThrown(cause) }),
    onEnd: () => {},
  })
  const release = parts.quotas.holdStream(call.reader)
  const leave = (): void => pages.end()
  return answerEvents({
    ...limits,
    timers: world.timers,
    headers: {},
    run: async (writer) => {
      writer.left.then(leave).catch(() => {})
      // The client authenticates again when it reconnects.
      const stopExpiry = startExpiry(world, call.expiresAtMs, leave)
      let known: ReadonlyMap<string, SessionInfo> | undefined
      try {
        for (let next = await pages.next(); next.done !== true; next = await pages.next()) {
          const listed = new Map(next.value.sessions.map((info) => [info.id, info]))
          for (const change of known ? listChanges(known, listed) : [LIVE]) {
            writer.write(encodeEvent(call.write(change)))
            const room = writer.waitForRoom()
            if (room) await room
          }
          known = listed
        }
      } finally {
        stopExpiry()
        release()
      }
    },
  })
}

const LIVE: JsonObject = { type: 'live' }

/** A session that left the page was removed if older ones are still there. */
function listChanges(
  before: ReadonlyMap<string, SessionInfo>,
  now: ReadonlyMap<string, SessionInfo>,
): readonly JsonObject[] {
  const changed = [...now.values()].filter((info) => JSON.stringify(info) !== JSON.stringify(before.get(info.id)))
  const oldestMs = now.size < PAGE_MAX ? -Infinity : Math.min(...[...now.values()].map(({ lastMs }) => lastMs))
  const removed = [...before.values()].filter(({ id, lastMs }) => !now.has(id) && lastMs > oldestMs)
  return [
    ...changed.toReversed().map((session) => asJson({ type: 'changed', session })),
    ...removed.map(({ id, principal }) => asJson({ type: 'removed', id, principal })),
  ]
}

const RECORDS = 200
const RECORDS_MAX = 1000
/** UTF-16 units of a page of records; the record that reaches it is the last. */
const PAGE_CHARS = 8 * 1024 * 1024

/** A page of the log, with long texts cut. It may have fewer records than asked: `next` says where to read on. */
async function showLog({ parts, call, id }: Routing): Promise<Response> {
  const { views } = parts.host
  const from = readNumber(call.url, 'from') ?? 0
  const limit = readNumber(call.url, 'limit') ?? RECORDS
  if (limit < 1 || limit > RECORDS_MAX) throw createInvalid(`limit must be 1 to ${RECORDS_MAX}, not ${limit}`)
  const path = readPath(call)
  const read = (fromPos: number) => views?.log(id, { fromPos, path }) ?? []
  const records: string[] = []
  let [newest, chars] = [-1, 0]
  let isFull = false
  // One record more than asked: without it, the page begins after the end of the log.
  for await (const record of read(Math.max(0, from - 1))) {
    newest = record.pos
    if (record.pos < from || isFull) continue
    const text = call.writeCut(record as unknown as JsonValue) // a record is JSON
    records.push(text)
    chars += text.length
    isFull = records.length >= limit || chars >= PAGE_CHARS
  }
  if (newest < 0 && from > 0) for await (const { pos } of read(0)) newest = pos
  return answerJsonText(200, `{"records":[${records.join()}],"next":${from + records.length},"newest":${newest}}`)
}

async function showChildren({ parts, call, id }: Routing): Promise<Response> {
  return answerView(call, { children: (await parts.host.views?.children(id)) ?? [] })
}

async function showRequest({ parts, call, id, name }: Routing): Promise<Response> {
  if (!/^\d{1,9}$/.test(name)) throw createInvalid('the address ends with the number of a model’s attempt')
  const rebuilt = await parts.host.views?.request(id, Number(name), readPath(call))
  return answerJsonText(200, call.writeCut(asJson(rebuilt ?? {})))
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
    return answerJson(200, asJson(await run(session, body, name)))
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

function answerView({ write }: Call, view: object): Response {
  return answerJsonText(200, write(asJson(view)))
}

/** Views are plain data. */
function asJson(view: object): JsonObject {
  return view as JsonObject
}
