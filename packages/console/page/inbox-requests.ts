// Open requests of the inbox and those that recently left it, with who decided them.
import type { Api, WaitingApproval } from './api.ts'
import { describeDecision } from './call-rows.ts'
import { readRest } from './session-log.ts'
import type { TaintSource } from './timeline-row.ts'
import { readTimeline } from './timeline.ts'

export interface KeptRequest {
  /** Session and request. */
  readonly id: string
  readonly request: WaitingApproval
  readonly isGone: boolean
  /** How it was decided. */
  readonly outcome?: string
}

/** Maximum number of requests that stay on the page after they left the inbox. */
const GONE_MAX = 20
/** Records at the end of a log that are searched for a decision. */
const RECORDS_READ = 200

export function keepRequests(
  inbox: readonly WaitingApproval[],
  before: readonly KeptRequest[],
): readonly KeptRequest[] {
  const idOf = ({ session, approvalId }: WaitingApproval): string => `${session} ${approvalId}`
  const open = new Set(inbox.map(idOf))
  const gone = before.filter(({ id }) => !open.has(id)).map((one) => ({ ...one, isGone: true }))
  const decided = new Map(before.flatMap(({ id, outcome }) => (outcome === undefined ? [] : [[id, outcome] as const])))
  return [
    ...inbox.map((request): KeptRequest => {
      const outcome = decided.get(idOf(request))
      return { id: idOf(request), request, isGone: false, ...(outcome !== undefined && { outcome }) }
    }),
    ...gone.slice(0, GONE_MAX),
  ]
}

/** Results of strangers that the model had read when it asked, by the session's log. */
export async function findTaint(
  api: Pick<Api, 'log'>,
  { session, callId, path = [] }: WaitingApproval,
): Promise<readonly TaintSource[]> {
  const below = path.map((step) => step.callId)
  const timeline = readTimeline(await readRest(api, session, below, []))
  const place = (row: string): string => [...below, row].join('/')
  return (timeline.byId.get(callId)?.taint ?? []).map((source) => ({ ...source, row: place(source.row) }))
}

/** Returns who decided a request that is no longer open. */
export async function findOutcome(api: Pick<Api, 'log'>, { session, approvalId }: WaitingApproval): Promise<string> {
  try {
    const { records } = await api.log(session, { last: RECORDS_READ })
    for (const fact of records.flatMap(({ facts }) => facts).toReversed())
      if (fact.type === 'approval-decided' && fact.approvalId === approvalId) return describeDecision(fact)
  } catch {
    // A decider may lack the right to see the session.
  }
  return 'no longer waits'
}
