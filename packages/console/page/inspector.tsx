// Everything about one row at once: arguments, result, error, who decided, taint and from where, attempts, leases, cost,
// tokens, and the records of the log.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Settlement } from '@baton/core/machine'
import { formatCost, formatCount, formatDay, formatDuration, formatMoment, formatTime } from './amounts.ts'
import { describeDecision } from './call-rows.ts'
import { Copy, Difference, Field, Json, Source, StateMark, STATE_WORDS, Text } from './parts.tsx'
import { formatRoute } from './route.ts'
import { listRowActs } from './session-acts.ts'
import type { SessionLog } from './session-log.ts'
import { indentJson, showLine } from './shown-text.ts'
import { useShortcuts, useStore } from './store.ts'
import type { AttemptDetails, CallDetails, RowState, TimelineRow } from './timeline-row.ts'
import { sumSpent, sumUsage } from './timeline.ts'
import { findOpenCalls } from './where-is-my-call.ts'

export interface InspectorProps {
  readonly row: TimelineRow
  readonly rows: readonly TimelineRow[]
  readonly log: SessionLog
  readonly nowMs: number
  readonly session: string
  readonly close: () => void
}

export function Inspector(props: InspectorProps) {
  const { row, log, nowMs, session, close } = props
  const store = useStore()
  const [isRaw, showRaw] = useState(false)
  const link = formatRoute({ view: 'session', session, tab: 'timeline', row: row.id })
  useShortcuts([{ keys: 'r', does: 'Raw records of the row', run: () => showRaw(!isRaw) }])
  const acts = listRowActs(row, { session, store, readOn: log.readOn })
  return (
    <aside class="inspector" aria-label="Selected row">
      <div class="inspector-head">
        <StateMark state={row.state} />
        <h2>{showLine(row.title, 80)}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={close}>
          ✕
        </button>
      </div>
      <div class="inspector-tools">
        <Copy text={() => new URL(link, location.href).href}>Copy link</Copy>
        <button type="button" class="quiet" aria-pressed={isRaw} onClick={() => showRaw(!isRaw)}>
          Raw records <kbd>r</kbd>
        </button>
        {acts.map((act) => (
          <button key={act.does} type="button" class="quiet danger-text" onClick={() => (store.asked.value = act)}>
            {act.does}
          </button>
        ))}
      </div>
      <div class="inspector-body" tabIndex={0} role="region" aria-label="Details">
        {isRaw ? <Records {...props} /> : <Details {...props} nowMs={nowMs} />}
      </div>
    </aside>
  )
}

/** Shows the records of the log that concern a row. */
function Records({ row, log, session }: InspectorProps) {
  const records = log.recordsBelow.get((row.path ?? []).join('/')) ?? []
  return (
    <>
      {row.records.map((pos) => (
        <Section key={pos} title={`Record ${pos}${row.path ? ' of the child' : ''}`}>
          <a href={formatRoute({ view: 'session', session, tab: 'replay', row: placeOf(row, pos) })}>
            Open in the replay
          </a>
          <Json value={records.find((record) => record.pos === pos)} />
        </Section>
      ))}
    </>
  )
}

/** The place of a record of the row's session in the replay. */
function placeOf({ path = [] }: TimelineRow, pos: number): string {
  return [...path, pos].join('/')
}

function Details({ row, rows, log, nowMs, session }: InspectorProps) {
  const { call, text, usage, marks, taint } = row
  const where = findOpenCalls([row], log.timeline.clients, nowMs)[0]
  const below = row.kind === 'turn' ? rows.filter((one) => one.parent === row.id && one.kind === 'step') : []
  const attempts = listAttempts(row, rows)
  return (
    <>
      {where && <p class="where-one">{showLine(where.words, 400)}</p>}
      <ToInbox call={call} session={session} isOpen={row.toMs === undefined} />
      <dl class="fields">
        <Field name="State">
          {STATE_WORDS[row.state]}
          {row.outcome !== '' && row.outcome !== STATE_WORDS[row.state] && !call?.settlement && row.kind !== 'step'
            ? `: ${showLine(row.outcome, 300)}`
            : ''}
        </Field>
        <Times row={row} wallOffsetMs={log.timeline.wallOffsetMs} nowMs={nowMs} />
        {usage && <Used usage={row.kind === 'turn' ? sumUsage([usage]) : usage} />}
        <Delegated row={row} rows={rows} />
        <Models attempts={attempts} state={row.state} />
        {call && <CallFields call={call} nowMs={nowMs} wallOffsetMs={log.timeline.wallOffsetMs} />}
      </dl>
      {below.length > 0 && <Steps steps={below} session={session} />}
      {call && <CallTexts call={call} />}
      {text !== undefined && text !== '' && (
        <Section title={row.kind === 'input' ? 'Message' : 'Text'}>
          <Text text={text} />
        </Section>
      )}
      {taint.length > 0 && (
        <Section title="Taint">
          <p>The model had read what strangers may have written:</p>
          <ul>
            {taint.map((source) => (
              <Source key={source.row} source={source} session={session} />
            ))}
          </ul>
        </Section>
      )}
      <ToRequest row={row} attempt={attempts.at(-1)} session={session} />
      {(marks.length > 0 || row.segments.length > 0) && <History row={row} wallOffsetMs={log.timeline.wallOffsetMs} />}
      {row.fact && row.kind === 'note' && (
        <Section title="Fact">
          <Json value={row.fact} />
        </Section>
      )}
    </>
  )
}

/** The requests to models of an attempt, a step or a turn, in their order. */
function listAttempts(row: TimelineRow, rows: readonly TimelineRow[]): readonly AttemptDetails[] {
  if (row.attempt) return [row.attempt]
  const isBelow = (one: TimelineRow): boolean => one.parent === row.id
  if (row.kind === 'step') return rows.filter(isBelow).flatMap(({ attempt }) => attempt ?? [])
  return row.kind === 'turn' ? rows.filter(isBelow).flatMap((step) => listAttempts(step, rows)) : []
}

/** Names the models that answered, and the failed ones with their errors. */
function Models({ attempts, state }: ModelsProps) {
  const failed = attempts.filter(({ error, supersededFor }) => error !== undefined || supersededFor !== undefined)
  const answered = [...new Set(attempts.filter((one) => !failed.includes(one)).map(({ model }) => model))]
  return (
    <>
      {answered.length > 0 && (
        <Field name={state === 'ok' ? 'Answered by' : 'Asked'}>{showLine(answered.join(', '), 300)}</Field>
      )}
      {failed.length > 0 && (
        <Field name="Failed">
          <ul class="plain">
            {failed.map(({ attempt, model, error, supersededFor }) => (
              <li key={attempt}>
                {showLine(`${model}: ${error ? `${error.code}, ${error.message}` : supersededFor}`, 400)}
              </li>
            ))}
          </ul>
        </Field>
      )}
    </>
  )
}

interface ModelsProps {
  readonly attempts: readonly AttemptDetails[]
  /** State of the row. */
  readonly state: RowState
}

/** Shows the tokens and cost of delegated agents, which the numbers of the turn leave out. */
function Delegated({ row, rows }: { readonly row: TimelineRow; readonly rows: readonly TimelineRow[] }) {
  if (row.kind !== 'turn') return null
  const spent = sumSpent(rows.filter(({ turn, path }) => turn === row.id && path === undefined))
  if (!spent) return null
  return (
    <>
      <Field name="Other agents">{`${formatCount(spent.tokens)} tokens, ${formatCost(spent.costMicros)}`}</Field>
      <Field name="Cost of all">{formatCost((row.usage?.costMicros ?? 0) + spent.costMicros)}</Field>
    </>
  )
}

/** Leads to what the model got, and to what changed since the request before. */
function ToRequest({ row, attempt, session }: ToRequestProps) {
  if (!attempt || row.kind === 'turn') return null
  const place = { view: 'session', session, tab: 'replay', row: placeOf(row, attempt.pos) } as const
  return (
    <p class="links">
      <a href={formatRoute({ ...place, part: 'request' })}>The request as the model got it</a>
      <a href={formatRoute({ ...place, part: 'changes' })}>What changed since the request before</a>
    </p>
  )
}

interface ToRequestProps {
  readonly row: TimelineRow
  readonly attempt: AttemptDetails | undefined
  readonly session: string
}

/** A call that waits for a person is decided in the inbox. */
function ToInbox({ call, session, isOpen }: ToInboxProps) {
  const approval = call?.approvals.at(-1)
  if (!isOpen || !approval || approval.decided) return null
  return (
    <p>
      <a href={formatRoute({ view: 'inbox', session, approval: approval.id })}>Decide it in the inbox</a>
    </p>
  )
}

interface ToInboxProps {
  readonly call: CallDetails | undefined
  readonly session: string
  readonly isOpen: boolean
}

function Times({
  row,
  wallOffsetMs,
  nowMs,
}: {
  readonly row: TimelineRow
  readonly wallOffsetMs: number
  readonly nowMs: number
}) {
  const { fromMs, toMs, segments } = row
  const began = `${formatDay(fromMs + wallOffsetMs)} ${formatTime(fromMs + wallOffsetMs, true)}`
  if (segments.length === 0) return <Field name="Time">{began}</Field>
  return (
    <Field name="Time">
      {began} → {toMs === undefined ? 'still open' : formatMoment(toMs + wallOffsetMs, fromMs + wallOffsetMs, true)} ·{' '}
      {formatDuration((toMs ?? nowMs) - fromMs)}
    </Field>
  )
}

function Used({ usage }: { readonly usage: NonNullable<TimelineRow['usage']> }) {
  const { inputTokens, outputTokens, cacheReadTokens, reasoningTokens, costMicros } = usage
  if (inputTokens === undefined && outputTokens === undefined && costMicros === undefined)
    return <Field name="Tokens">not reported</Field>
  const parts = [
    `${formatCount(inputTokens ?? 0)} in`,
    ...(cacheReadTokens === undefined ? [] : [`${formatCount(cacheReadTokens)} of them cached`]),
    `${formatCount(outputTokens ?? 0)} out`,
    ...(reasoningTokens === undefined ? [] : [`${formatCount(reasoningTokens)} of them thoughts`]),
  ]
  return (
    <>
      <Field name="Tokens">{parts.join(', ')}</Field>
      <Field name="Cost">{costMicros === undefined ? 'the price is not known' : formatCost(costMicros)}</Field>
    </>
  )
}

const EFFECTS = {
  pure: 'pure: may run as often as needed',
  idempotent: 'idempotent: repeated with the same key',
  once: 'once: begun at most once',
} as const

interface CallFieldsProps {
  readonly call: CallDetails
  readonly nowMs: number
  readonly wallOffsetMs: number
}

function CallFields({ call, nowMs, wallOffsetMs }: CallFieldsProps) {
  const { proposal, child, offeredTo, claimedBy, attempts, approvals } = call
  const runs = {
    server: 'the server',
    client: 'a client',
    child: `the agent ${child?.agent ?? proposal.delegate?.agent ?? ''}`,
    machine: 'the session itself',
  }[proposal.runs]
  return (
    <>
      <Field name="Call">
        <span class="mono">{call.callId}</span>
      </Field>
      <Field name="Runs on">{runs}</Field>
      <Field name="Effect">{EFFECTS[proposal.effect]}</Field>
      {attempts.length > 1 && <Field name="Attempts">{attempts.length}</Field>}
      {offeredTo.length > 0 && <Field name="Offered to">{offeredTo.join(', then ')}</Field>}
      {claimedBy !== undefined && <Field name="Claimed by">{claimedBy}</Field>}
      {call.task && <Field name="Task">{call.task === 'running' ? 'continues in the background' : 'has ended'}</Field>}
      {proposal.asksFor !== undefined && <Field name="Why it asks">{showLine(proposal.asksFor, 500)}</Field>}
      {approvals.map(({ id, decided, decidedMs, given, expiresAtMs }) => (
        <Field key={id} name="Approval">
          {given.map(({ principal, note }) =>
            showLine(`approved by ${principal}${note === undefined ? '' : ` (note: ${note})`}; `, 500),
          )}
          {decided
            ? showLine(describeDecision(decided), 500)
            : `open, ${expiresAtMs > nowMs ? `expires in ${formatDuration(expiresAtMs - nowMs)}` : 'expired'}`}
          {decidedMs !== undefined && (
            <time>, {`${formatDay(decidedMs + wallOffsetMs)} ${formatTime(decidedMs + wallOffsetMs)}`}</time>
          )}
        </Field>
      ))}
      {call.provenance && (
        <Field name="Source">
          {call.provenance.source ?? 'the tool'}, {call.provenance.trust}
        </Field>
      )}
      {child?.spent && (
        <Field name="Below it">{`${formatCount(child.spent.tokens)} tokens, ${formatCount(child.spent.calls)} calls, ${formatCost(child.spent.costMicros)}`}</Field>
      )}
      {child?.lost !== undefined && <Field name="Lost">{showLine(child.lost, 300)}</Field>}
      {proposal.repairs && <Field name="Repaired">{proposal.repairs.join(', ')}</Field>}
    </>
  )
}

function CallTexts({ call }: { readonly call: CallDetails }) {
  const { settlement, edited, ignored, detail } = call
  return (
    <>
      <Section title={edited === undefined ? 'Arguments' : 'Arguments, as a person changed them'}>
        {edited === undefined ? (
          <Json value={call.arguments} />
        ) : (
          <Difference label="Change of the arguments" before={indentJson(call.arguments)} after={indentJson(edited)} />
        )}
      </Section>
      {settlement && (
        <Section title={settlement.type === 'ok' ? 'Result' : 'Why it failed'}>
          <Result settlement={settlement} />
          {detail !== undefined && <Text text={detail} />}
        </Section>
      )}
      {ignored.length > 0 && (
        <Section title="Results that changed nothing">
          {ignored.map(({ reason, outcome, preview }, index) => (
            <div key={index}>
              <p class="muted">
                {reason}, {outcome}
              </p>
              <Text text={preview} />
            </div>
          ))}
        </Section>
      )}
    </>
  )
}

function Result({ settlement }: { readonly settlement: Settlement }) {
  if (settlement.type !== 'ok') return <Json value={settlement} />
  if (settlement.value !== undefined) return <Json value={settlement.value} />
  return (
    <>
      {settlement.content.map((part, index) =>
        part.type === 'text' ? (
          <Text key={index} text={indentJson(part.text)} />
        ) : (
          <p key={index}>{`[${part.type} ${part.mediaType}]`}</p>
        ),
      )}
      {settlement.content.length === 0 && <p class="muted">It returned nothing.</p>}
    </>
  )
}

/** The stretches and moments of its bar, in words. */
function History({ row, wallOffsetMs }: { readonly row: TimelineRow; readonly wallOffsetMs: number }) {
  const moments = [
    ...row.segments.map(({ fromMs, toMs, note, state }) => ({
      atMs: fromMs,
      words: note,
      state,
      took: toMs === undefined ? 'still open' : formatDuration(toMs - fromMs),
    })),
    ...row.marks.map(({ atMs, text }) => ({ atMs, words: text, state: 'info' as const, took: '' })),
  ].toSorted((a, b) => a.atMs - b.atMs)
  return (
    <Section title="What happened">
      <ol class="history">
        {moments.map(({ atMs, words, state, took }, index) => (
          <li key={index}>
            <StateMark state={state} isNamed={false} />
            <time class="muted">{formatTime(atMs + wallOffsetMs, true)}</time>
            <span>{showLine(words, 300)}</span>
            <span class="muted">{took}</span>
          </li>
        ))}
      </ol>
    </Section>
  )
}

/** Shows the cost of each step of a turn. */
function Steps({ steps, session }: { readonly steps: readonly TimelineRow[]; readonly session: string }) {
  return (
    <Section title="Steps">
      <table class="numbers">
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">In</th>
            <th scope="col">Out</th>
            <th scope="col">Cost</th>
          </tr>
        </thead>
        <tbody>
          {steps.map(({ id, title, usage = {} }) => (
            <tr key={id}>
              <td>
                <a href={formatRoute({ view: 'session', session, tab: 'timeline', row: id })}>{title}</a>
              </td>
              <td>{formatCount(usage.inputTokens ?? 0)}</td>
              <td>{formatCount(usage.outputTokens ?? 0)}</td>
              <td>{formatCost(usage.costMicros)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  )
}

export function Section({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="part">
      <h3>{title}</h3>
      {children}
    </section>
  )
}
