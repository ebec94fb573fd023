// Messages between a session's workflow, its activities and its callers: plain data under stable names.
import type { Accepted, CallView, JsonObject, JsonValue, Refused, TurnStop, Usage } from '@baton/core'
import type { AwaitedEffect, HostReport, Input, SessionRecord, State } from '@baton/core/machine'
import type { PackedState } from './workflow/pack-state.ts'

/** The task queue of workers and of those who start sessions and goals. */
export const TASK_QUEUE = 'baton'
/** Types of workflows. */
export const SESSION_WORKFLOW = 'baton.session'
export const GOAL_WORKFLOW = 'baton.goal'
/** The Update that hands inputs to a session. */
export const SUBMIT = 'baton.submit'
/** The Query for where a session stands. */
export const STATE = 'baton.state'
/** The type of the failure of an activity that could not begin: nothing of its work was done. */
export const NOT_BEGUN = 'baton.not_begun'

/** A session in lists of workflows, by the names of search attributes; each is a keyword. */
export const SEARCH_ATTRIBUTES = {
  agent: 'BatonAgent',
  principal: 'BatonPrincipal',
  /** `idle`, `running`, `paused` or `stopped`. */
  activity: 'BatonActivity',
  title: 'BatonTitle',
} as const
export type SearchField = keyof typeof SEARCH_ATTRIBUTES

/** Inputs of one Update; further ones go into the next. */
export const INPUTS_MAX = 256

/** Who a session is, for whoever opens its agent. */
export interface Identity {
  readonly session: string
  readonly principal: string
  /** The agent's name; empty: the worker's default. */
  readonly agent: string
  /** The meta of a new session. */
  readonly meta: JsonObject
  /** Present: a goal is judged with these in place of what its agent has. */
  readonly goal?: GoalTerms
}

/** A goal's changes to its agent. */
export interface GoalTerms {
  /** Names of the agent's tools that may be used; all by default. */
  readonly tools?: readonly string[]
  /** JSON Schema of the verdict, an object at its root; absent: the agent's own, or text. */
  readonly outputSchema?: JsonObject
  /** Limits of its one turn; they win over the agent's. */
  readonly limits?: Readonly<Record<string, number>>
}

/** The argument of `baton.session`. */
export interface SessionStart {
  readonly identity: Identity
  readonly tuning?: Tuning
  /** State of the run before. */
  readonly carried?: Carried
}

/** The id of a goal's one input. */
export const GOAL_INPUT = 'goal'

/** The argument of `baton.goal`, as any program in any language may say it; its workflow id names its session. */
export interface GoalStart extends GoalTerms {
  /** The agent's name; the worker's default without it. */
  readonly agent?: string
  /** The task: something to do or to judge. */
  readonly goal: string
  /** Owner of the session; `anonymous` by default. */
  readonly principal?: string
  readonly tuning?: Tuning
  readonly carried?: Carried
}

/** How a session's workflow behaves; told at its start, so that a new default changes no session that runs. */
export interface Tuning {
  /** Milliseconds without anything to do after which the workflow completes; the next input starts it again. One day. */
  readonly idleMs?: number
  /** Updates after which a run continues as a new one. 1,500: a run takes 2,000. */
  readonly updatesMax?: number
}

/** State that passes from one run to the next: no text of the conversation but what is not published yet. */
export interface Carried {
  /** Unpacked by what earlier versions left. */
  readonly state: PackedState | State
  readonly identity: Identity
  readonly unpublished: readonly SessionRecord[]
  readonly searchFields?: readonly SearchField[]
}

/** An Update's argument. */
export interface Submission {
  readonly inputs: readonly Input[]
  /** The name of the agent that the session goes on with. */
  readonly agent?: string
  /** Birth of the session that it is meant for: one of this name may have been removed, and another one begun. */
  readonly birth?: string
}

/** `epoch`: of the record that holds it. Another one at its place says that the record was never written. */
export type Answers = readonly ((Accepted & { readonly epoch?: number }) | Refused)[]

/** An input as the workflow hands it to policy; `foreign-finished` is turned into a report there. */
export type WorkflowInput = Input | ForeignFinished

/** How a tool ended that is somebody's own activity or workflow. */
export interface ForeignFinished {
  readonly type: 'foreign-finished'
  readonly callId: string
  readonly attempt: number
  readonly name: string
  readonly value?: JsonValue
  /** Present: it failed. */
  readonly failure?: string
}

export interface OpenJob {
  readonly identity: Identity
  /** The service's time; absent in older runs. */
  readonly nowMs?: number
}

export interface Opened {
  /** Folded from the log that is there already; absent for a new session. */
  readonly state?: State
  /** The first record of a new session. */
  readonly records: readonly SessionRecord[]
  /** Search attributes that may be written; absent: an earlier version opened it. */
  readonly searchFields?: readonly SearchField[]
}

export interface DecideJob {
  readonly identity: Identity
  readonly state: State
  readonly inputs: readonly WorkflowInput[]
  readonly nowMs: number
  /** Keys of work that is under way: it needs no plan. */
  readonly underWay: readonly string[]
  /** Records that may not have reached the log yet. */
  readonly recent: readonly SessionRecord[]
}

export interface Decided {
  readonly records: readonly SessionRecord[]
  /** One for each input, in their order. */
  readonly answers: Answers
  /** By the key of each effect that has no activity yet. */
  readonly plans: Readonly<Record<string, WorkPlan>>
}

/** Task queue and time limits of a piece of work. Recorded, so that other settings change nothing that was begun. */
export type WorkPlan =
  | ({ readonly runs: 'model' | 'tool' } & ActivityTimes)
  | ({
      readonly runs: 'activity' | 'workflow'
      /** The type's name. */
      readonly type: string
      readonly name: string
      readonly args: readonly JsonValue[]
      readonly attempts: number
    } & ActivityTimes)

export interface ActivityTimes {
  readonly taskQueue?: string
  readonly startToCloseMs: number
  readonly heartbeatMs?: number
}

/** The argument of `baton.model` and `baton.tool`. */
export interface WorkJob {
  readonly identity: Identity
  readonly effect: WorkEffectData
  /** Position that the log must have before it begins. */
  readonly pos: number
  /** Records to publish first. */
  readonly records: readonly SessionRecord[]
  /** Birth of the session: one of this name may have been removed, and another one begun. */
  readonly birth?: string
}

export type WorkEffectData = Extract<AwaitedEffect, { readonly type: 'call-model' | 'summarise' | 'run-tool' }>

export interface PublishJob {
  readonly session: string
  readonly records: readonly SessionRecord[]
}

/** The result of `baton.goal`: documented JSON for callers in any language. */
export interface GoalResult {
  /** The goal's session: its workflow id. */
  readonly session: string
  /** How its turn ended; with anything but `end` the workflow fails, with this as its failure's detail. */
  readonly stop: TurnStop
  /** The answer as text. */
  readonly text: string
  /** With a schema: the verdict, which fits it. */
  readonly output?: JsonValue
  /** The calls behind the answer, in their order: what the verdict cites by `callId`. */
  readonly calls: readonly GoalCall[]
  readonly usage: Usage
  /** The error of a turn that failed. */
  readonly error?: { readonly code: string; readonly message: string }
}

export type GoalCall = Pick<CallView, 'callId' | 'name' | 'input' | 'result'>

export interface ResultJob {
  readonly identity: Identity
}

/** The activities of a worker, by their types. */
export interface BatonActivities {
  'baton.open'(job: OpenJob): Promise<Opened>
  'baton.decide'(job: DecideJob): Promise<Decided>
  'baton.publish'(job: PublishJob): Promise<void>
  'baton.model'(job: WorkJob): Promise<HostReport | undefined>
  'baton.tool'(job: WorkJob): Promise<HostReport | undefined>
  'baton.result'(job: ResultJob): Promise<GoalResult>
}

/** The result of the Query `baton.state`. */
export interface SessionStateView {
  readonly session: string
  readonly agent: string
  readonly principal: string
  readonly title: string | null
  readonly pos: number
  readonly phase: State['phase']
  readonly turn: number | null
  readonly openCalls: readonly { readonly callId: string; readonly name: string; readonly state: string }[]
  /** Activities under way. */
  readonly underWay: readonly string[]
  /** Records on their way to the log. */
  readonly unpublished: number
  /** Inputs that wait to be decided. */
  readonly waiting: number
}

/** How far apart two tries of an activity that could not begin are, and how long a failed decision waits. */
export const AGAIN_MS = 1000
