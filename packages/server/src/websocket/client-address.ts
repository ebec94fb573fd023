// The network address that a request comes from, also behind proxies that are trusted.
import type { IncomingMessage } from 'node:http'
import { isIP, isIPv6 } from 'node:net'

/**
 * With `proxies` 0 the other end of the connection, whatever the headers say. Behind so many trusted proxies, the entry of
 * X-Forwarded-For that the outermost of them wrote, counted from the right: what stands left of it anybody can invent.
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

const GROUPS = 8
/** Groups of an IPv6 address that one customer of a network commonly has for himself. */
const PREFIX_GROUPS = 4

/** What limits count by: an IPv4 address, or the first 64 bits of an IPv6 one, since the others are its owner's to choose. */
export function deriveLimitKey(address: string): string {
  if (!isIPv6(address)) return address
  const [left = '', right] = (address.split('%', 1)[0] ?? '').split('::')
  const groups = (text: string): readonly string[] => (text === '' ? [] : text.split(':'))
  const [before, after] = [groups(left), groups(right ?? '')]
  const zeros = right === undefined ? 0 : Math.max(0, GROUPS - before.length - after.length)
  const all = [...before, ...Array.from({ length: zeros }, () => '0'), ...after]
  const prefix = all.slice(0, PREFIX_GROUPS).map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
  return `${prefix.join(':')}::/64`
}
