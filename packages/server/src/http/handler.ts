// Chats and sessions over HTTP, as one function from a web-standard request to its response. It can be mounted in any server
// that speaks them: Node (`createNodeListener`), Hono, Next, Bun, Deno.
import type { Host, JsonObject, Principal, Session, SessionDirectory } from '@baton/core'
import { BatonError, checkName } from '@baton/core'
import { describeThrown } from '@baton/runtime'
import type { ServerWorld } from '../shared/server-world.ts'
import { createServerWorld } from '../shared/server-world.ts'
import type { OpenedChat } from './chat.ts'
import { checkDraining, checkThere, createChatWorld, openChat, readUntil, resumeChat } from './chat.ts'
import type { AllowedSettings } from './chat-request.ts'
import { readChatRequest } from './chat-request.ts'
import { answerEvents, encodeEvent } from './event-response.ts'
import { answerError, answerJson, answerRefusal, asPlainText } from './http-errors.ts'
import { readJsonBody, readObjectBody } from './requests.ts'
import { answerSessions } from './session-routes.ts'
import { createInvalid } from './ui-messages.ts'

export interface HttpLimits {
  /** Bytes of a request's body; 32 MiB by default, since pictures come in it. */
  readonly bodyBytes: number
  /** Bytes of a response that may wait for its reader; one that then reads nothing for a minute is let go. 4 MiB. */
  readonly waitingBytes: number
  /** Milliseconds of silence after which a comment keeps a response open. 15,000. */
  readonly keepAliveMs: number
  /** Milliseconds after its end in which an answer is told once more to a page that resumes. 300,000. */
  readonly replayMs: number
  /** Responses that stream at once; more get 503. 1,000. */
  readonly streams: number
}

export interface HandlerOptions extends Partial<ServerWorld> {
  /** Where it is mounted; `/api` by default. */
  readonly basePath?: string
  /** Who asks; absent: everybody is `anonymous`. Undefined, or an error: 401. */
  readonly authenticate?: (request: Request) => Principal | undefined | Promise<Principal | undefined>
  /**
   * Pages of other origins that may ask, as `https://app.example`; `*` for all. None by default: others get 403. A function
   * decides of each page alone, also of those of the server's own origin.
   */
  readonly origins?: readonly string[] | ((origin: string, request: Request) => boolean)
  /** True while the server drains: no new turns begin, and those that run are told to their end. */
  readonly isDraining?: () => boolean
  /**
   * Names under which the server may be asked, as `app.example` or `localhost`; others get 403. A server that asks for no
   * token needs them: a page could reach it by a name of its own that leads there. All by default.
   */
  readonly hosts?: readonly string[]
  /** What a chat's request may choose. Nothing by default: a body that asks for more is refused. */
  readonly allow?: AllowedSettings
  readonly limits?: Partial<HttpLimits>
}

/** A host with lists of its sessions has more routes. */
export type HandledHost = Host & Partial<SessionDirectory>

export interface Call {
  readonly request: Request
  readonly url: URL
  readonly principal: Principal
  readonly open: (id: string) => Promise<Session>
}

export interface HandlerParts {
  readonly host: HandledHost
  readonly world: ServerWorld
  readonly limits: HttpLimits
  readonly basePath: string
  readonly allow: AllowedSettings
  readonly isDraining: () => boolean
  /** Responses that stream now. */
  streams: number
}

const LIMITS: HttpLimits = {
  bodyBytes: 32 * 1024 * 1024,
  waitingBytes: 4 * 1024 * 1024,
  keepAliveMs: 15_000,
  replayMs: 300_000,
  streams: 1000,
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
  return { host, world, basePath, allow, isDraining, limits: { ...LIMITS, ...limits }, streams: 0 }
}

/**
 * `POST {base}/chat` and `GET {base}/chat/:id/stream` are what `useChat` asks for; `/chat/:id/stop`, `/answers` and `/approvals`
 * are for what it cannot say, and `{base}/sessions` for lists, messages and events.
 * @throws BatonError `invalid_option` for a base path that begins with no slash
 */
export function createHandler(
  host: HandledHost,
  options: HandlerOptions = {},
): (request: Request) => Promise<Response> {
  const { authenticate, origins = [], hosts } = options
  const parts = createParts(host, options)
  return async (request) => {
    const refusal = checkPage(request, origins, hosts)
    if (refusal) return await asAsked(parts, request, answerRefusal(403, 'unauthorized', refusal.message, refusal.hint))
    const cors = describeCors(request, origins)
    if (request.method === 'OPTIONS') return new Response(null, { status: 204, headers: cors })
    const response = await answer(parts, request, authenticate)
    for (const [name, value] of Object.entries(cors)) response.headers.set(name, value)
    return response
  }
}

async function answer(
  parts: HandlerParts,
  request: Request,
  authenticate: HandlerOptions['authenticate'],
): Promise<Response> {
  const { host, world, basePath } = parts
  const url = new URL(request.url)
  const path = url.pathname.startsWith(`${basePath}/`) ? url.pathname.slice(basePath.length + 1) : undefined
  if (path === undefined) return NOT_FOUND()
  let principal: Principal | undefined
  try {
    principal = authenticate ? await authenticate(request) : ANONYMOUS
  } catch (cause) {
    world.log.info('a request could not be authenticated', { cause: describeThrown(cause) })
  }
  if (!principal)
    return await asAsked(parts, request, answerRefusal(401, 'unauthorized', 'the server does not know who you are'))
  const by = principal
  const call: Call = { request, url, principal: by, open: (id) => host.session(id, { principal: by }) }
  try {
    return await route(parts, call, path.split('/').map(decodePath))
  } catch (cause) {
    return answerError(cause, world.log)
  }
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
  if (area !== 'chat' || path.length > 3) return NOT_FOUND()
  const { method } = call.request
  if (id === undefined && method === 'POST') return await inPlainText(parts, () => answerChat(parts, call))
  if (id === undefined || act === undefined) return NOT_FOUND()
  if (method === 'GET' && act === 'stream') return await inPlainText(parts, () => answerResume(parts, call, id))
  if (method !== 'POST') return NOT_FOUND()
  return await answerAct(parts, call, { id, act })
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
  const body = await readJsonBody(call.request, parts.limits.bodyBytes)
  const request = readChatRequest(body, parts.allow)
  checkDraining(parts, request.wish)
  await checkThere(parts, request)
  const release = holdStream(parts)
  try {
    const session = await call.open(request.chat)
    try {
      const opened = await openChat(session, request, createChatWorld(parts, request.chat))
      return answerStream(parts, session, { ...opened, release })
    } catch (cause) {
      await session.close()
      throw cause
    }
  } catch (cause) {
    release()
    throw cause
  }
}

async function answerResume(parts: HandlerParts, call: Call, id: string): Promise<Response> {
  const release = holdStream(parts)
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

/**
 * Counts a response among those that stream, before anything is waited for; what it returns lets it go, once.
 * @throws BatonError `server_draining`
 */
export function holdStream(parts: HandlerParts): () => void {
  const { streams } = parts.limits
  if (parts.streams >= streams)
    throw new BatonError({ code: 'server_draining', message: `more than ${streams} answers stream already` })
  parts.streams += 1
  let isHeld = true
  return () => {
    if (isHeld) parts.streams -= 1
    isHeld = false
  }
}

/** Closes the session's handle when the response ends, however it ends: the turn goes on. */
function answerStream(
  { world, limits }: HandlerParts,
  session: Session,
  { answer: told, events, release }: OpenedChat & { readonly release: () => void },
): Response {
  return answerEvents({
    ...limits,
    timers: world.timers,
    headers: UI_STREAM,
    run: async (writer) => {
      try {
        for await (const event of readUntil(events, writer.left)) {
          for (const chunk of await told.take(event)) writer.write(encodeEvent(JSON.stringify(chunk)))
          await writer.waitForRoom()
          if (told.isOver) break
        }
        if (told.isOver) writer.write(encodeEvent('[DONE]'))
      } catch (cause) {
        // Without its end the page knows that something is missing, and resumes.
        world.log.warn('an answer could not be told to its end', { session: session.id, cause: describeThrown(cause) })
      } finally {
        release()
        // Before the handle is closed: what the page is to run stays its own until the call's deadline.
        await told.leave()
        await session.close()
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
  const body = act === 'stop' ? {} : await readObjectBody(call.request, parts.limits.bodyBytes)
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

/** Why the page that asks may not, if it is a page. */
function checkPage(
  request: Request,
  origins: NonNullable<HandlerOptions['origins']>,
  hosts: readonly string[] | undefined,
): { readonly message: string; readonly hint?: string } | undefined {
  const { host, hostname } = new URL(request.url)
  if (hosts && !hosts.includes(hostname)) return { message: 'the server may not be asked under this name' }
  const origin = request.headers.get('origin')
  if (origin === null || isAllowed(origin, request, origins)) return undefined
  // Behind a proxy the page's scheme is another one than the request's.
  if (typeof origins !== 'function' && URL.parse(origin)?.host === host) return undefined
  return {
    message: `pages of the origin ${origin.slice(0, 200)} may not ask ${host}`,
    hint: 'Name the origin in `origins` of createHandler, or by --allow-origin of "baton serve"; a proxy must keep the Host header.',
  }
}

function isAllowed(origin: string, request: Request, origins: NonNullable<HandlerOptions['origins']>): boolean {
  return typeof origins === 'function' ? origins(origin, request) : origins.includes('*') || origins.includes(origin)
}

function describeCors(
  request: Request,
  origins: NonNullable<HandlerOptions['origins']>,
): Readonly<Record<string, string>> {
  const origin = request.headers.get('origin')
  if (origin === null || !isAllowed(origin, request, origins)) return {}
  return {
    'access-control-allow-origin': origin,
    vary: 'origin',
    'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
    'access-control-allow-headers': 'content-type, authorization, last-event-id, user-agent',
    'access-control-expose-headers': 'x-baton-error',
    'access-control-max-age': '600',
  }
}
