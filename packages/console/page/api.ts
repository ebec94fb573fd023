// The console's server over HTTP: one function for each address. The page's own address says where it is.
import type { RebuiltRequest, SessionPage, WaitingApproval } from '@baton/core/internal'
import type { ChatMessage } from '@baton/core/conversation'
import type { Costs, LogPage, Me } from '@baton/server/internal'
import { readEvents } from './event-reader.ts'

export type { ChatMessage } from '@baton/core/conversation'
export type { RebuiltRequest, SessionChange, SessionInfo, WaitingApproval } from '@baton/core/internal'
export type { CostRow, Costs, Failed, LogPage, Me, OperatorPower as Power } from '@baton/server/internal'

/** A refusal of the server, or a failure to reach it (`code` is then `unreachable`). */
export class ApiError extends Error {
  readonly code: string
  readonly hint: string | undefined

  constructor({
    code,
    message,
    hint,
  }: {
    readonly code: string
    readonly message: string
    readonly hint?: string | undefined
  }) {
    super(message)
    this.code = code
    this.hint = hint
  }
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>
export interface Api extends ReturnType<typeof createApi> {}

export interface ApiOptions {
  /** Address of the page, with a slash at its end. */
  readonly base: string
  readonly token: string | undefined
  readonly fetch: typeof fetch
}

export function createApi(options: ApiOptions) {
  const { get, send, watch, download } = createRequests(options)
  const session = (id: string, part = ''): string =>
    `sessions/${encodeURIComponent(id)}${part === '' ? '' : `/${part}`}`
  return {
    download,
    me: () => get<Me>('me'),
    sessions: (query: Query, signal?: AbortSignal) => get<SessionPage>('sessions', { all: true, ...query }, signal),
    watchSessions: (watching: Watching) => watch('sessions/changes', { all: true }, watching),
    messages: (id: string, query: Query) =>
      get<{ readonly messages: readonly ChatMessage[]; readonly more: boolean }>(session(id, 'messages'), {
        format: 'baton',
        ...query,
      }),
    watchSession: (id: string, watching: Watching) =>
      watch(session(id, 'events'), { from: 'now', children: true }, watching),
    /** A page from a position on, or the newest records. */
    log: (id: string, part: { readonly from: number } | { readonly last: number }, path: readonly string[] = []) => {
      const words = 'from' in part ? `from=${part.from}&limit=1000` : `last=${part.last}`
      return get<LogPage>(`${session(id, 'log')}?${words}${listCalls(path, '&')}`)
    },
    request: (id: string, attempt: number, path: readonly string[] = []) =>
      get<RebuiltRequest>(`${session(id, `requests/${attempt}`)}${listCalls(path, '?')}`),
    approval: (id: string, approval: string) =>
      get<WaitingApproval>(`approvals/${encodeURIComponent(id)}/${encodeURIComponent(approval)}`),
    watchApprovals: (watching: Watching) => watch('approvals', { all: true, limit: 200 }, watching),
    decide: (id: string, approval: string, body: object) =>
      send<object>('POST', `approvals/${encodeURIComponent(id)}/${encodeURIComponent(approval)}`, body),
    costs: (query: Query, signal?: AbortSignal) => get<Costs>('cost', query, signal),
    act: (id: string, part: string, body?: object) => send<{ readonly id?: string }>('POST', session(id, part), body),
    exported: (id: string) => get<object>(session(id, 'export')),
    remove: (id: string) => send<object>('DELETE', session(id)),
  }
}

/** The delegated calls that lead to a child, as a query. */
function listCalls(path: readonly string[], before: '?' | '&'): string {
  const words = path.map((callId) => `child=${encodeURIComponent(callId)}`).join('&')
  return words === '' ? '' : `${before}${words}`
}

/** Requests with the token, and refusals as errors. */
function createRequests({ base, token, fetch }: ApiOptions) {
  const address = (path: string, query: Query = {}): string => {
    const given = Object.entries(query).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [[name, String(value)]],
    )
    const words = new URLSearchParams(given).toString()
    return `${base}api/${path}${words === '' ? '' : `?${words}`}`
  }
  const headers = (more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
    ...more,
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  })
  const ask = async (url: string, init: RequestInit): Promise<Response> => {
    let response: Response
    try {
      response = await fetch(url, { ...init, credentials: 'same-origin' })
    } catch (cause) {
      if (init.signal?.aborted) throw cause
      throw new ApiError({ code: 'unreachable', message: 'the server cannot be reached' })
    }
    if (!response.ok) throw await readError(response)
    return response
  }
  const get = async <Value>(path: string, query?: Query, signal?: AbortSignal): Promise<Value> => {
    const response = await ask(address(path, query), {
      headers: headers({ accept: 'application/json' }),
      ...(signal && { signal }),
    })
    return (await response.json()) as Value // the server's contract
  }
  const send = async <Value>(method: 'POST' | 'DELETE', path: string, body: object = {}): Promise<Value> => {
    const init = { method, headers: headers({ 'content-type': 'application/json' }), body: JSON.stringify(body) }
    return (await (await ask(address(path), init)).json()) as Value // the server's contract
  }
  const watch = async (path: string, query: Query, { signal, take, opened }: Watching): Promise<void> => {
    const response = await ask(address(path, query), { headers: headers({ accept: 'text/event-stream' }), signal })
    opened?.()
    await readEvents(response, take)
  }
  const download = async (path: string, query?: Query): Promise<Blob> =>
    await (await ask(address(path, query), { headers: headers() })).blob()
  return { get, send, watch, download }
}

export interface Watching {
  readonly signal: AbortSignal
  readonly take: (value: unknown) => void
  readonly opened?: () => void
}

async function readError(response: Response): Promise<ApiError> {
  const text = await response.text()
  try {
    const { error } = JSON.parse(text) as { error?: { code?: unknown; message?: unknown; hint?: unknown } }
    const { code, message, hint } = error ?? {}
    if (typeof code === 'string' && typeof message === 'string')
      return new ApiError({ code, message, ...(typeof hint === 'string' && { hint }) })
  } catch {
    // Not JSON: said below.
  }
  return new ApiError({
    code: `http_${response.status}`,
    message: `the server answered with status ${response.status}`,
  })
}
