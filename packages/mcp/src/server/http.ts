// Offers an agent to MCP clients over HTTP: one function from a web-standard request to its response, for both protocol
// revisions.
import type { Host, Principal } from '@baton/core/internal'
import { BatonError, isBatonError, parseJson } from '@baton/core/internal'
import { describeThrown, within } from '@baton/runtime'
import { createMcpHandler as createSdkHandler, isLegacyRequest, readRequestBody } from '@modelcontextprotocol/server'
import { ConnectedClients } from './connected-clients.ts'
import { addCors, answerError, answerUnauthorized, refusePage } from './http-answers.ts'
import { McpWorld } from './mcp-world.ts'
import type { McpHttpOptions, ServerParts } from './options.ts'
import { readOptions } from './options.ts'

/** Mount it with `createNodeListener` of `@baton/server/http`, or in any server for web-standard requests. */
export interface McpHandler {
  (request: Request): Promise<Response>
  /** Ends all connections. Running calls continue in the host. Never rejects. */
  readonly close: () => Promise<void>
}

/** Milliseconds that `authenticate` may take. */
const IDENTITY_MS = 10_000
const ANONYMOUS: Principal = { id: 'anonymous' }

/**
 * Serves an agent's tools, or the agent itself, to MCP clients of 2025-11-25 and 2026-07-28 at one address.
 * @throws BatonError `invalid_option`, `invalid_agent`
 */
export function createMcpHandler(host: Host, options: McpHttpOptions): McpHandler {
  checkHost(host, 'createMcpHandler')
  const parts = readOptions('createMcpHandler', options, true)
  const { secret = `${crypto.randomUUID()}${crypto.randomUUID()}` } = options
  const world = new McpWorld({ host, parts, secret })
  const connected = new ConnectedClients(world)
  const stateless = createSdkHandler(
    ({ authInfo }) => world.createServer(world.callsOf({ id: authInfo?.clientId ?? ANONYMOUS.id }), true),
    {
      legacy: 'reject',
      maxRequestBodySize: parts.limits.messageBytes,
      onerror: (cause) => parts.log.info('an MCP request was refused', { cause: cause.message.slice(0, 500) }),
    },
  )
  const stopTelling = world.exposed.onChange(() => stateless.notify.toolsChanged())
  let isClosed = false
  const answer = async (request: Request): Promise<Response> => {
    if (isClosed) return answerError(503, -32_000, 'the server has ended')
    const found = await identify(request, options, parts)
    if (found instanceof Response) return found
    const body = await readBody(request, parts)
    if (body instanceof Response) return body
    if (await isLegacyRequest(bare(request), body, { maxRequestBodySize: parts.limits.messageBytes }))
      return await connected.answer(request, body, found)
    const authInfo = { token: '', clientId: found.id, scopes: [] }
    return await stateless.fetch(bare(request), { authInfo, ...(body !== undefined && { parsedBody: body }) })
  }
  const handle = async (request: Request): Promise<Response> => {
    const refusal = refusePage(request, options)
    if (refusal !== undefined) return answerError(403, -32_000, refusal)
    if (request.method === 'OPTIONS') return addCors(request, new Response(null, { status: 204 }))
    return addCors(request, await answer(request))
  }
  const close = async (): Promise<void> => {
    if (isClosed) return
    isClosed = true
    stopTelling()
    await stateless.close()
    await connected.close()
    await world.close()
  }
  return Object.assign(handle, { close })
}

/** The body has already been read. */
function bare(request: Request): Request {
  if (request.body === null) return request
  const { method, headers, signal, url } = request
  return new Request(url, { method, headers, signal })
}

/** The JSON of a message, or `undefined` for a request without a body. */
async function readBody(request: Request, { limits }: ServerParts): Promise<unknown> {
  if (request.method !== 'POST') return undefined
  const isJson = /^application\/json\s*(;|$)/i.test(request.headers.get('content-type') ?? '')
  if (!isJson) return answerError(415, -32_000, 'the content type must be application/json')
  const read = await readRequestBody(request, limits.messageBytes)
  if (read.tooLarge) return answerError(413, -32_000, `a message may have at most ${limits.messageBytes} bytes`)
  const parsed = parseJson(read.text)
  return parsed.ok ? parsed.value : answerError(400, -32_700, 'the message is not JSON')
}

/** The principal, or the refusal. */
async function identify(
  request: Request,
  { authenticate }: McpHttpOptions,
  { timers, log }: ServerParts,
): Promise<Principal | Response> {
  if (!authenticate) return ANONYMOUS
  const error = (): BatonError =>
    new BatonError({ code: 'keys_unavailable', message: `authenticate took more than ${IDENTITY_MS} ms` })
  try {
    const asked = (async () => await authenticate(request))()
    const found = await within(timers, { timeoutMs: IDENTITY_MS, error }, asked)
    if (!found) return answerUnauthorized(NOBODY)
    const principal = 'principal' in found ? found.principal : found
    if (typeof principal.id === 'string' && principal.id !== '') return principal
    log.warn('authenticate must return a principal with an id', {})
    return answerUnauthorized(NOBODY)
  } catch (cause) {
    if (isBatonError(cause) && cause.code === 'keys_unavailable') return answerError(503, -32_000, cause.message)
    log.info('an MCP client could not be authenticated', { cause: describeThrown(cause) })
    return answerUnauthorized(isBatonError(cause) && cause.code === 'unauthorized' ? cause.message : NOBODY)
  }
}

const NOBODY = 'authentication failed'

/** @throws BatonError `invalid_option` */
export function checkHost(host: Host, what: string): void {
  if (typeof host?.session === 'function') return
  throw new BatonError({
    code: 'invalid_option',
    message: `${what} needs a host as its first argument`,
    hint: `Write ${what}(createHost({ agent }), { agent }).`,
  })
}
