// An MCP server with its authorization server, in memory behind a `fetch`. Refresh tokens rotate: each is good for one
// use. It counts what it is asked.
import { createHash } from 'node:crypto'
import type { FetchLike } from '@modelcontextprotocol/client'

const ORIGIN = 'https://shop.test'
export const SHOP = `${ORIGIN}/mcp`
const METADATA = {
  issuer: ORIGIN,
  authorization_endpoint: `${ORIGIN}/authorize`,
  token_endpoint: `${ORIGIN}/token`,
  registration_endpoint: `${ORIGIN}/register`,
  response_types_supported: ['code'],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: false,
}
const INFO = { capabilities: { tools: {} }, serverInfo: { name: 'shop', version: '1' } }

interface Message {
  readonly id?: number
  readonly method: string
}

export interface LoginServerOptions {
  /** Holds back the refusal of a call. */
  readonly onRefused?: (refused: number) => Promise<void>
  /** Holds back the answer to a refresh. */
  readonly onRefresh?: (asked: number) => Promise<void>
}

export function createLoginServer({ onRefused, onRefresh }: LoginServerOptions = {}) {
  const counts = { refused: 0, refreshes: 0, paid: 0 }
  let issued = 0
  let access: string | undefined
  let refresh: string | undefined
  /** Scope required for a call, and the scope granted last. */
  let needed = 'shop'
  let granted = ''

  const issue = (scope: string): Response => {
    issued += 1
    access = `access-${issued}`
    refresh = `refresh-${issued}`
    granted = scope
    return Response.json({ access_token: access, refresh_token: refresh, token_type: 'Bearer', scope })
  }
  const token = async (form: URLSearchParams): Promise<Response> => {
    if (form.get('grant_type') === 'refresh_token') {
      const given = form.get('refresh_token')
      counts.refreshes += 1
      await onRefresh?.(counts.refreshes)
      if (given === refresh) return issue(granted)
    } else {
      const [challenge, scope = ''] = (form.get('code') ?? '').split('|')
      const verifier = form.get('code_verifier') ?? ''
      if (createHash('sha256').update(verifier).digest('base64url') === challenge) return issue(scope)
    }
    return Response.json({ error: 'invalid_grant' }, { status: 400 })
  }
  const refuse = async (status: number, challenge: string, isCall: boolean): Promise<Response> => {
    if (isCall) {
      counts.refused += 1
      await onRefused?.(counts.refused)
    }
    const metadata = `resource_metadata="${ORIGIN}/.well-known/oauth-protected-resource/mcp"`
    const headers = { 'www-authenticate': `Bearer ${metadata}, scope="${needed}"${challenge}` }
    return new Response(null, { status, headers })
  }
  const mcp = async ({ id, method }: Message, sent: string | null): Promise<Response> => {
    const isCall = method === 'tools/call'
    if (access === undefined || sent !== `Bearer ${access}`) return refuse(401, '', isCall)
    if (isCall && needed !== granted) return refuse(403, ', error="insufficient_scope"', isCall)
    if (id === undefined) return new Response(null, { status: 202 })
    const answer = (result: object): Response => Response.json({ jsonrpc: '2.0', id, result })
    if (method === 'initialize') return answer({ protocolVersion: '2025-11-25', ...INFO })
    if (method === 'tools/list') return answer({ tools: [{ name: 'pay', inputSchema: { type: 'object' } }] })
    if (!isCall) return Response.json({ jsonrpc: '2.0', id, error: { code: -32_601, message: 'not known' } })
    counts.paid += 1
    return answer({ content: [{ type: 'text', text: 'paid' }] })
  }
  const fetch: FetchLike = async (target, init) => {
    const { pathname } = new URL(target)
    const text =
      typeof init?.body === 'string' ? init.body : init?.body instanceof URLSearchParams ? init.body.toString() : ''
    if (pathname.startsWith('/.well-known/oauth-protected-resource'))
      return Response.json({ resource: SHOP, authorization_servers: [ORIGIN] })
    if (pathname === '/.well-known/oauth-authorization-server') return Response.json(METADATA)
    if (pathname === '/register') return Response.json({ ...JSON.parse(text), client_id: 'baton' }, { status: 201 })
    if (pathname === '/token') return token(new URLSearchParams(text))
    if (pathname !== '/mcp' || init?.method !== 'POST') return new Response(null, { status: 405 })
    return mcp(JSON.parse(text) as Message, new Headers(init.headers).get('authorization'))
  }
  return {
    fetch,
    counts,
    /** Ends the access token, but not the refresh token. */
    expire: () => (access = undefined),
    /** Ends both. */
    revoke: () => (access = refresh = undefined),
    need: (scope: string) => (needed = scope),
  }
}

/** Acts as the user who logs in at the page. */
export function logInAt(page: URL): URLSearchParams {
  const { searchParams } = page
  const code = `${searchParams.get('code_challenge')}|${searchParams.get('scope') ?? ''}`
  return new URLSearchParams({ code, state: searchParams.get('state') ?? '' })
}
