// Decides which web pages may send requests, and writes the CORS headers. Only browsers send an origin.

/** Origins of pages, `*` for all; a function decides of each page alone. */
export type AllowedOrigins = readonly string[] | ((origin: string, request: Request) => boolean)

/** Why the page that asks may not, if it is a page. */
export function checkPage(
  request: Request,
  origins: AllowedOrigins,
  hosts: readonly string[] | undefined,
): { readonly message: string; readonly hint?: string } | undefined {
  const { host, hostname } = new URL(request.url)
  if (hosts && !hosts.includes(hostname))
    return {
      message: `the server may not be asked under the name ${hostname.slice(0, 200)}`,
      hint: 'Name it in `hosts` of createHandler, or by --public-host of "baton serve".',
    }
  const origin = request.headers.get('origin')
  if (origin === null || isAllowed(origin, request, origins)) return undefined
  // Behind a proxy the page's scheme is another one than the request's.
  if (typeof origins !== 'function' && URL.parse(origin)?.host === host) return undefined
  return {
    message: `pages of the origin ${origin.slice(0, 200)} may not ask ${host}`,
    hint: 'Name the origin in `origins` of createHandler, or by --allow-origin of "baton serve"; a proxy must keep the Host header.',
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
