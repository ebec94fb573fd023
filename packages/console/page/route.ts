// Places of the page as its address says them after `#`, so that every row can be linked to.

export type SessionTab = 'timeline' | 'conversation' | 'replay'
export type Route =
  | {
      readonly view: 'sessions'
      readonly activity?: string
      readonly agent?: string
      readonly principal?: string
      readonly search?: string
    }
  /** `row`: id of the selected row; in a replay, the position. */
  | { readonly view: 'session'; readonly session: string; readonly tab: SessionTab; readonly row?: string }
  | { readonly view: 'compare'; readonly session: string; readonly other: string }
  | { readonly view: 'inbox'; readonly session?: string; readonly approval?: string }
  | { readonly view: 'cost'; readonly days?: string; readonly agent?: string }

const TABS: ReadonlySet<string> = new Set<SessionTab>(['timeline', 'conversation', 'replay'])

export function parseRoute(hash: string): Route {
  const [path = '', words = ''] = hash.replace(/^#\/?/, '').split('?')
  const [view, first, second, third] = path.split('/').map(decode)
  const query = Object.fromEntries([...new URLSearchParams(words)].filter(([, value]) => value !== ''))
  if (view === 'sessions' && first !== undefined && first !== '') {
    const tab = second !== undefined && TABS.has(second) ? (second as SessionTab) : 'timeline' // one of them
    return { view: 'session', session: first, tab, ...(third !== undefined && third !== '' && { row: third }) }
  }
  if (view === 'compare' && first !== undefined && second !== undefined)
    return { view: 'compare', session: first, other: second }
  if (view === 'inbox')
    return { view, ...(first !== undefined && second !== undefined && { session: first, approval: second }) }
  if (view === 'cost') return { view, ...pick(query, ['days', 'agent']) }
  return { view: 'sessions', ...pick(query, ['activity', 'agent', 'principal', 'search']) }
}

export function formatRoute(route: Route): string {
  const { view, ...rest } = route
  if (route.view === 'session') {
    const row = route.row === undefined ? [] : [route.row]
    return `#/sessions/${[route.session, route.tab, ...row].map(encodeURIComponent).join('/')}`
  }
  if (route.view === 'compare')
    return `#/compare/${encodeURIComponent(route.session)}/${encodeURIComponent(route.other)}`
  if (route.view === 'inbox') {
    const { session, approval } = route
    return session === undefined || approval === undefined
      ? '#/inbox'
      : `#/inbox/${encodeURIComponent(session)}/${encodeURIComponent(approval)}`
  }
  const words = new URLSearchParams(Object.entries(rest).filter(([, value]) => value !== '')).toString()
  return `#/${view}${words === '' ? '' : `?${words}`}`
}

function pick<Name extends string>(
  query: Readonly<Record<string, string>>,
  names: readonly Name[],
): { [Field in Name]?: string } {
  return Object.fromEntries(names.flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]]]))) as {
    [Field in Name]?: string
  } // only these
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
