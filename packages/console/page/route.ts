// Places of the page as its address says them after `#`, so that every row can be linked to.

export type SessionTab = 'timeline' | 'conversation' | 'replay'
/** Parts of a record in the replay. */
export type ReplayPart = 'record' | 'request' | 'changes' | 'then'
export type Route =
  | {
      readonly view: 'sessions'
      readonly activity?: string
      readonly agent?: string
      readonly principal?: string
      readonly search?: string
    }
  /**
   * `row`: id of the selected row; in a replay the position, after the calls that lead to a delegated agent:
   * `call_1_0/12`. `part`: what a replay shows of it.
   */
  | {
      readonly view: 'session'
      readonly session: string
      readonly tab: SessionTab
      readonly row?: string
      readonly part?: ReplayPart
    }
  | { readonly view: 'compare'; readonly session: string; readonly other: string }
  | { readonly view: 'inbox'; readonly session?: string; readonly approval?: string }
  | { readonly view: 'cost'; readonly days?: string; readonly agent?: string }
  | {
      readonly view: 'failures'
      readonly days?: string
      readonly agent?: string
      readonly principal?: string
      readonly code?: string
    }

const PARTS: ReadonlySet<string> = new Set<ReplayPart>(['record', 'request', 'changes', 'then'])
const TABS: ReadonlySet<string> = new Set<SessionTab>(['timeline', 'conversation', 'replay'])

export function parseRoute(hash: string): Route {
  const [path = '', words = ''] = hash.replace(/^#\/?/, '').split('?')
  const [view, first, second, third, fourth] = path.split('/').map(decode)
  const query = Object.fromEntries([...new URLSearchParams(words)].filter(([, value]) => value !== ''))
  if (view === 'sessions' && first !== undefined && first !== '') {
    const tab = second !== undefined && TABS.has(second) ? (second as SessionTab) : 'timeline' // one of them
    const part = tab === 'replay' && fourth !== undefined && PARTS.has(fourth) ? (fourth as ReplayPart) : undefined // one of them
    const row = third !== undefined && third !== '' ? { row: third } : {}
    return { view: 'session', session: first, tab, ...row, ...(part && { part }) }
  }
  if (view === 'compare' && first !== undefined && second !== undefined)
    return { view: 'compare', session: first, other: second }
  if (view === 'inbox')
    return { view, ...(first !== undefined && second !== undefined && { session: first, approval: second }) }
  if (view === 'failures') return { view, ...pick(query, ['days', 'agent', 'principal', 'code']) }
  if (view === 'cost') return { view, ...pick(query, ['days', 'agent']) }
  return { view: 'sessions', ...pick(query, ['activity', 'agent', 'principal', 'search']) }
}

export function formatRoute(route: Route): string {
  const { view, ...rest } = route
  if (route.view === 'session') {
    const row = route.row === undefined ? [] : [route.row, ...(route.part === undefined ? [] : [route.part])]
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
