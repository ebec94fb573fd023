// The replay: one record after another, the request of each step as the provider got it, and what changed between two.
// It reads; it runs no model and no tool.
import { useEffect, useState } from 'preact/hooks'
import type { ComponentChildren } from 'preact'
import type { FactOf, SessionRecord } from '@baton/core/machine'
import { formatShortMoment, shortName } from './amounts.ts'
import type { ApiError, RebuiltRequest } from './api.ts'
import { Copy, Difference, Empty, Failure, Json, StateMark, Text } from './parts.tsx'
import { describeRecord, writeRequest } from './record-lines.ts'
import type { Route } from './route.ts'
import { createLogReader } from './session-log.ts'
import type { SessionLog } from './session-log.ts'
import { showLine } from './shown-text.ts'
import { asApiError, useShortcuts, useStore } from './store.ts'
import { writeTestCase } from './test-case.ts'
import { readTimeline } from './timeline.ts'
import { VirtualList } from './virtual-list.tsx'
import { findOpenCalls } from './where-is-my-call.ts'

export interface ReplayProps {
  readonly route: Extract<Route, { readonly view: 'session' }>
  readonly log: SessionLog
}

const ROW_PX = 30
const PARTS = [
  ['record', 'Record'],
  ['request', 'Request'],
  ['changes', 'What changed'],
  ['then', 'Open then'],
] as const

export function ReplayView({ route, log }: ReplayProps) {
  const store = useStore()
  const { part = 'record' } = route
  const [pos, ...above] = (route.row ?? '').split('/').toReversed()
  const path = above.toReversed()
  const records = log.recordsBelow.get(path.join('/')) ?? []
  const first = records[0]?.pos ?? 0
  const last = records.at(-1)?.pos ?? 0
  const wanted = pos === undefined || pos === '' ? last : Number(pos)
  const at = records.find(({ pos }) => pos === wanted) ?? records.at(-1)
  const show = (row: string, shown = part): void =>
    store.go({ view: 'session', session: route.session, tab: 'replay', row, part: shown }, 'replace')
  const go = (to: number): void => show([...path, Math.min(last, Math.max(first, to))].join('/'))
  const here = at?.pos ?? 0
  useShortcuts([
    { keys: 'j', does: 'Next record', run: () => go(here + 1) },
    { keys: 'k', does: 'Previous record', run: () => go(here - 1) },
    { keys: 'ArrowDown', does: 'Next record', run: () => go(here + 1) },
    { keys: 'ArrowUp', does: 'Previous record', run: () => go(here - 1) },
    {
      keys: ']',
      does: 'Next request',
      run: () => go(records.find((one) => one.pos > here && asksModel(one))?.pos ?? here),
    },
    {
      keys: '[',
      does: 'Previous request',
      run: () => go(records.findLast((one) => one.pos < here && asksModel(one))?.pos ?? here),
    },
  ])
  if (!at && log.failure) return null
  if (!at) return <Empty title={log.isLoaded ? 'The log is empty.' : 'Reading the log…'} />
  return (
    <div class="replay">
      <Steps here={here} first={first} last={last} go={go} records={records} session={route.session}>
        <Logs log={log} path={path} show={show} />
      </Steps>
      <div class="split has-detail">
        <VirtualList
          label="Records"
          className="records"
          items={records}
          rowPx={ROW_PX}
          idOf={posOf}
          selected={String(here)}
          onSelect={(one) => go(one.pos)}
          draw={drawRecord}
        />
        <aside class="inspector is-wide" aria-label="Record">
          <div class="tabs" role="group" aria-label="Parts of the record">
            {PARTS.map(([name, words]) => (
              <button
                key={name}
                type="button"
                aria-pressed={part === name}
                onClick={() => show([...path, here].join('/'), name)}
              >
                {words}
              </button>
            ))}
          </div>
          <div class="inspector-body" tabIndex={0} role="region" aria-label="Details">
            {part === 'record' && <Json value={at} />}
            {part === 'request' && (
              <Request {...{ session: route.session, path, records, pos: here }} isChange={false} />
            )}
            {part === 'changes' && <Request {...{ session: route.session, path, records, pos: here }} isChange />}
            {part === 'then' && <Then records={records} record={at} />}
          </div>
        </aside>
      </div>
    </div>
  )
}

function asksModel({ facts }: SessionRecord): boolean {
  return facts.some(({ type }) => type === 'model-started')
}

interface StepsProps {
  readonly here: number
  readonly first: number
  readonly last: number
  readonly go: (pos: number) => void
  readonly records: readonly SessionRecord[]
  readonly session: string
  readonly children: ComponentChildren
}

/** Chooses between the log of the session and those of the agents below it. */
function Logs({ log, path, show }: LogsProps) {
  if (log.children.size === 0) return null
  return (
    <select
      aria-label="Log"
      value={path.join('/')}
      onChange={({ currentTarget: { value } }) => show(value === '' ? '' : `${value}/`)}
    >
      <option value="">{showLine(log.timeline.agent, 40)}</option>
      {[...log.children].map(([key, { agent }]) => (
        <option
          key={key}
          value={key}
        >{`${' '.repeat(2 * key.split('/').length)}${showLine(agent, 40)}, ${shortName(key.split('/').at(-1) ?? '')}`}</option>
      ))}
    </select>
  )
}

interface LogsProps {
  readonly log: SessionLog
  readonly path: readonly string[]
  readonly show: (row: string) => void
}

function Steps({ here, first, last, go, records, session, children }: StepsProps) {
  const store = useStore()
  const [other, setOther] = useState('')
  return (
    <div class="replay-steps">
      {children}
      <button type="button" disabled={here <= first} onClick={() => go(here - 1)} aria-label="Previous record">
        ◀
      </button>
      <input
        type="range"
        aria-label="Position in the log"
        min={first}
        max={last}
        value={here}
        onInput={({ currentTarget }) => go(Number(currentTarget.value))}
      />
      <button type="button" disabled={here >= last} onClick={() => go(here + 1)} aria-label="Next record">
        ▶
      </button>
      <span class="numbers">
        {here} of {last}
      </span>
      <Copy text={() => writeTestCase(records, session, here)}>Copy as a test case</Copy>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (other !== '') store.go({ view: 'compare', session, other })
        }}
      >
        <input
          aria-label="Session to compare with"
          placeholder="Compare with session…"
          value={other}
          onInput={({ currentTarget }) => setOther(currentTarget.value.trim())}
        />
      </form>
    </div>
  )
}

const posOf = ({ pos }: SessionRecord): string => String(pos)
const drawRecord = (record: SessionRecord) => <RecordRow record={record} />

function RecordRow({ record }: { readonly record: SessionRecord }) {
  const { pos, nowMs, wallMs } = record
  return (
    <div class={`record-row ${asksModel(record) ? 'asks' : ''}`}>
      <span class="muted numbers">{pos}</span>
      <span class="muted numbers">{formatShortMoment(wallMs ?? nowMs, Date.now())}</span>
      <span>{showLine(describeRecord(record), 160)}</span>
    </div>
  )
}

interface RequestProps {
  readonly session: string
  /** Delegated calls that lead to the session of the records. */
  readonly path: readonly string[]
  readonly records: readonly SessionRecord[]
  readonly pos: number
  /** Against the request before it. */
  readonly isChange: boolean
}

function Request({ session, path, records, pos, isChange }: RequestProps) {
  const asked = records
    .filter((record) => record.pos <= pos)
    .flatMap(({ facts }) => facts.flatMap((fact) => (fact.type === 'model-started' ? fact : [])))
  const [now, before] = [asked.at(-1), asked.at(-2)]
  const newer = useRequest(session, now?.attempt, path)
  const older = useRequest(session, isChange ? before?.attempt : undefined, path)
  if (now === undefined) return <p class="muted">The model has not been asked yet.</p>
  const failed = newer.failure ?? older.failure
  if (failed) return <Failure error={failed} />
  if (!newer.found) return <p class="muted">Building the request again…</p>
  if (!isChange)
    return (
      <>
        <p class="muted">{nameRequest(now)}, built again from the log.</p>
        <Notes notes={newer.found.notes} />
        <Text text={writeRequest(newer.found.request)} />
      </>
    )
  if (before === undefined) return <p class="muted">This is the first request: there is none before it.</p>
  if (!older.found) return <p class="muted">Building the request before it…</p>
  return (
    <>
      <p class="muted">
        From {nameRequest(before)} to {nameRequest(now)}.
      </p>
      <Notes notes={[...new Set([...older.found.notes, ...newer.found.notes])]} />
      <Difference
        label="Difference of the requests"
        before={writeRequest(older.found.request)}
        after={writeRequest(newer.found.request)}
      />
    </>
  )
}

/** `step 2 (attempt 3, acme/large)`. */
function nameRequest({ step, attempt, model }: FactOf<'model-started'>): string {
  return `the request of step ${step} (attempt ${attempt}, ${model})`
}

/** Lists the ways in which the rebuilt request may differ from the sent one. */
function Notes({ notes }: { readonly notes: readonly string[] }) {
  if (notes.length === 0) return null
  return (
    <ul class="warning">
      {notes.map((note) => (
        <li key={note}>{showLine(note, 400)}</li>
      ))}
    </ul>
  )
}

interface Built {
  /** Number of the attempt, after the calls that lead to its session. */
  readonly of?: string
  readonly found?: RebuiltRequest
  readonly failure?: ApiError
}

function useRequest(session: string, attempt: number | undefined, path: readonly string[]): Built {
  const { api } = useStore()
  const [built, setBuilt] = useState<Built>({})
  const key = [...path, attempt].join('/')
  useEffect(() => {
    if (attempt === undefined) return
    let isOver = false
    api.request(session, attempt, path).then(
      (found) => void (isOver || setBuilt({ of: key, found })),
      (cause: unknown) => void (isOver || setBuilt({ of: key, failure: asApiError(cause) })),
    )
    return () => void (isOver = true)
  }, [session, key])
  return built.of === key ? built : {}
}

/** Shows what was open at a record. */
function Then({ records, record }: { readonly records: readonly SessionRecord[]; readonly record: SessionRecord }) {
  const timeline = readTimeline(records.filter(({ pos }) => pos <= record.pos))
  const lines = findOpenCalls(timeline.rows, timeline.clients, record.nowMs)
  if (lines.length === 0) return <p class="muted">Nothing was open at this record.</p>
  return (
    <ul class="where">
      {lines.map(({ row, name, words, state }) => (
        <li key={row}>
          <StateMark state={state} isNamed={false} />
          <span>
            <b>{showLine(name, 60)}</b> — {showLine(words, 400)}
          </span>
        </li>
      ))}
    </ul>
  )
}

/** Reads the whole log of a session once. */
export async function readWholeLog(
  api: Parameters<typeof createLogReader>[0],
  session: string,
): Promise<readonly SessionRecord[]> {
  return (await createLogReader(api, session).readOn()).records
}
