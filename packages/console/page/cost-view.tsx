// The cost view: spending by day, agent and model, slow tools, and failures by code.
import type { ComponentChild } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { formatCost, formatCount, formatDay, formatDuration } from './amounts.ts'
import type { ApiError, CostRow, Costs } from './api.ts'
import { ViewHead } from './app.tsx'
import type { CostSum } from './cost-sums.ts'
import { listDays, sumCosts } from './cost-sums.ts'
import { Empty, Failure } from './parts.tsx'
import type { Route } from './route.ts'
import { formatRoute } from './route.ts'
import { save } from './session-acts.ts'
import { showLine } from './shown-text.ts'
import { asApiError, useShortcuts, useStore } from './store.ts'

type CostRoute = Extract<Route, { readonly view: 'cost' }>
const DAY_MS = 86_400_000
const RANGES = [
  ['1', 'Today'],
  ['7', '7 days'],
  ['30', '30 days'],
  ['all', 'All time'],
] as const

export function CostView({ route }: { readonly route: CostRoute }) {
  const store = useStore()
  const days = route.days ?? DAYS
  const { costs, failure, query, setFailure } = useCosts(route)
  const download = async (): Promise<void> => {
    try {
      save(await store.api.download('cost', { ...query, format: 'csv' }), `cost-${formatDay(Date.now())}.csv`)
    } catch (cause) {
      setFailure(asApiError(cause))
    }
  }
  return (
    <section class="view is-scrolling" tabIndex={0} aria-label="Cost">
      <ViewHead title="Cost">
        <div class="filters">
          <Ranges days={route.days} set={(value) => store.go({ ...route, days: value }, 'replace')} />
          {costs && costs.rows.length > 0 && (
            <select
              aria-label="Agent"
              value={route.agent ?? ''}
              onChange={({ currentTarget }) => store.go({ ...route, agent: currentTarget.value }, 'replace')}
            >
              <option value="">Every agent</option>
              {[
                ...new Set([
                  ...(route.agent === undefined ? [] : [route.agent]),
                  ...costs.rows.map(({ agent }) => agent),
                ]),
              ].map((agent) => (
                <option key={agent} value={agent}>
                  {agent}
                </option>
              ))}
            </select>
          )}
          <button type="button" class="quiet" onClick={() => void download()}>
            Export CSV
          </button>
        </div>
      </ViewHead>
      {failure && <Failure error={failure} />}
      {costs && <Report costs={costs} days={days} />}
      {!costs && !failure && <Empty title="Adding it up…" />}
    </section>
  )
}

/** Days of a report without a choice. */
const DAYS = '7'

interface CostQuery {
  readonly days?: string
  readonly agent?: string
  readonly principal?: string
}

/** Reads the report of a period. */
export function useCosts({ days = DAYS, agent, principal }: CostQuery) {
  const { api } = useStore()
  const [costs, setCosts] = useState<Costs | undefined>(undefined)
  const [failure, setFailure] = useState<ApiError | undefined>(undefined)
  const fromMs = days === 'all' ? 0 : startOfDay(Date.now() - (Number(days) - 1) * DAY_MS)
  const query = { from: fromMs, agent, principal }
  useEffect(() => {
    // Reports are expensive for the server, so a superseded one is aborted.
    const end = new AbortController()
    api.costs(query, end.signal).then(
      (found) => void (end.signal.aborted || (setCosts(found), setFailure(undefined))),
      (cause: unknown) => void (end.signal.aborted || setFailure(asApiError(cause))),
    )
    return () => end.abort()
  }, [days, agent, principal])
  return { costs, failure, query, setFailure }
}

/** Chooses the period of a report. */
export function Ranges({
  days = DAYS,
  set,
}: {
  readonly days?: string | undefined
  readonly set: (days: string) => void
}) {
  useShortcuts(RANGES.map(([value, words], index) => ({ keys: String(index + 1), does: words, run: () => set(value) })))
  return (
    <div class="segments" role="group" aria-label="Days">
      {RANGES.map(([value, words]) => (
        <button key={value} type="button" aria-pressed={days === value} onClick={() => set(value)}>
          {words}
        </button>
      ))}
    </div>
  )
}

function startOfDay(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS
}

function Report({ costs, days }: { readonly costs: Costs; readonly days: string }) {
  const { rows, sessionsRead, sessionsLeft, more, cut } = costs
  if (rows.length === 0 && costs.tools.length === 0) return <Empty title="No model was asked in this time." />
  const [all] = sumCosts(rows, () => '')
  return (
    <>
      <dl class="cards">
        <Card name="Cost" value={formatSum(all)} />
        <Card name="Steps" value={formatCount(all?.steps ?? 0)} />
        <Card name="Input tokens" value={formatCount(all?.inputTokens ?? 0)} />
        <Card name="of them cached" value={formatCount(all?.cachedTokens ?? 0)} />
        <Card name="Output tokens" value={formatCount(all?.outputTokens ?? 0)} />
        <Card name="Sessions read" value={formatCount(sessionsRead)} />
      </dl>
      {sessionsLeft > 0 && (
        <p class="warning part">
          {more ? 'More than ' : ''}
          {formatCount(sessionsLeft)} other sessions of this time are not in these numbers.
        </p>
      )}
      {cut && <p class="warning part">There were too many different rows: some are left out.</p>}
      <Days rows={rows} days={days} />
      <div class="tables">
        <Sums title="By agent" of={sumCosts(rows, ({ agent }) => agent)} />
        <Sums title="By model" of={sumCosts(rows, ({ model }) => model)} />
        <Tools tools={costs.tools} />
        <Failures failures={costs.failures} days={days} />
      </div>
    </>
  )
}

function formatSum(sum: CostSum | undefined): string {
  if (sum?.costMicros === undefined) return 'unknown'
  return `${sum.isPartial ? 'at least ' : ''}${formatCost(sum.costMicros)}`
}

function Card({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div class="card">
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

/** Days drawn at most. */
const DAYS_MAX = 60
const HEIGHT = 120

/** A bar for each day: dollars where every price is known, else tokens. */
function Days({ rows, days }: { readonly rows: readonly CostRow[]; readonly days: string }) {
  const list = listDays(rows, days === 'all' ? undefined : Number(days)).slice(-DAYS_MAX)
  if (list.length < 2) return null
  const hasCost = list.every(({ isPartial }) => !isPartial) && list.some(({ costMicros = 0 }) => costMicros > 0)
  const valueOf = (day: CostSum): number => (hasCost ? (day.costMicros ?? 0) : day.inputTokens + day.outputTokens)
  const say = (day: CostSum): string => (hasCost ? formatCost(day.costMicros) : `${formatCount(valueOf(day))} tokens`)
  const most = Math.max(...list.map(valueOf), Number.MIN_VALUE)
  return (
    <figure class="chart">
      <figcaption>{hasCost ? 'Dollars' : 'Tokens'} by day</figcaption>
      <svg
        viewBox={`0 0 ${list.length * 20} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={list.map((day) => `${day.key}: ${say(day)}`).join(', ')}
      >
        {list.map((day, index) => {
          const height = Math.max(valueOf(day) > 0 ? 2 : 0, (valueOf(day) / most) * (HEIGHT - 4))
          return (
            <rect key={day.key} x={index * 20 + 6} y={HEIGHT - height} width={8} height={height}>
              <title>{`${day.key}: ${say(day)}`}</title>
            </rect>
          )
        })}
      </svg>
      <div class="chart-ends" aria-hidden="true">
        <span>{list[0]?.key}</span>
        <span>most: {say(list.reduce((best, day) => (valueOf(day) > valueOf(best) ? day : best)))}</span>
        <span>{list.at(-1)?.key}</span>
      </div>
    </figure>
  )
}

function Sums({ title, of }: { readonly title: string; readonly of: readonly CostSum[] }) {
  const most = Math.max(...of.map(({ costMicros = 0 }) => costMicros), Number.MIN_VALUE)
  return (
    <Table title={title} names={['', 'Steps', 'In', 'Out', 'Cost']}>
      {of.map((sum) => (
        <tr key={sum.key}>
          <th scope="row">
            {showLine(sum.key, 60)}
            <i class="share" aria-hidden="true" style={{ width: `${((sum.costMicros ?? 0) / most) * 100}%` }} />
          </th>
          <td>{formatCount(sum.steps)}</td>
          <td>{formatCount(sum.inputTokens)}</td>
          <td>{formatCount(sum.outputTokens)}</td>
          <td>{formatSum(sum)}</td>
        </tr>
      ))}
    </Table>
  )
}

function Tools({ tools }: Pick<Costs, 'tools'>) {
  const slowest = tools.toSorted((a, b) => (b.ms?.p95 ?? -1) - (a.ms?.p95 ?? -1))
  return (
    <Table title="Tools, the slowest first" names={['', 'Calls', 'Failed', 'Median', '95 %', 'Slowest']}>
      {slowest.map(({ name, agent, calls, failed, ms }) => (
        <tr key={`${agent} ${name}`}>
          <th scope="row">
            <span class="mono">{showLine(name, 50)}</span> <span class="muted">{showLine(agent, 40)}</span>
          </th>
          <td>{formatCount(calls)}</td>
          <td class={failed > 0 ? 'error-text' : ''}>{formatCount(failed)}</td>
          <td>{ms ? formatDuration(ms.median) : '–'}</td>
          <td>{ms ? formatDuration(ms.p95) : '–'}</td>
          <td>{ms ? formatDuration(ms.max) : '–'}</td>
        </tr>
      ))}
    </Table>
  )
}

function Failures({ failures, days }: Pick<Costs, 'failures'> & { readonly days: string }) {
  return (
    <Table title="Failures by code" names={['', 'Times', 'Example']}>
      {failures.map(({ code, tool, count, example }) => (
        <tr key={`${code} ${tool ?? ''}`}>
          <th scope="row">
            <a class="mono" href={formatRoute({ view: 'failures', days, code })}>
              {showLine(code, 60)}
            </a>{' '}
            <span class="muted">{showLine(tool ?? '', 40)}</span>
          </th>
          <td>{formatCount(count)}</td>
          <td>
            {example && (
              <a
                href={formatRoute({
                  view: 'session',
                  session: example.session,
                  tab: 'timeline',
                  ...(example.callId !== undefined && { row: example.callId }),
                })}
              >
                {showLine(example.session, 24)}
              </a>
            )}
          </td>
        </tr>
      ))}
    </Table>
  )
}

interface TableProps {
  readonly title: string
  /** The first is above the names of the rows. */
  readonly names: readonly string[]
  readonly children: readonly ComponentChild[]
}

function Table({ title, names, children }: TableProps) {
  return (
    <section class="table">
      <h2>{title}</h2>
      {children.length === 0 ? (
        <p class="muted">None.</p>
      ) : (
        <div class="table-scroll" tabIndex={0} role="region" aria-label={title}>
          <table class="numbers">
            <thead>
              <tr>
                {names.map((name, index) =>
                  index === 0 ? (
                    <td key={index} />
                  ) : (
                    <th key={name} scope="col">
                      {name}
                    </th>
                  ),
                )}
              </tr>
            </thead>
            <tbody>{children}</tbody>
          </table>
        </div>
      )}
    </section>
  )
}
