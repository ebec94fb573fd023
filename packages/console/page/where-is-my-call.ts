// "Where is my call": one line for each open call, with what it waits for, for how long, and what happens at its deadline.
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
        { row: row.id, name: row.title, words: `writing for ${formatDuration(nowMs - row.fromMs)}`, state: row.state },
      ]
    return []
  })
}

/** Returns the tool's description of the call for people, or the tool's name. */
function nameCall({ name, proposal }: CallDetails): string {
  const title = proposal.about?.['title']
  return typeof title === 'string' ? title : name
}

interface Seen {
  readonly clients: Timeline['clients']
  readonly nowMs: number
}

function describeCall(row: TimelineRow, call: CallDetails, seen: Seen): string {
  const time = formatDuration(seen.nowMs - (row.segments.at(-1)?.fromMs ?? row.fromMs))
  switch (row.state) {
    case 'person':
      return describePerson(call, time, seen.nowMs)
    case 'client':
      return describeOffer(call, time, seen)
    case 'queued':
      return `waiting ${time} for earlier calls to finish`
    default:
      break
  }
  const end = describeEnd(call, seen.nowMs)
  if (call.child) {
    const doing = row.state === 'child' ? 'waiting for a person or a client' : 'working on it'
    return `the agent ${call.child.agent} has been ${doing} for ${time}; ${end}`
  }
  if (call.claimedBy !== undefined) return describeClaim(call, time, seen)
  const again = call.attempts.length > 1 ? `, attempt ${call.attempts.length}` : ''
  return `running ${call.task ? 'in the background' : 'on the server'} for ${time}${again}; ${end}`
}

function describePerson(call: CallDetails, time: string, nowMs: number): string {
  const question = call.questions[0]
  if (question)
    return `waiting ${time} for an answer to “${question.message}”; it continues without one in ${left(question.expiresAtMs, nowMs)}`
  const approval = call.approvals.at(-1)
  const given = approval?.given.map(({ principal }) => principal) ?? []
  const already = given.length === 0 ? '' : `; ${given.join(' and ')} approved it already`
  const until = approval ? `; it is denied in ${left(approval.expiresAtMs, nowMs)} unless someone decides` : ''
  return `waiting ${time} for ${nameDeciders(call)}${already}${until}`
}

function nameDeciders(call: CallDetails): string {
  const { deciders } = call.proposal
  if (!deciders) return 'a person’s approval'
  const people = [...(deciders.people ?? []), ...(deciders.roles ?? []).map((role) => `a ${role}`)]
  const who = people.length > 0 ? people.join(' or ') : 'someone other than the asker'
  return (deciders.needed ?? 1) > 1 ? `${deciders.needed} approvals from ${who}` : `approval from ${who}`
}

function describeOffer(call: CallDetails, time: string, { clients, nowMs }: Seen): string {
  const client = findClient(call.offeredTo.at(-1), clients)
  const end = describeEnd(call, nowMs)
  if (call.clock?.mode !== 'away' && client?.isAttached)
    return `offered to ${nameClient(client)} ${time} ago and not claimed yet; ${end}`
  const gone = client ? ` (${shortName(client.connection)} is gone)` : ''
  return `waiting ${time} for a client that has the tool: none is connected${gone}; ${end}`
}

function describeClaim(call: CallDetails, time: string, { clients, nowMs }: Seen): string {
  const client = findClient(call.claimedBy, clients)
  const who = client ? nameClient(client) : shortName(call.claimedBy ?? '')
  const lease = client?.untilMs
  const after = call.proposal.effect === 'once' ? 'no other client may run it then' : 'another client may take it then'
  const end = lease === undefined ? '' : `; its lease ends in ${left(lease, nowMs)}, and ${after}`
  return `running on ${who} for ${time}${end}; ${describeEnd(call, nowMs)}`
}

function findClient(connection: string | undefined, clients: Timeline['clients']): ClientView | undefined {
  return connection === undefined ? undefined : clients.get(connection)
}

function nameClient({ connection, principal }: ClientView): string {
  return `the client ${shortName(connection)} of ${principal}`
}

/** Tells when its time ends, and what happens to it. */
function describeEnd(call: CallDetails, nowMs: number): string {
  const deadline = call.clock ? call.clock.deadlineMs : call.attempts.at(-1)?.deadlineMs
  if (deadline === null) return 'its clock is stopped meanwhile'
  if (deadline === undefined) return 'it has no deadline yet'
  const begun = call.attempts.length > 0 || call.claimedBy !== undefined
  const outcome = begun && call.proposal.effect === 'once' ? 'its outcome becomes unknown' : 'the call fails'
  return `${outcome} in ${left(deadline, nowMs)}`
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
