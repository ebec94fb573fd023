// Values that the logs of a session and its child tell each other: a child's report, and a parent's items.
import type { ErrorCode } from '../errors.ts'
import type { JsonValue } from '../json.ts'
import type { Settlement } from './fact.ts'
import type { Asking, ChildStop, Deeds, Delegation, Grant, PathStep, Spent } from './tree-values.ts'

/** How a child ended. */
export interface ChildEnd {
  readonly stop: ChildStop
  /** Its answer; empty if it has none. */
  readonly text: string
  /** The answer's value, for an agent with an output schema. */
  readonly value?: JsonValue
  readonly error?: { readonly code: ErrorCode; readonly message: string }
}

export interface ChildRequest {
  /** Id of the approval or the question, or the call's. */
  readonly id: string
  /** Levels between the child and the session that asks; empty if the child itself asks. */
  readonly path: readonly PathStep[]
  readonly asking: Asking
}

/** The news of a child's log since its parent last read it, and its totals. */
export interface ChildReport {
  readonly spent: Spent
  /** A call with an effect began in it or below it. */
  readonly acted: boolean
  /** Its turn's clock is stopped, because it waits only for people. */
  readonly waits: boolean
  /** Tools whose untrusted results it has read. */
  readonly untrusted: readonly string[]
  readonly did: Deeds
  /** Requests that are new and open. */
  readonly requests: readonly ChildRequest[]
  /** Ids of requests that it has closed. The id of a call closes all requests of that call. */
  readonly closed: readonly string[]
  /** Ids of calls that a level between has ended: no further client may run them. */
  readonly ended: readonly string[]
  /** Present if it has come to rest. */
  readonly end?: ChildEnd
}

/** A piece of a parent's log for one of its children. */
export type ParentItem =
  | (Omit<Delegation, 'agent' | 'acts' | 'limits'> & {
      readonly type: 'task'
      /** Id of the input: the delegating call. */
      readonly callId: string
      readonly grant: Grant
    })
  | { readonly type: 'end'; readonly reason: string }
  | { readonly type: 'pause' | 'continue' }
  | {
      readonly type: 'approval-decided'
      readonly id: string
      readonly decision: 'approve' | 'deny' | 'edit'
      readonly principal: string
      readonly reason?: string
      readonly edited?: {
        readonly arguments: string
        readonly argumentsHash: string
        readonly delegate?: Delegation
      }
      /** Only to approve an answer: the turn's full answer, which the child's host supplies. */
      readonly answer?: string
    }
  | ({ readonly type: 'question-answered'; readonly id: string } & QuestionSaid)
  | { readonly type: 'call-settled'; readonly id: string; readonly settlement: Settlement }
  | { readonly type: 'call-taken-over'; readonly id: string }
  /** `expired`: it was not decided in time. `nobody`: no person or client can be asked. */
  | { readonly type: 'request-over'; readonly id: string; readonly why: 'expired' | 'nobody' }

type QuestionSaid =
  { readonly value: JsonValue } | { readonly declined: 'person' | 'expired' | 'nobody'; readonly reason?: string }
