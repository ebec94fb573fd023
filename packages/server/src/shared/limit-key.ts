// The key that limits use for a network address. Runs in every runtime.

const GROUPS = 8
/** Groups of an IPv6 address that usually belong to one customer of a network. */
const PREFIX_GROUPS = 4

/**
 * Returns the key of an address: an IPv4 address, or the first 64 bits of an IPv6 one, since its owner chooses the
 * rest.
 */
export function deriveLimitKey(address: string): string {
  if (!address.includes(':')) return address
  const [left = '', right] = (address.split('%', 1)[0] ?? '').split('::')
  const groups = (text: string): readonly string[] => (text === '' ? [] : text.split(':'))
  const [before, after] = [groups(left), groups(right ?? '')]
  const zeros = right === undefined ? 0 : Math.max(0, GROUPS - before.length - after.length)
  const all = [...before, ...Array.from({ length: zeros }, () => '0'), ...after]
  const prefix = all.slice(0, PREFIX_GROUPS).map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
  return `${prefix.join(':')}::/64`
}
