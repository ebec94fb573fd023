// Chats and sessions over HTTP, as one function from a web-standard request to its response. It can be mounted in any server
// that speaks them: Node (`createNodeListener`), Hono, Next, Bun, Deno.
import type { Host, JsonObject, Principal, Session, SessionDirectory } from '@baton/core'
import { BatonError, checkName, isBatonError } from '@baton/core'
import { describeThrown } from '@baton/runtime'
import type { Identity } from '../shared/identity.ts'
import { readIdentity, waitForIdentity } from '../shared/identity.ts'
import { demandHost, refuseMisspelt } from '../shared/check-options.ts'
import type { ServerWorld } from '../shared/server-world.ts'
import { createServerWorld } from '../shared/server-world.ts'
import type { OpenedChat } from './chat.ts'
import { checkDraining, checkThere, createChatWorld, endTurn, openChat, resumeChat, tellChunks } from './chat.ts'
import type { AllowedSettings } from '../shared/allowed-settings.ts'
import { readChatRequest } from './chat-request.ts'
import { answerEvents, encodeEvent } from './event-response.ts'
import { answerError, answerJson, answerMethod, answerRefusal, asPlainText } from './http-errors.ts'
import type { AllowedOrigins } from './page-origins.ts'
import { checkPage, describeCors } from './page-origins.ts'
import type { Asker, QuotaLimits } from './chat-quotas.ts'
import { ChatQuotas, QUOTA_LIMITS } from './chat-quotas.ts'
import { RepeatedRequests } from './repeated-requests.ts'
import type { Incoming } from './requests.ts'
import { readJsonBody, readObjectBody } from './requests.ts'
import { answerSessions, SESSION_METHODS } from './session-routes.ts'
import { createInvalid } from './ui-messages.ts'

export interface HttpLimits extends QuotaLimits {
  /** Bytes of a request's body; 32 MiB by default, since pictures come in it. */
  readonly bodyBytes: number
  /** Bytes of a response that may wait for its reader; if the reader then reads nothing for a minute, the response ends. 4 MiB. */
  readonly waitingBytes: number
  /** Milliseconds of silence after which a comment keeps a response open. 15,000. */
  readonly keepAliveMs: number
  /** Milliseconds after its end in which an answer is told once more to a page that resumes. 300,000. */
  readonly replayMs: number
}

type Found = Principal | Identity | undefined

const OPTIONS = ['basePath', 'authenticate', 'origins', 'isDraining', 'hosts', 'allow', 'limits']

export interface HandlerOptions extends Partial<ServerWorld> {
  /** Where it is mounted; `/api` by default. */
  readonly basePath?: string
  /**
   * Who asks, and until when that holds; absent: everybody is `anonymous`. Undefined, or an error: 401, with the message of an
   * error `unauthorized`; 503 after 10 seconds. `createTokenVerifier` of @baton/server/auth has one for JWTs.
   */
  readonly authenticate?: (request: Request) => Found | Promise<Found>
  /**
   * Pages of other origins that may ask, as `https://app.example`; `*` for all. None by default: others get 403. A function
   * decides of each page alone, also of those of the server's own origin.
   */
  readonly origins?: AllowedOrigins
  /** True while the server drains: no new turns begin, and running ones are streamed to their end. */
  readonly isDraining?: () => boolean
  /**
   * Names under which the server may be asked, as `app.example` or `localhost`; others get 403. A server that asks for no
   * token needs them: a page could reach it by a name of its own that leads there. All by default.
   */
  readonly hosts?: readonly string[]
  /** What a request may choose. Nothing by default; a body that asks for more is refused. */
  readonly allow?: AllowedSettings
  readonly limits?: Partial<HttpLimits>
}

/** A host with lists of its sessions has more routes. */
export type HandledHost = Host & Partial<SessionDirectory>

/** What the request itself does not say. */
export interface RequestSource {
  /** The network address that it comes from, for limits: `createNodeListener` finds it. */
  readonly address?: string | undefined
}

export interface Call extends Incoming {
  readonly url: URL
  readonly asker: Asker
  readonly principal: Principal
  /** Of who asks; see `Identity`. */
  readonly expiresAtMs: number | undefined
  readonly open: (id: string) => Promise<Session>
}

export interface HandlerParts {
  readonly host: HandledHost
  readonly world: ServerWorld
  readonly limits: HttpLimits
  readonly basePath: string
  readonly allow: AllowedSettings
  readonly isDraining: () => boolean
  readonly repeated: RepeatedRequests
  readonly quotas: ChatQuotas
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  ...QUOTA_LIMITS,
  bodyBytes: 32 * 1024 * 1024,
  waitingBytes: 4 * 1024 * 1024,
  keepAliveMs: 15_000,
  replayMs: 300_000,
}

const UI_STREAM = { 'x-vercel-ai-ui-message-stream': 'v1' }

/** @throws BatonError `invalid_option` */
export function createParts(host: HandledHost, options: HandlerOptions): HandlerParts {
  const { basePath = '/api', allow = {}, limits = {}, isDraining = () => false } = options
  for (const [name, value] of Object.entries(limits))
    if (!Number.isSafeInteger(value) || value < 1)
      throw new BatonError({
        code: 'invalid_option',
        message: `limits.${name} must be a whole number from 1, not ${value}`,
      })
  if (!/^(?:\/[^/?#]+)*$/.test(basePath))
    throw new BatonError({ code: 'invalid_option', message: `basePath must be like "/api", not "${basePath}"` })
  const world = { ...createServerWorld(), ...options }
  const all = { ...DEFAULT_HTTP_LIMITS, ...limits }
  const [repeated, quotas] = [new RepeatedRequests(world.clock), new ChatQuotas(all, world.clock)]
  return { host, world, basePath, allow, isDraining, limits: all, repeated, quotas }
}

/**
 * `POST {base}/chat` and `GET {base}/chat/:id/stream` are what `useChat` asks for; `/chat/:id/stop`, `/answers` and `/approvals`
 * are for what it cannot say, and `{base}/sessions` for lists, messages and events.
 * @throws BatonError `invalid_option` for a base path that begins with no slash
 */
export function createHandler(
  host: HandledHost,
  options: HandlerOptions = {},
): (request: Request, source?: RequestSource | object) => Promise<Response> {
  demandHost(host, 'createHandler(host, options)')
  refuseMisspelt(options, 'createHandler', OPTIONS)
  const { authenticate, origins = [], hosts } = options
  const parts = createParts(host, options)
  return async (request, source) => {
    // Who mounts it may hand in something of its own, as Next.js does.
    const given = source !== undefined && 'address' in source ? source.address : undefined
    const address = typeof given === 'string' ? given : undefined
    const refusal = checkPage(request, origins, hosts)
    if (refusal) return await asAsked(parts, request, answerRefusal(403, 'unauthorized', refusal.message, refusal.hint))
    const cors = describeCors(request, origins)
    if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: cors })
    const response = await answer(parts, request, { address, authenticate })
    for (const [name, value] of Object.entries(cors)) response.headers.set(name, value)
    return response
  }
}

async function answer(
  parts: HandlerParts,
  request: Request,
  { address, authenticate }: Pick<Asker, 'address'> & { readonly authenticate: HandlerOptions['authenticate'] },
): Promise<Response> {
  const { host, basePath, quotas, limits, world } = parts
  const url = new URL(request.url)
  const path = url.pathname.startsWith(`${basePath}/`) ? url.pathname.slice(basePath.length + 1) : undefined
  if (path === undefined) return NOT_FOUND()
  const fail = (cause: unknown): Response => answerError(cause, world.log)
  try {
    quotas.takeRequest({ principal: undefined, address })
  } catch (cause) {
    return await asAsked(parts, request, fail(cause))
  }
  const found = await identify(parts, request, authenticate)
  if (found instanceof Response) return await asAsked(parts, request, found)
  const { principal, expiresAtMs } = found
  const asker: Asker = { principal: principal.id, address }
  const open: Call['open'] = (id) => host.session(id, { principal })
  const takeBytes = (bytes: number): void => quotas.takeBytes(asker, bytes)
  const call: Call = { request, bytesMax: limits.bodyBytes, takeBytes, url, asker, principal, expiresAtMs, open }
  const run = async (asked: Call): Promise<Response> => {
    try {
      return await route(parts, asked, path.split('/').map(decodePath))
    } catch (cause) {
      return fail(cause)
    }
  }
  try {
    quotas.takeRequest({ ...asker, address: undefined })
    // A chat's message has an id of its own, by which it is answered once; and its answer streams.
    if (path === 'chat') return await run(call)
    return await parts.repeated.answer(call, principal.id, (read) =>
      run(read === request ? call : { ...call, request: read, takeBytes: () => {} }),
    )
  } catch (cause) {
    return await asAsked(parts, request, fail(cause))
  }
}

/** Who asks, or why nobody is let in. */
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
    world.log.info('a request could not be authenticated', { cause: describeThrown(cause) })
    return answerUnauthorized(isBatonError(cause) && cause.code === 'unauthorized' ? cause.message : NOBODY)
  }
}

const NOBODY = 'the server does not know who you are'

/** RFC 9110, 11.6.1: a 401 names a scheme. */
function answerUnauthorized(message: string): Response {
  const response = answerRefusal(401, 'unauthorized', message)
  response.headers.set('www-authenticate', 'Bearer')
  return response
}

const ANONYMOUS: Principal = { id: 'anonymous' }
const NOT_FOUND = (): Response => answerRefusal(404, 'invalid_event', 'there is nothing at this address')

function decodePath(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw createInvalid('the address is not percent-encoded as it should be')
  }
}

async function route(parts: HandlerParts, call: Call, path: readonly string[]): Promise<Response> {
  const [area, id, act] = path
  const { method } = call.request
  const methods = listMethods(path)
  if (methods.length === 0) return NOT_FOUND()
  if (!methods.includes(method)) return answerMethod(method, methods)
  // To ask for a session makes none; the first message does.
  if (id !== undefined) {
    checkName('a session’s id', id)
    const isThere = (await parts.host.has?.(id)) ?? true
    if (!isThere)
      return act === 'stream'
        ? new Response(null, { status: 204 })
        : answerRefusal(404, 'unknown_input', 'there is no such session')
  }
  if (area === 'sessions') return (await answerSessions(parts, call, path)) ?? NOT_FOUND()
  if (id === undefined) return await inPlainText(parts, () => answerChat(parts, call))
  if (act === 'stream') return await inPlainText(parts, () => answerResume(parts, call, id))
  return act === undefined ? NOT_FOUND() : await answerAct(parts, call, { id, act })
}

/** Of an address; none where there is nothing. */
function listMethods([area, id, part, name, ...rest]: readonly string[]): readonly string[] {
  if (rest.length > 0 || (name !== undefined) !== (area === 'sessions' && part === 'media')) return []
  if (area === 'sessions' && id === undefined) return ['GET']
  if (area === 'sessions') return SESSION_METHODS.get(part ?? '') ?? []
  if (area !== 'chat') return []
  if (id === undefined) return ['POST']
  if (part === 'stream') return ['GET']
  return part !== undefined && Object.hasOwn(ACTS, part) ? ['POST'] : []
}

/** A refusal as who asks shows it: text at the addresses that `useChat` asks, else JSON. */
async function asAsked({ basePath }: HandlerParts, { url }: Request, refusal: Response): Promise<Response> {
  const { pathname } = new URL(url)
  const isChat =
    pathname === `${basePath}/chat` || (pathname.startsWith(`${basePath}/chat/`) && pathname.endsWith('/stream'))
  return isChat ? await asPlainText(refusal) : refusal
}

async function inPlainText({ world }: HandlerParts, run: () => Promise<Response>): Promise<Response> {
  try {
    return await run()
  } catch (cause) {
    return await asPlainText(answerError(cause, world.log))
  }
}

async function answerChat(parts: HandlerParts, call: Call): Promise<Response> {
  const body = await readJsonBody(call)
  const request = readChatRequest(body, parts.allow)
  checkDraining(parts, request.wish)
  await checkThere(parts, request)
  const { quotas } = parts
  const release = quotas.holdStream(call.asker)
  let endWork = (): void => {}
  try {
    endWork = quotas.holdTurn(call.asker, request.chat, request.wish.type === 'continue')
    const session = await call.open(request.chat)
    try {
      const opened = await openChat(session, request, createChatWorld(parts, request.chat))
      return answerStream(parts, session, { ...opened, release, endWork })
    } catch (cause) {
      await session.close()
      throw cause
    }
  } catch (cause) {
    endWork()
    release()
    throw cause
  }
}

async function answerResume(parts: HandlerParts, call: Call, id: string): Promise<Response> {
  const release = parts.quotas.holdStream(call.asker)
  let isTold = false
  try {
    const session = await call.open(id)
    try {
      const opened = await resumeChat(session, createChatWorld(parts, id))
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
  /** The stream. */
  readonly release: () => void
  /** The turn that the request began. */
  readonly endWork?: () => void
}

/** Closes the session's handle when the response ends, however it ends: the turn goes on. */
function answerStream(
  { world, limits }: HandlerParts,
  session: Session,
  { answer: told, events, release, endWork }: OpenedChat & Held,
): Response {
  return answerEvents({
    ...limits,
    timers: world.timers,
    headers: UI_STREAM,
    run: async (writer) => {
      try {
        await tellChunks({ answer: told, events }, writer.left, {
          write: (chunk) => writer.write(encodeEvent(JSON.stringify(chunk))),
          waitForRoom: () => writer.waitForRoom(),
        })
        if (told.isOver) writer.write(encodeEvent('[DONE]'))
      } catch (cause) {
        // Without its end the page knows that something is missing, and resumes.
        world.log.warn('an answer could not be told to its end', { session: session.id, cause: describeThrown(cause) })
      } finally {
        release()
        // Before the handle is closed: what the page is to run stays its own until the call's deadline.
        await told.leave()
        const ended = endTurn(session, told.isOver || !endWork, endWork ?? (() => {}))
        // Of a turn that goes on without its reader nobody waits for the end.
        if (told.isOver) await ended
      }
    },
  })
}

interface ChatAct {
  readonly id: string
  readonly act: string
}

async function answerAct(parts: HandlerParts, call: Call, { id, act }: ChatAct): Promise<Response> {
  const run = Object.hasOwn(ACTS, act) ? ACTS[act] : undefined
  if (!run) return NOT_FOUND()
  // A page that goes away says it in a hurry, with no body.
  const body = act === 'stop' ? {} : await readObjectBody(call)
  const session = await call.open(id)
  try {
    await run(session, body)
    return answerJson(200, { ok: true })
  } finally {
    await session.close()
  }
}

/** What is handed in is decoded by the session, field by field. */
const ACTS: Readonly<Record<string, (session: Session, body: JsonObject) => Promise<unknown>>> = {
  stop: (session) => session.interrupt({ reason: 'stop' }),
  answers: (session, body) => session.answer(body as Parameters<Session['answer']>[0]),
  approvals: (session, body) => session.decide(body as unknown as Parameters<Session['decide']>[0]),
}
