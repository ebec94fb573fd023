// The token of a request. Its content is checked elsewhere.

/**
 * Reads `Authorization: Bearer`, or else `token` in the address, since a page cannot set headers of a WebSocket.
 * Returns `undefined` if there is no token.
 */
export function readBearerToken(authorization: string | null | undefined, query: URLSearchParams): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1] ?? query.get('token') ?? undefined
}
