// Sessions over HTTP: lists, messages, events, titles, copies and removal. A principal only sees its own.
import type { EventsOptions, FrontSession, Session, SessionEvent } from '@baton/core/internal'
import { frontOf, isJsonObject, parseJson } from '@baton/core/internal'
import { CHOICE_HINT, findChoiceIssue } from '../shared/allowed-settings.ts'
import { readPages } from '../shared/message-pages.ts'
import { encodeEvent } from './event-response.ts'
import type { HandlerParts, Call } from './handler-parts.ts'
import { openFor } from './operators.ts'
import type { OperatorPower } from './operator-powers.ts'
import { answerJson, answerJsonText, answerRefusal, answerView } from './http-errors.ts'
import { answerLive } from './live-answer.ts'
import { readKey } from './repeated-requests.ts'
import { searchSessions } from './operator-routes.ts'
import { readFlag, readNumber, readObjectBody, readTime, readWords } from './requests.ts'
import type { LinkMedia } from './ui-messages.ts'
import { createInvalid, createMediaLinks, writeUiMessage } from './ui-messages.ts'

/** Answers a request whose method is one of `SESSION_METHODS`, or GET for the list. */
export async function answerSessions(
  parts: HandlerParts,
  call: Call,
  [, id, part = '', name = '']: readonly string[],
): Promise<Response> {
  const { method } = call.request
  if (id === undefined) return await listSessions(parts, call)
  const route = ROUTES.get(part)?.[method]
  const path = call.url.searchParams.getAll('child')
  if (path.length > 0 && method !== 'GET') throw createInvalid(`child is of GET requests alone, not of ${method}`)
  if (!route) return await removeSession(parts, call, id)
  const root = (await openFor(parts, call, id, findPower(part, method))) as Session // a view is of routes that read
  let streams = false
  try {
    const child = path.length > 0 ? await root.child(path) : root
    const session = child as Session // which refuses whatever writes
    const response = await route({ parts, call, session, name, link: createMediaLinks(parts.basePath, id, path), root })
    streams = response.headers.get('content-type') === 'text/event-stream'
    return response
  } finally {
    if (!streams) await root.close()
  }
}

/** The power that replaces the ownership of a session, by its route; none for what only owners do. */
function findPower(part: string, method: string): OperatorPower | undefined {
  if (part === 'export') return 'export'
  if (part === 'fork') return 'act'
  return method === 'GET' ? 'see' : undefined
}

interface Routing {
  readonly parts: HandlerParts
  readonly call: Call
  readonly session: Session
  /** The session of the address; `session` is another one if it names a child. */
  readonly root: Session
  readonly link: LinkMedia
  /** The last part of the address. */
  readonly name: string
}

/** Routes of an open session, by the part of the address after its id, and by method. */
const ROUTES: ReadonlyMap<string, Readonly<Record<string, (routing: Routing) => Promise<Response>>>> = new Map([
  ['', { GET: async ({ session, call }: Routing) => answerView(call, await session.info()), PATCH: changeSession }],
  ['messages', { GET: showMessages }],
  ['events', { GET: showEvents, POST: takeEvent }],
  ['media', { GET: showMedia }],
  ['export', { GET: exportSession }],
  ['fork', { POST: forkSession }],
])

/** Methods by the part of the address after the session's id. */
export const SESSION_METHODS: ReadonlyMap<string, readonly string[]> = new Map(
  [...ROUTES].map(([part, routes]) => [part, [...Object.keys(routes), ...(part === '' ? ['DELETE'] : [])]]),
)

async function listSessions({ host }: HandlerParts, call: Call): Promise<Response> {
  const { url, principal, powers } = call
  if (!host.sessions) return answerRefusal(501, 'invalid_option', 'this host cannot list sessions')
  const [limit, since, meta] = [readNumber(url, 'limit'), readTime(url, 'since'), url.searchParams.get('meta')]
  const parsed = meta === null ? undefined : parseJson(meta)
  if (parsed && !(parsed.ok && isJsonObject(parsed.value))) throw createInvalid('meta must be a JSON object')
  const query: object = {
    ...readWords(url, ['cursor', 'order', 'activity', 'agent']),
    ...(limit !== undefined && { limit }),
    ...(since !== undefined && { since }),
    ...(parsed?.ok && { meta: parsed.value }),
  }
  if (powers.has('see') && readFlag(url, 'all'))
    return answerView(call, await searchSessions(host.sessions, url, query))
  return answerView(call, await host.sessions({ ...query, principal })) // it checks each field
}

async function removeSession({ host, world }: HandlerParts, call: Call, id: string): Promise<Response> {
  if (!host.remove) return answerRefusal(501, 'invalid_option', 'this host cannot remove sessions')
  const { principal, powers } = call
  if (powers.has('remove')) {
    await host.remove(id)
    world.log.info('an operator removed a session', { session: id, operator: principal.id })
  } else await host.remove(id, principal)
  return answerJson(200, { ok: true })
}

async function changeSession({ parts, call, session }: Routing): Promise<Response> {
  const { title, meta, model, ...unknown } = await readObjectBody(call)
  const [field] = Object.keys(unknown)
  if (field !== undefined)
    throw createInvalid(`a session has no field "${field.slice(0, 80)}"; it has title, meta and model`)
  if (model !== undefined && (typeof model !== 'string' || findChoiceIssue({ model }, parts.allow) !== undefined))
    throw createInvalid('this model may not be chosen here', CHOICE_HINT)
  if (title !== undefined || meta !== undefined)
    await session.describe({ ...(title !== undefined && { title }), ...(meta !== undefined && { meta }) } as Parameters<
      Session['describe']
    >[0]) // validated by the session
  if (typeof model === 'string') await session.configure({ model })
  return answerView(call, await session.info())
}

async function showMessages({ call, session, root, link }: Routing): Promise<Response> {
  const before = call.url.searchParams.get('before')
  const limit = readNumber(call.url, 'limit')
  const page = await session.messages({
    ...(before !== null && { before }),
    ...(limit !== undefined && { limit }),
  })
  const format = call.url.searchParams.get('format')
  if (format !== null && format !== 'baton') throw createInvalid('format must be "baton", or absent for UI messages')
  const isPlain = format === 'baton'
  // A child's are those of its root.
  const approvals = isPlain || session !== root ? [] : await session.approvals()
  const messages = isPlain
    ? page.messages.map(call.show)
    : page.messages.map((message) => writeUiMessage(message, link, { approvals, principal: call.principal }))
  return answerView(call, { messages, more: page.more, next: page.next })
}

/** Streams session events from a cursor; a browser's `EventSource` resumes by itself. */
function showEvents({ parts, call, session, root }: Routing): Promise<Response> {
  const from = readFrom(call.request.headers.get('last-event-id') ?? call.url.searchParams.get('from') ?? 'now')
  const reader = session.events({ from, children: readFlag(call.url, 'children') })
  const response = answerLive(parts, call, {
    next: async () => (await reader.nextBatch())?.events,
    encode: (event) => encodeEvent(call.write(call.show(event)), JSON.stringify(event.cursor)),
    leave: () => reader.leave(),
    onEnd: () => root.close(),
  })
  return Promise.resolve(response)
}

/** Its key is the id of the input, so that a repeat is the same input in every process. */
async function takeEvent({ parts, call, session }: Routing): Promise<Response> {
  const { type, data, message, delivery, timestamp: _sent, ...unknown } = await readObjectBody(call)
  const [field] = Object.keys(unknown)
  if (field !== undefined)
    throw createInvalid(
      `an event has no field "${field.slice(0, 80)}"; it has type, data, message, delivery and timestamp`,
    )
  if (data !== undefined && !isJsonObject(data)) throw createInvalid('data must be a JSON object')
  const key = call.request.headers.get('idempotency-key')
  const id = key === null ? parts.world.newId() : readKey(key)
  const event = { name: type, detail: data, message, delivery, inputId: id }
  const given = Object.fromEntries(Object.entries(event).filter(([, value]) => value !== undefined))
  const { pos } = await frontOf(session).takeEvent(given as unknown as TakenEvent)
  return answerJson(202, { id, pos })
}

/** The session decodes it. */
type TakenEvent = Parameters<FrontSession['takeEvent']>[0]

/** @throws BatonError `invalid_event` */
function readFrom(text: string): NonNullable<EventsOptions['from']> {
  if (text === 'start' || text === 'turn' || text === 'now') return text
  const parsed = parseJson(text)
  if (parsed.ok) return parsed.value as unknown as NonNullable<EventsOptions['from']> // validated by the session
  throw createInvalid('from must be "start", "turn", "now", or the cursor of an event as JSON')
}

async function showMedia({ call, session, name }: Routing): Promise<Response> {
  const data = await session.media(name)
  if (data === undefined) return answerRefusal(404, 'unknown_input', 'the session has no such image or file')
  const bytes = Uint8Array.from(atob(data), (char) => char.codePointAt(0) ?? 0)
  const type = call.url.searchParams.get('type') ?? ''
  // An uploaded page or script must not run in the app's origin.
  return new Response(bytes, {
    headers: {
      'content-type': SHOWN_TYPES.test(type) ? type : 'application/octet-stream',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, max-age=31536000, immutable',
    },
  })
}

const SHOWN_TYPES = /^(?:image|audio|video)\/[\w.+-]{1,80}$|^application\/pdf$|^text\/plain$/

/** Encodes each page by itself: a long conversation as one text would hold the event loop. */
async function exportSession({ session, link, call }: Routing): Promise<Response> {
  let pages: string[] = []
  for await (const { messages, isNewest } of readPages(session)) {
    if (isNewest) pages = []
    if (messages.length > 0) pages.push(messages.map((message) => call.write(writeUiMessage(message, link))).join())
  }
  const decisions = await readDecisions(session)
  const [info, decided] = [call.write(await session.info()), decisions.map((one) => call.write(one))]
  const text = `{"session":${info},"decisions":[${decided.join()}],"messages":[${pages.toReversed().join()}]}`
  return answerJsonText(200, text)
}

/** Reads the events of decisions, oldest first. */
async function readDecisions(session: Session): Promise<readonly SessionEvent[]> {
  const reader = session.events({ from: 'start' })
  const found: SessionEvent[] = []
  try {
    for await (const event of reader) {
      if (event.type === 'live') break
      if (event.type === 'approval-decided' || event.type === 'approval-given') found.push(event)
    }
    return found
  } finally {
    reader.leave()
  }
}

async function forkSession({ call, session }: Routing): Promise<Response> {
  const { before } = await readObjectBody(call)
  if (before !== undefined && typeof before !== 'string') throw createInvalid('before must be the id of a message')
  const id = await session.fork(before === undefined ? {} : { before })
  return answerJson(201, { id })
}
