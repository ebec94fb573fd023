// The list of all sessions: newest first, live, with what each waits for.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { formatAgo } from './amounts.ts'
import type { ApiError, WaitingApproval, SessionChange, SessionInfo } from './api.ts'
import { ViewHead } from './app.tsx'
import { Empty, Failure, StateMark } from './parts.tsx'
import type { Route } from './route.ts'
import type { SessionFilter } from './session-filter.ts'
import { applyChange, describeActivity, stateOfActivity } from './session-filter.ts'
import { showLine } from './shown-text.ts'
import { asApiError, keepWatching, useShortcuts, useStore } from './store.ts'
import { stepBy, VirtualList } from './virtual-list.tsx'

type SessionsRoute = Extract<Route, { readonly view: 'sessions' }>
const ACTIVITIES = ['', 'waiting', 'running', 'idle', 'paused', 'stopped'] as const
const ROW_PX = 58

export function SessionsView({ route }: { readonly route: SessionsRoute }) {
  const store = useStore()
  const { sessions, failure, isLoaded, more, again } = useSessions(route)
  const [selected, select] = useState<string | undefined>(undefined)
  const search = useRef<HTMLInputElement>(null)
  const at = sessions.findIndex(({ id }) => id === selected)
  const open = (session: SessionInfo): void => store.go({ view: 'session', session: session.id, tab: 'timeline' })
  const move = (by: number): void => select(stepBy(sessions, at, by)?.id)
  useShortcuts([
    { keys: 'j', does: 'Next session', run: () => move(1) },
    { keys: 'k', does: 'Previous session', run: () => move(-1) },
    { keys: 'ArrowDown', does: 'Next session', run: () => move(1) },
    { keys: 'ArrowUp', does: 'Previous session', run: () => move(-1) },
    { keys: 'Enter', does: 'Open the session', run: () => sessions[at] && open(sessions[at]) },
    { keys: '/', does: 'Search', run: () => search.current?.focus() },
  ])
  return (
    <section class="view">
      <ViewHead title="Sessions">
        <Filters route={route} search={search} />
      </ViewHead>
      {failure && <Failure error={failure} again={again} />}
      {sessions.length === 0 && isLoaded && !failure ? (
        <Empty title="No session fits.">
          {Object.keys(route).length > 1
            ? 'Take a filter away to see more.'
            : 'A session appears here when an agent gets its first message.'}
        </Empty>
      ) : (
        <VirtualList
          label="Sessions"
          className="sessions"
          items={sessions}
          rowPx={ROW_PX}
          idOf={idOf}
          selected={selected}
          onSelect={open}
          onEnd={more}
          draw={(session) => <SessionRow session={session} nowMs={store.nowMs.value} inbox={store.inbox.value} />}
        />
      )}
    </section>
  )
}

const idOf = ({ id }: SessionInfo): string => id

interface RowProps {
  readonly session: SessionInfo
  readonly nowMs: number
  readonly inbox: readonly WaitingApproval[]
}

function SessionRow({ session, nowMs, inbox }: RowProps) {
  const { id, title, agent, principal, activity, lastMs } = session
  const asked = inbox
    .filter((request) => request.session === id)
    .map((request) => showLine(request.title ?? request.name, 80))
  return (
    <div class={`session-row is-${activity}`}>
      <StateMark state={stateOfActivity(session)} isNamed={false} />
      <div class="session-name">
        <b class={title === undefined ? 'mono' : ''}>{showLine(title ?? id, 80)}</b>
        <span class={activity === 'waiting' ? 'waits' : 'muted'}>{describeActivity(session, asked)}</span>
      </div>
      <div class="session-who">
        <span>{showLine(agent, 40)}</span>
        <span class="muted">{showLine(principal.id, 40)}</span>
      </div>
      <time class="muted" dateTime={new Date(lastMs).toISOString()}>
        {formatAgo(lastMs, nowMs)}
      </time>
    </div>
  )
}

function Filters({
  route,
  search,
}: {
  readonly route: SessionsRoute
  readonly search: { current: HTMLInputElement | null }
}) {
  const store = useStore()
  const set = (change: SessionFilter): void => {
    const { view, ...given } = { ...route, ...change }
    store.go({ view, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== '')) }, 'replace')
  }
  const type = useDelayed((change: SessionFilter) => set(change))
  const field = (name: 'search' | 'agent' | 'principal', words: string) => (
    <input
      ref={name === 'search' ? search : null}
      type="search"
      aria-label={words}
      placeholder={name === 'search' ? `${words}  /` : words}
      defaultValue={route[name] ?? ''}
      onInput={({ currentTarget }) => type({ [name]: currentTarget.value.trim() })}
      onKeyDown={({ key, currentTarget }) => key === 'Escape' && currentTarget.blur()}
    />
  )
  return (
    <div class="filters" role="search">
      {field('search', 'Search')}
      {field('agent', 'Agent')}
      {field('principal', 'Principal')}
      <select
        aria-label="Activity"
        value={route.activity ?? ''}
        onChange={({ currentTarget }) => set({ activity: currentTarget.value })}
      >
        {ACTIVITIES.map((activity) => (
          <option key={activity} value={activity}>
            {activity === '' ? 'Any activity' : activity}
          </option>
        ))}
      </select>
    </div>
  )
}

const TYPING_MS = 250

/** Calls `run` with all changes once nothing was typed for a moment. */
function useDelayed(run: (change: SessionFilter) => void): (change: SessionFilter) => void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const newest = useRef(run)
  const held = useRef<SessionFilter>({})
  newest.current = run
  useEffect(() => () => clearTimeout(timer.current), [])
  return useCallback((change) => {
    held.current = { ...held.current, ...change }
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      newest.current(held.current)
      held.current = {}
    }, TYPING_MS)
  }, [])
}

interface Listed {
  readonly sessions: readonly SessionInfo[]
  readonly failure: ApiError | undefined
  readonly isLoaded: boolean
  /** Loads the next page, if there is one. */
  readonly more: (() => void) | undefined
  readonly again: () => void
}

function useSessions({ view: _view, ...filter }: SessionsRoute): Listed {
  const { api, connection } = useStore()
  const [sessions, setSessions] = useState<readonly SessionInfo[]>([])
  const [cursor, setCursor] = useState<string | undefined>(undefined)
  const [failure, setFailure] = useState<ApiError | undefined>(undefined)
  const [isLoaded, setLoaded] = useState(false)
  const [tries, setTries] = useState(0)
  const key = JSON.stringify(filter)
  useEffect(() => {
    const end = new AbortController()
    const load = async (): Promise<void> => {
      const page = await api.sessions({ ...filter, order: 'newest', limit: 100 }, end.signal)
      setSessions(page.sessions)
      setCursor(page.cursor)
      setFailure(undefined)
      setLoaded(true)
    }
    const fail = (cause: unknown): void => void (end.signal.aborted || setFailure(asApiError(cause)))
    load().catch(fail)
    let isFirst = true
    void keepWatching(api.watchSessions, {
      signal: end.signal,
      take: (change) => setSessions((list) => applyChange(list, change as SessionChange, filter)), // the server's contract
      opened: () => {
        connection.value = 'live'
        // Reads what changed while the stream was closed.
        if (!isFirst) load().catch(fail)
        isFirst = false
      },
      failed: () => (connection.value = 'lost'),
    })
    return () => end.abort()
  }, [key, tries])
  const more = (): void => {
    if (cursor === undefined) return
    setCursor(undefined)
    api.sessions({ ...filter, order: 'newest', limit: 100, cursor }).then(
      (page) => {
        setSessions((list) => [...list, ...page.sessions.filter(({ id }) => !list.some((one) => one.id === id))])
        setCursor(page.cursor)
      },
      (cause: unknown) => setFailure(asApiError(cause)),
    )
  }
  return {
    sessions,
    failure,
    isLoaded,
    more: cursor === undefined ? undefined : more,
    again: () => setTries(tries + 1),
  }
}
