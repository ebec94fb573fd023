// Where each open call is, in one line for a person: what it waits for, since when, until when, and what happens then.
import type { CallDetails, ClientView, RowState, Timeline, TimelineRow } from './timeline-row.ts'
import { OPEN_STATES } from './timeline-row.ts'
import { formatDuration, shortName } from './amounts.ts'

export interface OpenLine {
  /** Id of its row. */
  readonly row: string
  readonly name: string
  readonly words: string
  readonly state: RowState
}

/** Times are in session time. Models that are asked again later have a line too. */
export function findOpenCalls(
  rows: readonly TimelineRow[],
  clients: Timeline['clients'],
  nowMs: number,
): readonly OpenLine[] {
  return rows.flatMap((row): readonly OpenLine[] => {
    if (row.toMs !== undefined || !OPEN_STATES.has(row.state)) return []
    if (row.kind === 'call' && row.call) {
      const words = describeCall(row, row.call, { clients, nowMs })
      return [{ row: row.id, name: nameCall(row.call), words, state: row.state }]
    }
    const isPaused = row.kind === 'step' && row.state === 'time'
    if (isPaused) return [{ row: row.id, name: 'the model', words: describePause(row, rows, nowMs), state: row.state }]
    if (row.kind === 'attempt' && row.attempt)
      return [
        { row: row.id, name: row.title, words: `writes since ${formatDuration(nowMs - row.fromMs)}`, state: row.state },
      ]
    return []
  })
}

/** What it would do, as its tool describes it to people; else its tool. */
function nameCall({ name, proposal }: CallDetails): string {
  const title = proposal.about?.['title']
  return typeof title === 'string' ? title : name
}

interface Seen {
  readonly clients: Timeline['clients']
  readonly nowMs: number
}

function describeCall(row: TimelineRow, call: CallDetails, seen: Seen): string {
  const since = formatDuration(seen.nowMs - (row.segments.at(-1)?.fromMs ?? row.fromMs))
  const again = call.attempts.length > 1 ? `, attempt ${call.attempts.length}` : ''
  switch (row.state) {
    case 'person':
      return describePerson(call, since, seen.nowMs)
    case 'client':
      return describeOffer(call, since, seen)
    case 'child':
      return `the agent ${call.child?.agent ?? ''} waits for a person or a client since ${since}; ${describeEnd(call, seen.nowMs)}`
    case 'queued':
      return `has not begun since ${since}: calls before it come first`
    default:
      break
  }
  if (call.child) return `the agent ${call.child.agent} works on it since ${since}; ${describeEnd(call, seen.nowMs)}`
  if (call.claimedBy !== undefined) return describeClaim(call, since, seen)
  const where = call.task ? 'goes on in the background' : 'runs on the server'
  return `${where} since ${since}${again}; ${describeEnd(call, seen.nowMs)}`
}

function describePerson(call: CallDetails, since: string, nowMs: number): string {
  const question = call.questions[0]
  if (question)
    return `asks a person since ${since}: ${question.message}; if nobody answers within ${left(question.expiresAtMs, nowMs)}, it goes on without an answer`
  const approval = call.approvals.at(-1)
  const who = nameDeciders(call)
  const given = approval?.given.length
    ? `, ${approval.given.map(({ principal }) => principal).join(' and ')} approved already`
    : ''
  const until = approval ? `; if nobody decides within ${left(approval.expiresAtMs, nowMs)}, it is denied` : ''
  return `waits for ${who} since ${since}${given}${until}`
}

function nameDeciders(call: CallDetails): string {
  const { deciders } = call.proposal
  if (!deciders) return 'a person’s approval'
  const people = [...(deciders.people ?? []), ...(deciders.roles ?? []).map((role) => `a ${role}`)]
  const who = people.length > 0 ? people.join(' or ') : 'another person than the asker'
  return (deciders.needed ?? 1) > 1 ? `${deciders.needed} approvals of ${who}` : `the approval of ${who}`
}

function describeOffer(call: CallDetails, since: string, { clients, nowMs }: Seen): string {
  const { clock } = call
  const client = findClient(call.offeredTo.at(-1), clients)
  if (clock?.mode === 'away' || !client?.isAttached) {
    const gone = client ? ` (${client.connection} is gone)` : ''
    return `waits for a client that has the tool since ${since}${gone}: none is attached; ${describeEnd(call, nowMs)}`
  }
  return `waits for ${nameClient(client)} since ${since}: it has not claimed the call; ${describeEnd(call, nowMs)}`
}

function describeClaim(call: CallDetails, since: string, { clients, nowMs }: Seen): string {
  const client = findClient(call.claimedBy, clients)
  const who = client ? nameClient(client) : (call.claimedBy ?? '')
  const lease = client?.untilMs
  const isOnce = call.proposal.effect === 'once'
  const after = isOnce ? 'then nobody else may run it' : 'then another client may take it'
  const end = lease === undefined ? '' : `; its lease ends in ${left(lease, nowMs)}, ${after}`
  return `${who} works on it since ${since}${end}; ${describeEnd(call, nowMs)}`
}

function findClient(connection: string | undefined, clients: Timeline['clients']): ClientView | undefined {
  return connection === undefined ? undefined : clients.get(connection)
}

function nameClient({ connection, principal }: ClientView): string {
  return `the client ${shortName(connection)} of ${principal}`
}

/** When its time is over, and what becomes of it then. */
function describeEnd(call: CallDetails, nowMs: number): string {
  const deadline = call.clock ? call.clock.deadlineMs : call.attempts.at(-1)?.deadlineMs
  if (deadline === null) return 'its time stands still meanwhile'
  if (deadline === undefined) return 'it has no deadline yet'
  const begun = call.attempts.length > 0 || call.claimedBy !== undefined
  const outcome = begun && call.proposal.effect === 'once' ? 'then its outcome is unknown' : 'then the call fails'
  return `its time ends in ${left(deadline, nowMs)}, ${outcome}`
}

function left(atMs: number, nowMs: number): string {
  return formatDuration(atMs - nowMs)
}

function describePause(step: TimelineRow, rows: readonly TimelineRow[], nowMs: number): string {
  const last = rows.findLast((row) => row.parent === step.id && row.attempt !== undefined)
  const error = last?.attempt?.error
  const why = error ? ` (${error.code}: ${error.message})` : ''
  const again = last?.attempt?.retryAtMs
  return `${last?.title ?? ''} failed${why}; it is asked again ${again === undefined ? 'at once' : `in ${left(again, nowMs)}`}`
}
