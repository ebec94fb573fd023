// The timeline as rows with bars: what belongs to a turn shares the turn's axis. The selected row is in the address, and
// the inspector shows it.
import { useCallback, useMemo } from 'preact/hooks'
import { formatDuration, formatMoment, formatShortMoment } from './amounts.ts'
import { Inspector } from './inspector.tsx'
import { Empty, StateMark, STATE_WORDS } from './parts.tsx'
import type { Route } from './route.ts'
import type { SessionLog } from './session-log.ts'
import { showLine } from './shown-text.ts'
import { useShortcuts, useStore } from './store.ts'
import type { TimeScale } from './time-scale.ts'
import { createTimeScale } from './time-scale.ts'
import type { Segment, TimelineRow } from './timeline-row.ts'
import { useIsPhone } from './use-is-phone.ts'
import { stepBy, VirtualList } from './virtual-list.tsx'

export interface TimelineProps {
  readonly route: Extract<Route, { readonly view: 'session' }>
  readonly log: SessionLog
  readonly rows: readonly TimelineRow[]
  /** In session time. */
  readonly nowMs: number
}

const ROW_PX = 30
const PHONE_ROW_PX = 48

export function TimelineView({ route, log, rows, nowMs }: TimelineProps) {
  const store = useStore()
  const isPhone = useIsPhone()
  const at = useMemo(() => rows.findIndex(({ id }) => id === route.row), [rows, route.row])
  const selected = rows[at]
  const show = (row: string | undefined): void =>
    store.go({ view: 'session', session: route.session, tab: 'timeline', ...(row !== undefined && { row }) }, 'replace')
  const move = (by: number): void => show(stepBy(rows, at, by)?.id)
  const isTurn = ({ kind, path }: TimelineRow): boolean => kind === 'turn' && path === undefined
  useShortcuts([
    { keys: 'j', does: 'Next row', run: () => move(1) },
    { keys: 'k', does: 'Previous row', run: () => move(-1) },
    { keys: 'ArrowDown', does: 'Next row', run: () => move(1) },
    { keys: 'ArrowUp', does: 'Previous row', run: () => move(-1) },
    {
      keys: ']',
      does: 'Next turn',
      run: () => show((rows.find((row, index) => index > at && isTurn(row)) ?? rows[at])?.id),
    },
    {
      keys: '[',
      does: 'Previous turn',
      run: () => show((rows.findLast((row, index) => index < at && isTurn(row)) ?? rows[at])?.id),
    },
    { keys: 'Escape', does: 'Close the inspector', run: () => show(undefined) },
  ])
  const scales = useScales(rows, nowMs)
  const { wallOffsetMs } = log.timeline
  const draw = useCallback(
    (row: TimelineRow) => <Row row={row} scale={scales(row)} nowMs={nowMs} wallOffsetMs={wallOffsetMs} />,
    [scales, nowMs, wallOffsetMs],
  )
  if (rows.length === 0 && log.failure) return null
  if (rows.length === 0) return log.isLoaded ? <Empty title="The log is empty." /> : <Empty title="Reading the log…" />
  return (
    <div class={`split ${selected ? 'has-detail' : ''}`}>
      <VirtualList
        label="Timeline"
        className="timeline"
        items={rows}
        rowPx={isPhone ? PHONE_ROW_PX : ROW_PX}
        idOf={idOf}
        selected={route.row}
        onSelect={({ id }) => show(id === route.row ? undefined : id)}
        draw={draw}
      />
      {selected && (
        <Inspector
          row={selected}
          rows={rows}
          log={log}
          nowMs={nowMs}
          session={route.session}
          close={() => show(undefined)}
        />
      )}
    </div>
  )
}

const idOf = ({ id }: TimelineRow): string => id

/** The axis of each turn, made when one of its rows is first seen. A finished turn keeps its own while the log grows. */
function useScales(rows: readonly TimelineRow[], nowMs: number): (row: TimelineRow) => TimeScale | undefined {
  const byTurn = useMemo(() => Map.groupBy(rows, ({ turn = '' }) => turn), [rows])
  const known = useMemo(() => new Map<string, TimeScale>(), [rows])
  return useCallback(
    ({ turn }: TimelineRow) => {
      if (turn === undefined) return undefined
      const inside = byTurn.get(turn) ?? []
      const isOpen = inside.some(({ toMs }) => toMs === undefined)
      const scale = known.get(turn) ?? createTimeScale(inside, nowMs)
      if (!isOpen) known.set(turn, scale)
      return scale
    },
    [byTurn, known, nowMs],
  )
}

interface RowProps {
  readonly row: TimelineRow
  readonly scale: TimeScale | undefined
  readonly nowMs: number
  readonly wallOffsetMs: number
}

function Row({ row, scale, nowMs, wallOffsetMs }: RowProps) {
  const { kind, depth, title, outcome, state, fromMs, toMs, taint, path } = row
  const isMoment = row.segments.length === 0
  const took = isMoment ? '' : formatDuration((toMs ?? nowMs) - fromMs)
  return (
    <div class={`row is-${kind}-row ${path ? 'is-below' : ''} ${isMoment ? 'is-moment' : ''}`}>
      <div class="row-name" style={{ paddingLeft: `${Math.min(depth, 8) * 14}px` }}>
        <StateMark state={kind === 'input' ? 'info' : state} isNamed={false} />
        <span class="row-title">{showLine(kind === 'input' ? `“${title}”` : title, 120)}</span>
        {taint.length > 0 && kind === 'call' && (
          <span class="tainted" title="The model had read what strangers wrote">
            tainted
          </span>
        )}
        <span class="row-outcome">{showLine(kind === 'input' ? outcome : outcome === '' ? '' : outcome, 160)}</span>
        <span class="unseen">{STATE_WORDS[state]}</span>
      </div>
      <div class="row-bar" aria-hidden="true">
        {scale &&
          row.segments.map((segment, index) => (
            <Bar key={index} segment={segment} scale={scale} nowMs={nowMs} row={row} />
          ))}
        {scale &&
          row.marks.map(({ atMs, kind: what, text }, index) => (
            <i
              key={index}
              class={`bar-mark is-${what}`}
              title={showLine(text)}
              style={{ left: `${scale.place(atMs) * 100}%` }}
            />
          ))}
        {scale &&
          kind === 'turn' &&
          scale.breaks.map(({ fromMs: from, toMs: to }) => (
            <i
              key={from}
              class="bar-break"
              title={`${formatDuration(to - from)} of waiting, drawn shorter`}
              style={{ left: `${((scale.place(from) + scale.place(to)) / 2) * 100}%` }}
            />
          ))}
      </div>
      <span class="row-time" title={formatMoment(fromMs + wallOffsetMs, Date.now(), true)}>
        {took === '' ? formatShortMoment(fromMs + wallOffsetMs, Date.now()) : took}
      </span>
    </div>
  )
}

interface BarProps {
  readonly segment: Segment
  readonly scale: TimeScale
  readonly nowMs: number
  readonly row: TimelineRow
}

function Bar({ segment: { state, fromMs, toMs, note }, scale, nowMs, row }: BarProps) {
  const isFailed = row.attempt?.error !== undefined
  const from = scale.place(fromMs)
  const to = scale.place(toMs ?? nowMs)
  const words = `${note} · ${formatDuration((toMs ?? nowMs) - fromMs)}`
  return (
    <i
      class={`bar is-${state} is-of-${row.kind} ${toMs === undefined ? 'is-open' : ''} ${isFailed ? 'is-failed' : ''}`}
      title={showLine(words)}
      style={{ left: `${from * 100}%`, width: `max(3px, ${(to - from) * 100}%)` }}
    />
  )
}
