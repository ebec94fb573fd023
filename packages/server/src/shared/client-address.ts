// The network address of a request's client, also behind trusted proxies.
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/**
 * With 0 `proxies`, the other end of the connection, whatever the headers say. With more, the entry of X-Forwarded-For
 * written by the outermost trusted proxy, counted from the right; a client can invent everything to its left.
 */
export function findClientAddress(request: Pick<IncomingMessage, 'headers' | 'socket'>, proxies: number): string {
  const peer = readAddress(request.socket.remoteAddress ?? '')
  if (proxies === 0) return peer
  const header = request.headers['x-forwarded-for'] ?? ''
  const entries = (Array.isArray(header) ? header.join(',') : header)
    .split(',')
    .map((entry) => readAddress(entry.trim()))
  const named = entries.at(-proxies) ?? entries[0] ?? ''
  return isIP(named) === 0 ? peer : named
}

/** Strips port and brackets, and unmaps IPv4 addresses. */
export function readAddress(text: string): string {
  const bare = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
  return bare.replace(/^::ffff:(?=[\d.]+$)/i, '')
}
