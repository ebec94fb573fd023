// The network address that a request comes from, also behind proxies that are trusted.
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/**
 * With `proxies` 0, the other end of the connection, whatever the headers say. With more, the entry of X-Forwarded-For that
 * the outermost trusted proxy wrote, counted from the right. A client can invent everything to the left of it.
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

/** Without port and brackets, and IPv4 as such. */
export function readAddress(text: string): string {
  const bare = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
  return bare.replace(/^::ffff:(?=[\d.]+$)/i, '')
}
