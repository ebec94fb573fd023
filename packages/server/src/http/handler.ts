// Chats and sessions over HTTP, as one function from a web-standard request to its response. It can be mounted in any
// server that supports these: Node (`createNodeListener`), Hono, Next, Bun, Deno.
import type { Call, Found, HandlerOptions, HandlerParts } from './handler-parts.ts'
import { HANDLER_OPTIONS, createCall, createParts } from './handler-parts.ts'
import type { JsonObject, FrontSession, Principal } from '@baton/core/internal'
import { checkName, isBatonError } from '@baton/core/internal'
import { describeThrown } from '@baton/runtime'
import type { HostWithSessions } from '../shared/check-options.ts'
import type { Identity } from '../shared/peer-identity.ts'
import {
  ANSWER_MARK,
  NO_PEER_STATUS,
  UNREADABLE_STATUS,
  claimsToBePeer,
  readIdentity,
  readPeer,
  waitForIdentity,
} from '../shared/peer-identity.ts'
import { checkOptions, demandHost } from '../shared/check-options.ts'
import type { OpenedChat } from './chat.ts'
import { checkDraining, checkThere, createChatWorld, endTurn, openChat, resumeChat, tellChunks } from './chat.ts'
import { readChatRequest } from './chat-request.ts'
import { answerEvents, encodeEvent } from './event-response.ts'
import { answerError, answerJson, answerMethod, answerRefusal, asPlainText } from './http-errors.ts'
import { checkPage, decodePath, describeCors, readJsonBody, readObjectBody } from './requests.ts'
import type { Asker } from './chat-quotas.ts'
import type { PassedRequest } from './pass-on.ts'
import { passOn } from './pass-on.ts'
import { checkQueryNames } from './query-names.ts'
import { answerApprovals, listApprovalMethods } from './approval-routes.ts'
import { answerOperator, listOperatorMethods } from './operator-routes.ts'
import { answerSessions, SESSION_METHODS } from './session-routes.ts'
import { admitSigned, findSignedSession } from './signed-events.ts'

/** Facts that the request itself does not contain. */
export interface RequestSource {
  /** The network address of the client, for limits; `createNodeListener` determines it. */
  readonly address?: string | undefined
}

const UI_STREAM = { 'x-vercel-ai-ui-message-stream': 'v1' }

/**
 * Creates the handler. `useChat` calls `POST {base}/chat` and `GET {base}/chat/:id/stream`. `/chat/:id/stop`,
 * `/answers` and `/approvals` add what it cannot express, `{base}/sessions` has lists, messages and events, and
 * `{base}/approvals` what waits for the caller's decision.
 * @throws BatonError `invalid_option` for a misspelt option, a base path that does not begin with a slash, a limit that
 * is not a whole number of at least 1, and peers with an invalid address or secret
 */
export function createHandler(
  host: HostWithSessions,
  options: HandlerOptions = {},
): (request: Request, source?: RequestSource | object) => Promise<Response> {
  demandHost(host, 'createHandler(host, options)')
  checkOptions(options, { what: 'createHandler', ...HANDLER_OPTIONS })
  const { authenticate, origins = [], hosts } = options
  const parts = createParts(host, options)
  return async (request, source) => {
    // A framework may pass its own second argument, as Next.js does.
    const given = source !== undefined && 'address' in source ? source.address : undefined
    const address = typeof given === 'string' ? given : undefined
    const isPassed = claimsToBePeer((name) => request.headers.get(name))
    if (isPassed) return await answerPeer(parts, request, address)
    const refusal = checkPage(request, origins, hosts)
    if (refusal) return await asAsked(parts, request, answerRefusal(403, 'unauthorized', refusal.message, refusal.hint))
    const cors = describeCors(request, origins)
    if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: cors })
    const response = await answerClient(parts, request, { address, authenticate })
    for (const [name, value] of Object.entries(cors)) response.headers.set(name, value)
    return response
  }
}

/** The peer has authenticated the client and checked its page. */
async function answerPeer(parts: HandlerParts, request: Request, address: string | undefined): Promise<Response> {
  try {
    const peer = findPeer(parts, request, address)
    if (peer instanceof Response) return peer
    const path = findPath(parts, request)
    const response = path === undefined ? answerNothing(parts) : await answer(parts, request, peer, path)
    response.headers.set(ANSWER_MARK, '1')
    return response
  } catch (cause) {
    return answerError(cause, parts.world.log)
  }
}

async function answerClient(
  parts: HandlerParts,
  request: Request,
  { address, authenticate }: Pick<Asker, 'address'> & { readonly authenticate: HandlerOptions['authenticate'] },
): Promise<Response> {
  try {
    const path = findPath(parts, request)
    if (path === undefined) return answerNothing(parts)
    parts.quotas.takeRequest({ principal: undefined, address })
    const signed = findSignedSession(request, path)
    const takeBytes = (bytes: number): void => parts.quotas.takeBytes({ principal: undefined, address }, bytes)
    const found =
      signed === undefined
        ? await identify(parts, request, authenticate)
        : await admitSigned({ ...parts, takeBytes }, request, signed)
    if (found instanceof Response) return await asAsked(parts, request, found)
    parts.quotas.takeRequest({ principal: found.principal.id, address: undefined })
    const asked = 'request' in found ? found.request : request
    return await answer(parts, asked, { ...found, address, isFromPeer: false }, path)
  } catch (cause) {
    return await asAsked(parts, request, answerError(cause, parts.world.log))
  }
}

/** The path below `basePath`; `undefined` outside it. */
function findPath({ basePath }: HandlerParts, { url }: Request): string | undefined {
  const { pathname } = new URL(url)
  return pathname.startsWith(`${basePath}/`) ? pathname.slice(basePath.length + 1) : undefined
}

async function answer(parts: HandlerParts, request: Request, found: Found, path: string): Promise<Response> {
  const call = createCall(parts, request, found)
  const names = path.split('/').map(decodePath)
  const run = (): Promise<Response> =>
    route(parts, call, names).catch((cause: unknown) => answerElsewhere(parts, call, cause))
  // A chat message is answered only once because of its id, and its answer streams. A session takes an event once.
  const hasId = (names.length === 1 && names[0] === 'chat') || (names[0] === 'sessions' && names[2] === 'events')
  return hasId ? await run() : await parts.repeated.answer(call, call.principal.id, run)
}

/** Returns the answer of the peer that holds the session, or an error for `cause`. */
async function answerElsewhere(parts: HandlerParts, call: Call, cause: unknown): Promise<Response> {
  const { request, url, readBody } = call
  const { method, headers, signal } = request
  const passed: PassedRequest = {
    ...call,
    method,
    path: `${url.pathname}${url.search}`,
    headers: pickHeaders(headers),
    signal,
    ...(method !== 'GET' && { readBody }),
  }
  let refused = cause
  try {
    const answered = await passOn(parts, passed, cause)
    if (answered) return answered
  } catch (other) {
    refused = other
  }
  return await asAsked(parts, request, answerError(refused, parts.world.log))
}

/** Headers that the peer needs; the client's identity is added separately. */
function pickHeaders(headers: Headers): Record<string, string> {
  const names = ['content-type', 'last-event-id', 'idempotency-key']
  return Object.fromEntries(names.flatMap((name) => [[name, headers.get(name)]].filter(([, value]) => value !== null)))
}

const NO_SESSION_HINT = 'Use an id from GET /api/sessions. The first message of a chat creates its session.'

function answerNothing({ basePath }: HandlerParts): Response {
  const hint = `Chats use POST ${basePath}/chat; sessions are listed by GET ${basePath}/sessions. See docs/chat.md for all addresses.`
  return answerRefusal(404, 'invalid_event', 'there is nothing at this address', hint)
}

async function route(parts: HandlerParts, call: Call, path: readonly string[]): Promise<Response> {
  const [area, id, act] = path
  const { method } = call.request
  const forOperators = call.powers.size > 0 ? listOperatorMethods(path) : []
  // A session may have the name of such an address.
  const methods = [...new Set([...forOperators, ...listMethods(path)])]
  if (methods.length === 0) return answerNothing(parts)
  if (!methods.includes(method)) return answerMethod(method, methods)
  if (call.url.search !== '') checkQueryNames(call.url, path)
  if (forOperators.includes(method)) return await answerOperator(parts, call, path)
  if (area === 'approvals') return await answerApprovals(parts, call, path)
  // A request for a session must not create it; only the first message does.
  if (id !== undefined) {
    checkName('a session’s id', id)
    const isThere = (await parts.host.has?.(id)) ?? true
    if (!isThere)
      return act === 'stream'
        ? new Response(null, { status: 204 })
        : answerRefusal(404, 'unknown_session', 'there is no such session', NO_SESSION_HINT)
  }
  if (area === 'sessions') return await answerSessions(parts, call, path)
  if (id === undefined) return await answerChat(parts, call)
  const run = ACTS.get(act ?? '')
  return run ? await answerAct(parts, call, { id, act, run }) : await answerResume(parts, call, id)
}

/** Methods of an address; none if it does not exist. */
function listMethods([area, id, part, name, ...rest]: readonly string[]): readonly string[] {
  if (area === 'approvals') return rest.length > 0 ? [] : listApprovalMethods(id, part, name)
  if (rest.length > 0 || (name !== undefined) !== (area === 'sessions' && part === 'media')) return []
  if (area === 'sessions') return id === undefined ? ['GET'] : (SESSION_METHODS.get(part ?? '') ?? [])
  if (area !== 'chat') return []
  if (part === 'stream') return ['GET']
  return id === undefined || ACTS.has(part ?? '') ? ['POST'] : []
}

/** Formats a refusal for its caller: plain text at the addresses used by `useChat`, otherwise JSON. */
async function asAsked({ basePath }: HandlerParts, { url }: Request, refusal: Response): Promise<Response> {
  const { pathname } = new URL(url)
  const isChat =
    pathname === `${basePath}/chat` || (pathname.startsWith(`${basePath}/chat/`) && pathname.endsWith('/stream'))
  return isChat ? await asPlainText(refusal) : refusal
}

async function answerChat(parts: HandlerParts, call: Call): Promise<Response> {
  const body = await readJsonBody(call)
  const request = readChatRequest(body, parts.allow)
  checkDraining(parts, request.wish)
  await checkThere(parts, request)
  const { quotas } = parts
  const release = quotas.holdStream(call.reader)
  const begun = parts.begun.begin(request.chat)
  let endWork = (): void => {}
  try {
    endWork = quotas.holdTurn(call.asker, request.chat, request.wish.type === 'continue')
    const session = await call.open(request.chat, { existing: request.wish.type !== 'send' })
    try {
      const chat = createChatWorld(parts, { ...call, id: request.chat }, begun.isCancelled)
      const opened = await openChat(session, request, chat)
      return answerStream(parts, session, { ...opened, release, endWork })
    } catch (cause) {
      await session.close()
      throw cause
    }
  } catch (cause) {
    endWork()
    release()
    throw cause
  } finally {
    begun.end()
  }
}

async function answerResume(parts: HandlerParts, call: Call, id: string): Promise<Response> {
  const release = parts.quotas.holdStream(call.reader)
  let isTold = false
  try {
    const session = await call.open(id, { existing: true })
    try {
      const opened = await resumeChat(session, createChatWorld(parts, { ...call, id }))
      if (!opened) return new Response(null, { status: 204 })
      isTold = true
      return answerStream(parts, session, { ...opened, release })
    } finally {
      if (!isTold) await session.close()
    }
  } finally {
    if (!isTold) release()
  }
}

interface Held {
  /** Uncounts the stream. */
  readonly release: () => void
  /** Uncounts the turn that the request started. */
  readonly endWork?: () => void
}

/** Closes the session's handle when the response ends for any reason; the turn continues. */
function answerStream(
  { world, limits }: HandlerParts,
  session: FrontSession,
  { release, endWork, ...opened }: OpenedChat & Held,
): Response {
  const { answer: told } = opened
  return answerEvents({
    ...limits,
    timers: world.timers,
    headers: UI_STREAM,
    run: async (writer) => {
      try {
        await tellChunks(opened, writer.left, {
          world,
          write: (chunk) => writer.write(encodeEvent(JSON.stringify(chunk))),
          waitForRoom: () => writer.waitForRoom(),
        })
        if (told.isOver) writer.write(encodeEvent('[DONE]'))
      } catch (cause) {
        // Without its end, the page knows that something is missing, and resumes.
        world.log.warn('an answer could not be sent completely', { session: session.id, cause: describeThrown(cause) })
      } finally {
        release()
        // Before the handle is closed: the page keeps the calls it is to run until their deadlines.
        await told.leave()
        const ended = endTurn(session, told.isOver || !endWork, endWork ?? (() => {}))
        // The end of a turn that continues without its reader is not awaited.
        if (told.isOver) await ended
      }
    },
  })
}

type Act = (session: FrontSession, body: JsonObject, parts: HandlerParts) => Promise<unknown>

async function answerAct(
  parts: HandlerParts,
  call: Call,
  { id, act, run }: { readonly id: string; readonly act: string | undefined; readonly run: Act },
): Promise<Response> {
  // A page that is closing sends this without a body.
  const body = act === 'stop' ? {} : await readObjectBody(call)
  const session = await call.open(id, { existing: true })
  try {
    await run(session, body, parts)
    return answerJson(200, { ok: true })
  } finally {
    await session.close()
  }
}

/** The session validates the fields. */
const ACTS: ReadonlyMap<string, Act> = new Map<string, Act>([
  [
    'stop',
    async (session, _body, { begun }) => {
      const goOn = begun.cancel(session.id)
      const { turn } = await session.interrupt({ reason: 'stop' })
      if (turn !== undefined) goOn()
    },
  ],
  ['answers', (session, body) => session.answer(body as Parameters<FrontSession['answer']>[0])],
  ['approvals', (session, body) => session.decide(body as unknown as Parameters<FrontSession['decide']>[0])],
])

/**
 * Returns the client of a request that claims to come from a peer, or the refusal. `address`: the request's network
 * address. @throws BatonError `rate_limited`
 */
function findPeer({ peers, quotas }: HandlerParts, request: Request, address = ''): Found | Response {
  const read = (name: string): string | null => request.headers.get(name)
  const peer = peers && readPeer(read, peers.options)
  if (peer === 'unreadable') {
    peers?.warnings.noteUnreadable(address)
    const message = 'the header x-baton-client does not identify the client'
    return answerRefusal(UNREADABLE_STATUS, 'unauthorized', message)
  }
  if (peer) {
    const { principal, client, expiresAtMs } = peer
    const about = { principal, address: client === '' ? undefined : client, isFromPeer: true }
    return { ...about, ...(expiresAtMs !== undefined && { expiresAtMs }) }
  }
  // A guess at the secret counts like any anonymous request.
  quotas.takeRequest({ principal: undefined, address: address === '' ? undefined : address })
  peers?.warnings.noteStranger(address)
  // As an ordinary client it could get in under the wrong name if no token is needed.
  return answerRefusal(
    NO_PEER_STATUS,
    'unauthorized',
    'the caller is not a peer: servers that share a store need the same secret',
  )
}

/** Returns the client, or the refusal. */
async function identify(
  { world }: HandlerParts,
  request: Request,
  authenticate: HandlerOptions['authenticate'],
): Promise<Identity | Response> {
  try {
    const found = authenticate
      ? await waitForIdentity(world.timers, (async () => await authenticate(request))())
      : ANONYMOUS
    return found ? readIdentity(found) : answerUnauthorized(NOBODY)
  } catch (cause) {
    if (isBatonError(cause) && cause.code === 'keys_unavailable') return answerError(cause, world.log)
    const isOurs = isBatonError(cause) && cause.code === 'invalid_option' // the program's fault, not the caller's
    world.log[isOurs ? 'warn' : 'info']('a request could not be authenticated', { cause: describeThrown(cause) })
    return answerUnauthorized(isBatonError(cause) && cause.code === 'unauthorized' ? cause.message : NOBODY)
  }
}

const NOBODY = 'authentication failed'
const ANONYMOUS: Principal = { id: 'anonymous' }

/** RFC 9110, 11.6.1: a 401 names a scheme. */
function answerUnauthorized(message: string): Response {
  const response = answerRefusal(401, 'unauthorized', message)
  response.headers.set('www-authenticate', 'Bearer')
  return response
}
