// Failures of a period, the newest first: the session, its owner, the time, the error, and a link to the row.
import { formatMoment } from './amounts.ts'
import type { Costs, Failed } from './api.ts'
import { ViewHead } from './app.tsx'
import { Ranges, useCosts } from './cost-view.tsx'
import { Empty, Failure, StateMark } from './parts.tsx'
import type { Route } from './route.ts'
import { formatRoute } from './route.ts'
import { showLine } from './shown-text.ts'
import { useStore } from './store.ts'

type FailuresRoute = Extract<Route, { readonly view: 'failures' }>

export function FailuresView({ route }: { readonly route: FailuresRoute }) {
  const store = useStore()
  const { costs, failure } = useCosts(route)
  const set = (change: Partial<FailuresRoute>): void => {
    const given = Object.entries({ ...route, ...change }).filter(([, value]) => value !== '')
    store.go(Object.fromEntries(given) as FailuresRoute, 'replace') // `view` is never empty
  }
  const field = (name: 'principal' | 'agent', words: string) => (
    <input
      type="search"
      aria-label={words}
      placeholder={words}
      defaultValue={route[name] ?? ''}
      onChange={({ currentTarget }) => set({ [name]: currentTarget.value.trim() })}
      onKeyDown={({ key, currentTarget }) => key === 'Escape' && currentTarget.blur()}
    />
  )
  return (
    <section class="view is-scrolling" tabIndex={0} aria-label="Failures">
      <ViewHead title="Failures">
        <div class="filters" role="search">
          <Ranges days={route.days} set={(days) => set({ days })} />
          {field('agent', 'Agent')}
          {field('principal', 'Principal')}
        </div>
      </ViewHead>
      {failure && <Failure error={failure} />}
      {costs && <List costs={costs} code={route.code} clear={() => set({ code: '' })} />}
      {!costs && !failure && <Empty title="Looking through the logs…" />}
    </section>
  )
}

interface ListProps {
  readonly costs: Costs
  readonly code: string | undefined
  readonly clear: () => void
}

function List({ costs, code, clear }: ListProps) {
  const shown = costs.failed.filter((one) => code === undefined || one.code === code)
  const count = costs.failures.reduce((sum, one) => sum + one.count, 0)
  return (
    <>
      {code !== undefined && (
        <p class="part">
          Only <span class="mono">{showLine(code, 60)}</span>.{' '}
          <button type="button" class="quiet" onClick={clear}>
            Show every code
          </button>
        </p>
      )}
      {costs.sessionsLeft > 0 && (
        <p class="warning part">{costs.sessionsLeft} other sessions of this time were not looked at.</p>
      )}
      {count > costs.failed.length && (
        <p class="warning part">
          {count - costs.failed.length} of {count} failures are not listed.
        </p>
      )}
      {shown.length === 0 ? (
        <Empty title="Nothing failed in this time." />
      ) : (
        <ul class="failed">
          {shown.map((one, index) => (
            <li key={index}>
              <Row failed={one} />
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

function Row({ failed }: { readonly failed: Failed }) {
  const { atMs, session, principal, agent, code, message, tool, callId, path = [] } = failed
  const row = callId === undefined ? undefined : [...path, callId].join('/')
  const place = { view: 'session', session, tab: 'timeline', ...(row !== undefined && { row }) } as const
  return (
    <>
      <StateMark state="error" isNamed={false} />
      <div>
        <p>
          <a href={formatRoute(place)}>{showLine(session, 60)}</a>{' '}
          <span class="muted">
            {showLine(agent, 40)} for {showLine(principal, 40)}
          </span>
        </p>
        <p>
          {tool === undefined ? 'The turn failed' : showLine(tool, 60)}: <span class="mono">{showLine(code, 60)}</span>
          {message !== undefined && `, ${showLine(message, 300)}`}
        </p>
      </div>
      <time class="muted">{formatMoment(atMs, Date.now()).slice(0, -3)}</time>
    </>
  )
}
