// Which sessions a list shows, and how a change of one session changes it. Pure.
import type { SessionChange, SessionInfo } from './api.ts'
import type { RowState } from './timeline-row.ts'

export interface SessionFilter {
  readonly activity?: string
  readonly agent?: string
  readonly principal?: string
  readonly search?: string
}

/** As the server decides it for the pages that it returns. */
export function isShown({ id, agent, principal, title = '', activity }: SessionInfo, filter: SessionFilter): boolean {
  if (filter.activity !== undefined && filter.activity !== activity) return false
  if (filter.agent !== undefined && filter.agent !== agent) return false
  if (filter.principal !== undefined && filter.principal !== principal.id) return false
  const words = filter.search?.toLowerCase()
  return words === undefined || [id, title, principal.id, agent].some((text) => text.toLowerCase().includes(words))
}

/** The list after a change: newest first, each session once. */
export function applyChange(
  sessions: readonly SessionInfo[],
  change: SessionChange | { readonly type: 'live' },
  filter: SessionFilter,
): readonly SessionInfo[] {
  if (change.type !== 'removed' && change.type !== 'changed') return sessions
  const id = change.type === 'removed' ? change.id : change.session.id
  const others = sessions.filter((session) => session.id !== id)
  if (change.type === 'removed' || !isShown(change.session, filter)) return others
  const at = others.findIndex(({ lastMs }) => lastMs <= change.session.lastMs)
  return at < 0 ? [...others, change.session] : others.toSpliced(at, 0, change.session)
}

const WAITS: Readonly<Record<string, string>> = {
  person: 'waits for a person',
  client: 'waits for a client',
  time: 'waits to ask the model again',
  child: 'waits for another agent',
}

/** `waits for a person: pay 40 EUR`. `asked`: titles of its requests. */
export function describeActivity({ activity, waitsFor = [], error }: SessionInfo, asked: readonly string[]): string {
  if (activity === 'idle' && error) return `failed: ${error.code}`
  if (activity !== 'waiting') return activity
  const words = waitsFor.map((reason) =>
    reason === 'person' && asked.length > 0 ? `${WAITS[reason]}: ${asked.join('; ')}` : WAITS[reason],
  )
  return words.length === 0 ? 'waits' : words.join(', ')
}

export function stateOfActivity({ activity, waitsFor = [], error }: SessionInfo): RowState {
  switch (activity) {
    case 'running':
      return 'running'
    case 'waiting':
      return waitsFor[0] ?? 'person'
    case 'paused':
      return 'queued'
    case 'stopped':
      return 'cancelled'
    case 'idle':
      return error ? 'error' : 'info'
  }
}
