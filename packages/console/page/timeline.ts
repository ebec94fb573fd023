// Folds the records of a session into the rows of its timeline: a pure function. It knows no page and no clock, so a running
// session and a finished one have the same rows.
import type { Fact, FactOf, FactType, InputBody, SessionRecord } from '@baton/core/machine'
import type { Usage } from '@baton/core'
import { CALL_FOLD } from './call-rows.ts'
import type { RowState, TaintSource, Timeline, TimelineRow } from './timeline-row.ts'
import type { Place } from './timeline-draft.ts'
import { TimelineDraft } from './timeline-draft.ts'
import { formatDuration, shortName } from './amounts.ts'

export function readTimeline(records: readonly SessionRecord[]): Timeline {
  const draft = new TimelineDraft()
  for (const record of records) {
    draft.begin(record)
    for (const fact of record.facts) foldFact(draft, fact, record)
  }
  return draft.finish()
}

/**
 * Puts the timelines of children below the calls that they work for. `children` has them by the ids of the calls that lead
 * to them, joined by `/`.
 */
export function withChildren(
  rows: readonly TimelineRow[],
  children: ReadonlyMap<string, Timeline>,
  path: readonly string[] = [],
): readonly TimelineRow[] {
  return rows.flatMap((row) => {
    const below = row.call?.child ? [...path, row.call.callId] : undefined
    const child = below && children.get(below.join('/'))
    if (!child) return [row]
    const inside = child.rows.map((inner): TimelineRow => moveBelow(inner, row, below))
    return [row, ...withChildren(inside, children, below)]
  })
}

function moveBelow(inner: TimelineRow, above: TimelineRow, path: readonly string[]): TimelineRow {
  const place = (id: string): string => `${path.join('/')}/${id}`
  return {
    ...inner,
    id: place(inner.id),
    path,
    depth: inner.depth + above.depth + 1,
    parent: inner.parent === undefined ? above.id : place(inner.parent),
    taint: inner.taint.map((source) => ({ ...source, row: place(source.row) })),
    ...(above.turn !== undefined && { turn: above.turn }),
  }
}

type Fold = { readonly [Type in FactType]?: (draft: TimelineDraft, fact: FactOf<Type>, place: Place) => void }

function foldFact(draft: TimelineDraft, fact: Fact, { pos, nowMs }: SessionRecord): void {
  const fold = (FOLD as Fold)[fact.type] as ((draft: TimelineDraft, fact: Fact, place: Place) => void) | undefined // of this type
  fold?.(draft, fact, { pos, nowMs })
}

/** Returns an input in one line. */
function inputTitle(body: InputBody): string {
  switch (body.type) {
    case 'user':
      return body.parts.map((part) => (part.type === 'text' ? part.text : `[${part.type} ${part.mediaType}]`)).join(' ')
    case 'transcript':
      return `${body.speaker}: ${body.text}`
    case 'urgent':
      return `event ${body.name}${body.message === undefined ? '' : `: ${body.message}`}`
    case 'task':
      return `task ${body.name} has ended (${body.outcome})`
  }
}

const OUTCOMES: Readonly<Record<FactOf<'turn-finished'>['outcome'], RowState>> = {
  answered: 'ok',
  tool: 'ok',
  silent: 'ok',
  interrupted: 'cancelled',
  refused: 'error',
  failed: 'error',
  stopped: 'cancelled',
}

const TURN_FOLD: Fold = {
  'session-opened': (draft, fact, place) => {
    draft.open(fact)
    draft.note(place, `the session began with the agent ${fact.agent}, for ${fact.principal}`, fact)
  },
  'input-accepted': (draft, fact, place) => {
    const title = inputTitle(fact.body)
    draft.add(place, {
      id: `input-${fact.inputId}`,
      kind: 'input',
      depth: 0,
      title,
      outcome: 'waiting for the model',
      state: 'info',
      text: title,
      fact,
    })
    const untrusted =
      fact.body.type === 'user'
        ? fact.body.untrusted
        : [fact.body.type === 'transcript' ? undefined : fact.body.untrusted].filter((name) => name !== undefined)
    for (const name of untrusted ?? []) draft.taint.push({ name, row: `input-${fact.inputId}` })
  },
  'input-withdrawn': (draft, fact, place) =>
    draft.change(`input-${fact.inputId}`, place, { outcome: 'withdrawn', state: 'cancelled' }),
  'inputs-entered': (draft, fact, place) => {
    for (const id of fact.entries.flatMap(({ inputs }) => inputs)) {
      const turn = draft.turn
      draft.change(`input-${id}`, place, { outcome: turn ? `entered ${turn.title}` : 'entered' })
      const details = turn?.turnDetails
      if (turn && details)
        draft.change(turn.id, place, { turnDetails: { ...details, inputs: [...details.inputs, id] } })
    }
  },
  'turn-started': (draft, fact, place) => {
    const id = `turn-${fact.turn}`
    draft.add(place, {
      id,
      kind: 'turn',
      depth: 0,
      turn: id,
      title: `turn ${fact.turn}`,
      outcome: 'in progress',
      state: 'running',
      turnDetails: { turn: fact.turn, started: fact, inputs: [] },
      usage: {},
    })
    draft.enterTurn(id)
    draft.go(id, place, { state: 'running', note: 'in progress' })
  },
  'turn-finished': (draft, fact, place) => {
    const id = `turn-${fact.turn}`
    const row = draft.find(id)
    const error = fact.error ? `: ${fact.error.code}, ${fact.error.message}` : ''
    draft.change(id, place, {
      outcome: `${fact.outcome}${error}`,
      ...(fact.text !== '' && { text: fact.text }),
      ...(row?.turnDetails && { turnDetails: { ...row.turnDetails, finished: fact } }),
    })
    draft.end(id, place, OUTCOMES[fact.outcome])
    draft.leaveTurn(place, fact.outcome === 'interrupted' ? 'cancelled' : 'error')
  },
}

const STEP_FOLD: Fold = {
  'model-started': (draft, fact, place) => {
    const step = `step-${fact.step}`
    if (!draft.find(step)) {
      const at = { depth: 1, ...draft.inTurn() }
      draft.add(place, {
        id: step,
        kind: 'step',
        ...at,
        title: `step ${fact.step}`,
        outcome: '',
        state: 'running',
        usage: {},
      })
    }
    draft.go(step, place, { state: 'running', note: `${fact.model} is writing` })
    draft.change(step, place, { outcome: fact.model })
    const details = { attempt: fact.attempt, step: fact.step, model: fact.model, pos: place.pos, started: fact }
    draft.add(place, {
      id: `attempt-${fact.attempt}`,
      kind: 'attempt',
      parent: step,
      depth: 2,
      ...(draft.turn && { turn: draft.turn.id }),
      title: fact.model,
      outcome: 'is asked',
      state: 'running',
      attempt: details,
    })
    draft.go(`attempt-${fact.attempt}`, place, { state: 'running', note: 'is asked' })
  },
  'attempt-superseded': (draft, fact, place) => {
    const why = SUPERSEDED[fact.reason] + (fact.error ? ` (${fact.error.code}: ${fact.error.message})` : '')
    const step = endAttempt(draft, fact.attempt, place, { why, state: 'superseded', fact })
    if (step === undefined) return
    const pause = fact.retryAtMs === undefined ? '' : `, asked again in ${formatDuration(fact.retryAtMs - place.nowMs)}`
    draft.mark(step, place, { kind: 'retry', text: `attempt ${fact.attempt}: ${why}${pause}` })
    draft.go(
      step,
      place,
      fact.retryAtMs === undefined
        ? { state: 'queued', note: 'asks again' }
        : { state: 'time', note: `waiting to ask again${pause}` },
    )
  },
  'attempt-failed': (draft, fact, place) => {
    const why = `${fact.error.code}: ${fact.error.message}`
    const step = endAttempt(draft, fact.attempt, place, { why, state: 'error', fact })
    if (step === undefined) return
    draft.change(step, place, { outcome: why })
    draft.end(step, place, 'error')
  },
  'step-finished': (draft, fact, place) => {
    const step = `step-${fact.step}`
    draft.change(`attempt-${fact.attempt}`, place, {
      outcome: fact.interrupted ? 'was interrupted' : 'answered',
      title: fact.model,
    })
    draft.end(`attempt-${fact.attempt}`, place, fact.interrupted ? 'cancelled' : 'ok')
    const text = fact.parts
      .map((part) => (part.type === 'text' ? part.text : ''))
      .join('')
      .trim()
    const what = fact.calls.length > 0 ? fact.calls.map(({ name }) => name).join(', ') : text
    draft.change(step, place, {
      usage: fact.usage,
      text,
      title: `step ${fact.step}`,
      outcome: what,
      taint: [...draft.taint],
      fact,
    })
    draft.spend(fact.usage)
    if (fact.calls.length > 0) draft.go(step, place, { state: 'running', note: 'its calls' })
    draft.propose(fact, place)
  },
  'step-salvaged': (draft, fact, place) => {
    draft.change(`step-${fact.step}`, place, { outcome: 'its text was kept after a break' })
    draft.end(`attempt-${fact.attempt}`, place, 'cancelled')
  },
  'step-closed': (draft, fact, place) => {
    const row = draft.find(`step-${fact.step}`)
    if (row && row.toMs === undefined) draft.end(row.id, place, 'ok')
  },
  'output-refused': (draft, fact, place) => {
    draft.mark(`step-${fact.step}`, place, { kind: 'note', text: `the answer was sent back: ${fact.issue}` })
  },
  'model-used': (draft, { usage }) => draft.spend(usage),
  'summary-started': (draft, fact, place) => {
    const id = `summary-${fact.attempt}`
    draft.add(place, {
      id,
      kind: 'attempt',
      depth: draft.turn ? 1 : 0,
      ...draft.inTurn(),
      title: 'summary of older messages',
      outcome: 'is written',
      state: 'running',
      fact,
    })
    draft.go(id, place, { state: 'running', note: 'is written' })
  },
  'summary-finished': (draft, fact, place) => {
    draft.change(`summary-${fact.attempt}`, place, {
      outcome: `entries ${fact.fromEntry} to ${fact.toEntry} were replaced`,
      text: fact.text,
      usage: fact.usage,
    })
    draft.end(`summary-${fact.attempt}`, place, 'ok')
    draft.spend(fact.usage)
  },
  'summary-failed': (draft, fact, place) => {
    draft.change(`summary-${fact.attempt}`, place, { outcome: `${fact.error.code}: ${fact.error.message}` })
    draft.end(`summary-${fact.attempt}`, place, 'error')
  },
}

const SUPERSEDED: Readonly<Record<FactOf<'attempt-superseded'>['reason'], string>> = {
  failed: 'failed',
  'model-set': 'another model was set',
  fallback: 'failed, and the next model is asked',
  restart: 'its process ended',
  empty: 'the answer was empty',
  paused: 'the model paused',
  'context-full': 'the request was too long for the model',
  'too-large': 'the request was too large for the provider',
}

interface AttemptEnd {
  readonly why: string
  readonly state: RowState
  readonly fact: FactOf<'attempt-superseded'> | FactOf<'attempt-failed'>
}

/** Returns the row of its step. */
function endAttempt(
  draft: TimelineDraft,
  attempt: number,
  place: Place,
  { why, state, fact }: AttemptEnd,
): string | undefined {
  const id = `attempt-${attempt}`
  const row = draft.find(id)
  if (row?.attempt) {
    const { error } = fact
    const retryAtMs = fact.type === 'attempt-superseded' ? fact.retryAtMs : undefined
    draft.change(id, place, {
      outcome: why,
      attempt: {
        ...row.attempt,
        ...(error && { error: { code: error.code, message: error.message } }),
        ...(fact.type === 'attempt-superseded' && { supersededFor: fact.reason }),
        ...(retryAtMs !== undefined && { retryAtMs }),
      },
    })
  }
  draft.end(id, place, state)
  return row?.parent
}

/** Facts that are one line each: what people and hosts did to the session. */
const NOTE_FOLD: Fold = {
  'agent-changed': (draft, fact, place) =>
    draft.note(place, fact.agent === undefined ? 'the agent changed' : `the agent is now ${fact.agent}`, fact),
  'model-set': (draft, fact, place) => draft.note(place, `the model was set to ${fact.model}`, fact),
  'settings-set': (draft, fact, place) => draft.note(place, 'settings were set', fact),
  'session-paused': (draft, fact, place) => draft.note(place, 'paused', fact),
  'session-continued': (draft, fact, place) => draft.note(place, 'continued', fact),
  'session-stopped': (draft, fact, place) => draft.note(place, 'stopped', fact),
  'session-started': (draft, fact, place) => draft.note(place, 'started again', fact),
  'plan-set': (draft, fact, place) =>
    draft.note(
      place,
      `plan: ${fact.entries.map(({ content, status }) => `${content} (${status.replace('_', ' ')})`).join(', ')}`,
      fact,
    ),
  'interrupt-accepted': (draft, fact, place) => {
    draft.note(place, `interrupted: ${fact.reason}`, fact)
    if (draft.turn) draft.mark(draft.turn.id, place, { kind: 'note', text: `interrupted: ${fact.reason}` })
  },
  'history-rewound': (draft, fact, place) => draft.note(place, `went back to exchange ${fact.exchange}`, fact),
  'host-restarted': (draft, fact, place) =>
    draft.note(place, `the host came back after ${formatDuration(fact.downMs)}`, fact),
  'window-moved': (draft, fact, place) =>
    draft.note(place, `the model no longer sees entries before ${fact.fromEntry}`, fact),
  'reminder-set': (draft, fact, place) => draft.note(place, `reminder ${fact.reminder} was set`, fact),
  'reminder-cancelled': (draft, fact, place) => draft.note(place, `reminder ${fact.reminder} was cancelled`, fact),
  'reminder-passed': (draft, fact, place) =>
    draft.note(place, `reminder ${fact.reminder} is due${fact.skipped ? ', and was skipped' : ''}`, fact),
  'wakes-held': (draft, fact, place) =>
    draft.note(place, `tasks alone began the last ${fact.used} turns: the next one waits for an input`, fact),
  'inputs-left-out': (draft, fact, place) =>
    draft.note(place, `the provider refused images or files: ${fact.reason}`, fact),
  'answer-ignored': (draft, fact, place) =>
    draft.note(place, `a stale answer was ignored (attempt ${fact.attempt})`, fact),
  'client-attached': (draft, fact, place) => {
    draft.setClient({ ...fact, isAttached: true })
    // The calling session, which stands above.
    if (fact.connection === PARENT) return
    const lease = fact.untilMs === undefined ? '' : `, with a lease of ${formatDuration(fact.untilMs - place.nowMs)}`
    draft.note(place, `client ${shortName(fact.connection)} of ${fact.principal} attached${lease}`, fact)
  },
  'client-renewed': (draft, fact) => {
    const client = draft.clients.get(fact.connection)
    if (client) draft.setClient({ ...client, untilMs: fact.untilMs })
  },
  'client-detached': (draft, fact, place) => {
    const client = draft.clients.get(fact.connection)
    if (client) draft.setClient({ ...client, isAttached: false })
    if (fact.connection === PARENT) return
    const ended = client?.untilMs !== undefined && client.untilMs <= place.nowMs
    draft.note(place, `client ${shortName(fact.connection)} ${ended ? 'is gone: its lease ended' : 'left'}`, fact)
  },
}

/** The connection of the calling session. */
const PARENT = 'parent'

const FOLD: Fold = { ...TURN_FOLD, ...STEP_FOLD, ...NOTE_FOLD, ...CALL_FOLD }

/** Adds up the tokens and cost of the agents below the rows; undefined if there are none. */
export function sumSpent(
  rows: readonly TimelineRow[],
): { readonly tokens: number; readonly costMicros: number } | undefined {
  const spent = rows.flatMap(({ call }) => call?.child?.spent ?? [])
  if (spent.length === 0) return undefined
  return {
    tokens: spent.reduce((sum, { tokens }) => sum + tokens, 0),
    costMicros: spent.reduce((sum, { costMicros }) => sum + costMicros, 0),
  }
}

/** The totals of a turn, or of rows. A count that no row has is absent. */
export function sumUsage(usages: readonly (Usage | undefined)[]): Usage {
  const sum: Record<string, number> = {}
  for (const usage of usages)
    for (const [name, count] of Object.entries(usage ?? {}))
      if (typeof count === 'number') sum[name] = (sum[name] ?? 0) + count
  return sum
}

export type { TaintSource, Timeline, TimelineRow }
