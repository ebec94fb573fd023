// The token that a request shows. What it says is for others to judge.

/**
 * Reads `Authorization: Bearer`, else `token` in the address, since a page cannot set a header of a WebSocket. The header
 * wins. Undefined if there is no token.
 */
export function readBearerToken(authorization: string | null | undefined, query: URLSearchParams): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? query.get('token') ?? undefined
}
