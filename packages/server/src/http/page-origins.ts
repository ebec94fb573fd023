// Decides which web pages may send requests, and writes the CORS headers. Only browsers send an origin.

/** Origins of pages, or `*` for all; a function decides for each page. */
export type AllowedOrigins = readonly string[] | ((origin: string, request: Request) => boolean)

/** Returns why the requesting page is refused; `undefined` if it is allowed or not a page. */
export function checkPage(
  request: Request,
  origins: AllowedOrigins,
  hosts: readonly string[] | undefined,
): { readonly message: string; readonly hint?: string } | undefined {
  const { host, hostname } = new URL(request.url)
  if (hosts && !hosts.includes(hostname))
    return {
      message: `the server does not accept requests for the host ${hostname.slice(0, 200)}`,
      hint: 'Add it to `hosts` of createHandler, or use --public-host of "baton serve".',
    }
  const origin = request.headers.get('origin')
  if (origin === null || isAllowed(origin, request, origins)) return undefined
  // Behind a proxy, the page's scheme differs from the request's.
  if (typeof origins !== 'function' && URL.parse(origin)?.host === host) return undefined
  return {
    message: `pages from the origin ${origin.slice(0, 200)} may not send requests to ${host}`,
    hint: 'Add the origin to `origins` of createHandler, or use --allow-origin of "baton serve"; a proxy must keep the Host header.',
  }
}

function isAllowed(origin: string, request: Request, origins: AllowedOrigins): boolean {
  return typeof origins === 'function' ? origins(origin, request) : origins.includes('*') || origins.includes(origin)
}

export function describeCors(request: Request, origins: AllowedOrigins): Readonly<Record<string, string>> {
  const origin = request.headers.get('origin')
  if (origin === null || !isAllowed(origin, request, origins)) return {}
  return {
    'access-control-allow-origin': origin,
    vary: 'origin',
    'access-control-allow-methods': 'GET, POST, PATCH, DELETE',
    'access-control-allow-headers': 'content-type, authorization, last-event-id, user-agent, idempotency-key',
    'access-control-expose-headers': 'x-baton-error, retry-after, idempotency-replayed',
    'access-control-max-age': '600',
  }
}
