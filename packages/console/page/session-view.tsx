// One session: who and what it is, where its open calls are, and its timeline, conversation and replay.
import { useMemo } from 'preact/hooks'
import { formatCost, formatCount, formatDay, formatTime } from './amounts.ts'
import { ConversationView } from './conversation-view.tsx'
import { Failure, StateMark } from './parts.tsx'
import { ReplayView } from './replay-view.tsx'
import type { Route, SessionTab } from './route.ts'
import { formatRoute } from './route.ts'
import { listActs } from './session-acts.ts'
import type { SessionLog } from './session-log.ts'
import { CHILDREN_MAX, useSessionLog } from './session-log.ts'
import { showLine } from './shown-text.ts'
import { useShortcuts, useStore } from './store.ts'
import type { TimelineRow } from './timeline-row.ts'
import { sumSpent, sumUsage, withChildren } from './timeline.ts'
import { TimelineView } from './timeline-view.tsx'
import { findOpenCalls } from './where-is-my-call.ts'

type SessionRoute = Extract<Route, { readonly view: 'session' }>
const TABS = [
  ['timeline', 'Timeline', '1'],
  ['conversation', 'Conversation', '2'],
  ['replay', 'Replay', '3'],
] as const

export function SessionView({ route }: { readonly route: SessionRoute }) {
  const store = useStore()
  const log = useSessionLog(route.session)
  const { timeline, children } = log
  const rows = useMemo(() => withChildren(timeline.rows, children), [timeline, children])
  const open = useMemo(() => rows.filter(({ toMs }) => toMs === undefined), [rows])
  // Without anything open no clock runs in it.
  const nowMs =
    open.length === 0 ? timeline.lastMs : Math.max(store.nowMs.value - timeline.wallOffsetMs, timeline.lastMs)
  const show = (tab: SessionTab): void => store.go({ view: 'session', session: route.session, tab })
  useShortcuts([
    ...TABS.map(([tab, does, keys]) => ({ keys, does, run: () => show(tab) })),
    { keys: 'u', does: 'Back to the sessions', run: () => store.go({ view: 'sessions' }) },
  ])
  return (
    <section class="view">
      <Head route={route} log={log} />
      {log.failure && <Failure error={log.failure} again={log.readOn} />}
      {log.isCut && (
        <p class="warning part">
          Only the first {CHILDREN_MAX} delegated agents are shown below their calls; each call still says what its
          agent used.
        </p>
      )}
      <OpenCalls route={route} rows={open} clients={timeline.clients} nowMs={nowMs} />
      {route.tab === 'timeline' && <TimelineView route={route} log={log} rows={rows} nowMs={nowMs} />}
      {route.tab === 'conversation' && (
        <ConversationView session={route.session} newest={timeline.newest} rows={rows} />
      )}
      {route.tab === 'replay' && <ReplayView route={route} log={log} />}
    </section>
  )
}

interface HeadProps {
  readonly route: SessionRoute
  readonly log: SessionLog
}

function Head({ route, log }: HeadProps) {
  const store = useStore()
  const { timeline, records } = log
  const turns = useMemo(() => timeline.rows.filter(({ kind }) => kind === 'turn'), [timeline])
  const usage = useMemo(() => sumUsage(turns.map((turn) => turn.usage)), [turns])
  const spent = useMemo(() => sumSpent(timeline.rows), [timeline])
  const openedMs = (records[0]?.wallMs ?? records[0]?.nowMs) || undefined
  const title = useMemo(() => readTitle(log), [records])
  const acts = listActs({ session: route.session, rows: timeline.rows, store, readOn: log.readOn })
  return (
    <div class="session-head">
      <div class="session-title">
        <a class="back" href="#/sessions" aria-label="All sessions">
          ←
        </a>
        <h1 class={title === undefined ? 'mono' : ''}>{showLine(title ?? route.session, 100)}</h1>
        <div class="acts">
          {acts.map((act) => (
            <button
              key={act.does}
              type="button"
              class={act.isDangerous ? 'quiet danger-text' : 'quiet'}
              onClick={() => (store.asked.value = act)}
            >
              {act.does}
            </button>
          ))}
        </div>
      </div>
      <dl class="facts">
        {title !== undefined && <Fact name="session" value={route.session} />}
        <Fact name="agent" value={timeline.agent} />
        <Fact name="principal" value={timeline.principal} />
        {openedMs !== undefined && (
          <Fact isMinor name="began" value={`${formatDay(openedMs)} ${formatTime(openedMs)}`} />
        )}
        <Fact name="turns" value={formatCount(turns.length)} />
        <Fact
          name="tokens"
          value={`${formatCount(usage.inputTokens ?? 0)} in, ${formatCount(usage.outputTokens ?? 0)} out`}
        />
        <Fact
          name="cost"
          value={`${formatCost(usage.costMicros)}${spent ? `, and ${formatCost(spent.costMicros)} for other agents` : ''}`}
        />
        <Fact isMinor name="records" value={formatCount(records.length)} />
      </dl>
      <nav class="tabs" aria-label="Parts of the session">
        {TABS.map(([tab, words]) => (
          <a
            key={tab}
            href={formatRoute({ view: 'session', session: route.session, tab })}
            {...(route.tab === tab && { 'aria-current': 'page' as const })}
          >
            {words}
          </a>
        ))}
      </nav>
    </div>
  )
}

function Fact({
  name,
  value,
  isMinor = false,
}: {
  readonly name: string
  readonly value: string
  readonly isMinor?: boolean
}) {
  if (value === '') return null
  return (
    <div class={isMinor ? 'is-minor' : ''}>
      <dt>{name}</dt>
      <dd>{showLine(value, 80)}</dd>
    </div>
  )
}

function readTitle({ records }: SessionLog): string | undefined {
  for (const record of records.toReversed())
    for (const fact of record.facts)
      if (fact.type === 'session-described' && fact.title !== undefined) return fact.title ?? undefined
  return undefined
}

interface OpenProps {
  readonly route: SessionRoute
  readonly rows: readonly TimelineRow[]
  readonly clients: Parameters<typeof findOpenCalls>[1]
  readonly nowMs: number
}

/** Lines shown at once. */
const LINES_MAX = 8

function OpenCalls({ route, rows, clients, nowMs }: OpenProps) {
  const lines = findOpenCalls(rows, clients, nowMs)
  if (lines.length === 0) return null
  return (
    <ul class="where" aria-label="Where is my call">
      {lines.slice(0, LINES_MAX).map(({ row, name, words, state }) => (
        <li key={row}>
          <StateMark state={state} isNamed={false} />
          <span>
            <a href={formatRoute({ view: 'session', session: route.session, tab: 'timeline', row })}>
              {showLine(name, 60)}
            </a>
            {' — '}
            {showLine(words, 400)}
          </span>
        </li>
      ))}
      {lines.length > LINES_MAX && <li class="muted">and {lines.length - LINES_MAX} more in the timeline</li>}
    </ul>
  )
}
