// The names that each address takes in its query. A misspelt filter would be a longer list, so other names are refused; only
// the addresses of chats take any, since pages of other libraries may add their own.
import { checkFields } from '@baton/core/internal'

/** The token may stand in the address, for pages that cannot set a header. */
const EVERYWHERE = ['token']
const PAGE = ['limit', 'cursor', 'order']
const WATCHED = [...PAGE, 'agent', 'all']

/** By address; `:` matches any part. Those with a `GET` that reads a session take `child` too. */
const NAMES: ReadonlyMap<string, readonly string[]> = new Map([
  ['sessions', [...WATCHED, 'activity', 'since', 'meta', 'search', 'principal']],
  ['sessions/changes', ['all']],
  ['sessions/:', ['child']],
  ['sessions/:/messages', ['before', 'limit', 'format', 'child']],
  ['sessions/:/events', ['from', 'children', 'child']],
  ['sessions/:/media/:', ['type', 'child']],
  ['sessions/:/export', ['child']],
  ['sessions/:/fork', ['child']],
  ['sessions/:/log', ['from', 'last', 'limit', 'child']],
  ['sessions/:/requests/:', ['child']],
  ['sessions/:/results/:', ['child']],
  ['approvals', [...WATCHED, 'tool', 'asked']],
  ['approvals/:/:/messages', ['before', 'limit']],
  ['cost', ['from', 'to', 'agent', 'principal', 'format']],
])

const ELSEWHERE = {
  user: 'principal',
  owner: 'principal',
  state: 'activity',
  status: 'activity',
  q: 'search',
  page: 'cursor',
}

/** @throws BatonError `invalid_event` for a name that the address does not take */
export function checkQueryNames({ searchParams }: URL, path: readonly string[]): void {
  if (path[0] === 'chat') return
  const address = path.length === 2 && path[1] === 'changes' ? path.join('/') : path.map(generalise).join('/')
  const fields = new Set([...(NAMES.get(address) ?? []), ...EVERYWHERE])
  const elsewhere = Object.fromEntries(Object.entries(ELSEWHERE).filter(([, name]) => fields.has(name)))
  const given = Object.fromEntries(searchParams)
  checkFields(given, { what: 'the query of this address', code: 'invalid_event', fields, elsewhere })
}

/** Parts at odd places are names of sessions, calls and files. */
function generalise(part: string, at: number, { 0: area }: readonly string[]): string {
  return at === 1 || (at === 3 && area === 'sessions') || (at === 2 && area === 'approvals') ? ':' : part
}
