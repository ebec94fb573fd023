// Messages between a session's workflow, its activities and its callers: plain data under stable names.
import type {
  Accepted,
  CallView,
  JsonObject,
  JsonValue,
  Principal,
  Refused,
  TurnStop,
  Usage,
} from '@baton/core/internal'
import type { AwaitedEffect, HostReport, Input, InputOf, SessionRecord, State } from '@baton/core/machine'
import type { ChildPlace } from '@baton/runtime'
import type { TaskRun } from './task-workflow.ts'
import type { PackedState } from './workflow/pack-state.ts'

/** The task queue shared by workers and by the hosts that start sessions and goals. */
export const TASK_QUEUE = 'baton'
/** Workflow types. */
export const SESSION_WORKFLOW = 'baton.session'
/** The name of the workflow that works on a goal. */
export const GOAL_WORKFLOW = 'baton.goal'
/** The Update that submits inputs to a session. */
export const SUBMIT = 'baton.submit'
/** The signal from a session to the session of one of its calls. */
export const TOLD = 'baton.told'
/** The signal from the session of a call to the session that calls. */
export const REPORTED = 'baton.reported'
/** The Query for a session's current state. */
export const STATE = 'baton.state'
/** The failure type of an activity that could not begin: none of its work was done. */
export const NOT_BEGUN = 'baton.not_begun'

/** Search attributes that describe a session in lists of workflows; each is a keyword. */
export const SEARCH_ATTRIBUTES = {
  agent: 'BatonAgent',
  principal: 'BatonPrincipal',
  /** `idle`, `running`, `paused` or `stopped`. */
  activity: 'BatonActivity',
  title: 'BatonTitle',
} as const
export type SearchField = keyof typeof SEARCH_ATTRIBUTES

/** Inputs per Update; further ones go into the next. */
export const INPUTS_MAX = 256

/** A session's identity, which selects its agent. */
export interface Identity {
  readonly session: string
  readonly principal: string
  /** The agent's name; if empty, the worker's default. */
  readonly agent: string
  /** The meta of a new session. */
  readonly meta: JsonObject
  /** Set for a goal: overrides parts of its agent. */
  readonly goal?: GoalTerms
  /** Set for the session of a delegated call. */
  readonly child?: ChildIdentity
}

/** A session's place below the session that calls, which selects its agent. */
export interface ChildIdentity {
  readonly place: ChildPlace
  readonly caller: Identity
  /** Birth of the root: another session may have its name. */
  readonly rootBirth: string
}

/** A goal's changes to its agent. */
export interface GoalTerms {
  /** Names of the agent's tools that may be used. Default: all. */
  readonly tools?: readonly string[]
  /**
   * JSON Schema of the verdict, an object at its root. Without it, the agent's own schema applies, or the verdict is
   * text.
   */
  readonly outputSchema?: JsonObject
  /** Limits of its single turn; they override the agent's. */
  readonly limits?: Readonly<Record<string, number>>
}

/** The argument of `baton.session`. */
export interface SessionStart {
  readonly identity: Identity
  readonly tuning?: Tuning
  /** State of the previous run. */
  readonly carried?: Carried
  /** For the session of a delegated call. */
  readonly link?: LinkStart
}

/** The caller's part of a child's start. */
export interface LinkStart {
  /** Position up to which the caller has read the child's log; -1: nothing of it. */
  readonly read: number
  /** Position in the caller's log up to which the child has read, according to the caller. */
  readonly toldTo: number
  /** Items after that position: the task, for a new log. */
  readonly told?: InputOf<'parent-told'>
}

/** The argument of `baton.told`. */
export interface Told {
  /** Birth of the caller's log. */
  readonly birth: string
  readonly input?: InputOf<'parent-told'>
  /** Position up to which the caller has read the child's log. The child reports the rest, and its own position. */
  readonly read?: number
  /** The caller, which may have another agent by now. */
  readonly caller?: Identity
}

/** The argument of `baton.reported`. */
export interface Reported {
  readonly callId: string
  /** Birth of the caller's log. */
  readonly birth: string
  readonly input?: InputOf<'child-reported'>
  /** Position up to which the child has read the caller's log: later items are sent again. */
  readonly read?: number
}

export interface TaskStart {
  readonly job: WorkJob
  readonly plan: WorkPlan
}

/** The argument of `baton.task-told`. */
export interface TaskTold {
  readonly birth: string
  readonly run: TaskRun
  /** Set while its tool cannot start: the signal fails if the session is not running. */
  readonly waits?: true
  /** The report of its tool; absent if the tool was lost. */
  readonly input?: WorkflowInput
}

/** The id of a goal's single input. */
export const GOAL_INPUT = 'goal'

/** The argument of `baton.goal`, which can be sent by programs in any language; its workflow id names its session. */
export interface GoalStart extends GoalTerms {
  /** The agent's name. Default: the worker's default agent. */
  readonly agent?: string
  /** The task: something to do or to judge. */
  readonly goal: string
  /** Owner of the session. Default: `anonymous`. */
  readonly principal?: Principal
  readonly tuning?: Tuning
  readonly carried?: Carried
}

/** Settings of a session's workflow, passed at its start, so that a new default does not change running sessions. */
export interface Tuning {
  /** Milliseconds without work until the workflow completes; the next input starts it again. Default: one day. */
  readonly idleMs?: number
  /** Updates before a run continues as a new one. Default: 1,500, of the 2,000 that a run accepts. */
  readonly updatesMax?: number
}

/** State passed from one run to the next. It contains conversation text only if that is not published yet. */
export interface Carried {
  /** Unpacked in data from earlier versions. */
  readonly state: PackedState | State
  readonly identity: Identity
  readonly unpublished: readonly SessionRecord[]
  readonly searchFields?: readonly SearchField[]
  readonly children?: readonly CarriedChild[]
  readonly parent?: CarriedParent
  readonly tasks?: readonly TaskRun[]
}

/** Knowledge of a child that its caller's next run needs. */
export interface CarriedChild {
  readonly callId: string
  readonly workflow: string
  /** Position up to which it has this log; absent while that is unknown. */
  readonly toldTo?: number
  /** Name of the agent that it knows its caller by. */
  readonly agent: string
}

/** Knowledge of its caller that a child's next run needs. */
export interface CarriedParent {
  /** Position up to which the caller has read the log; absent while it is not running. */
  readonly reportedTo?: number
  readonly news?: News
}

/** An Update's argument. */
export interface Submission {
  readonly inputs: readonly Input[]
  /** The name of the agent that the session switches to. */
  readonly agent?: string
  /** Birth of the intended session: the session may have been removed, and another one of this name started. */
  readonly birth?: string
}

/**
 * `epoch` is that of the record with the answer. If another epoch is stored at that position, the record was never
 * written.
 */
export type Answers = readonly ((Accepted & { readonly epoch?: number }) | Refused)[]

/** An input as passed by the workflow to policy, where the last two become reports. */
export type WorkflowInput = Input | ForeignFinished | ReminderPassed

/** The time of a reminder has come. */
export interface ReminderPassed {
  readonly type: 'reminder-passed'
  readonly reminder: string
  readonly dueMs: number
}

/** The end of a tool that is a custom activity or workflow. */
export interface ForeignFinished {
  readonly type: 'foreign-finished'
  readonly callId: string
  readonly attempt: number
  readonly name: string
  readonly value?: JsonValue
  /** Set if it failed. */
  readonly failure?: string
}

export interface OpenJob {
  readonly identity: Identity
  /** The service's time; absent in older runs. */
  readonly nowMs?: number
}

export interface Opened {
  /** Folded from an existing log; absent for a new session. */
  readonly state?: State
  /** The first record of a new session. */
  readonly records: readonly SessionRecord[]
  /** Search attributes that may be written; absent if an earlier version opened the session. */
  readonly searchFields?: readonly SearchField[]
}

export interface DecideJob {
  readonly identity: Identity
  readonly state: State
  readonly inputs: readonly WorkflowInput[]
  readonly nowMs: number
  /** Keys of work in progress, which needs no plan. */
  readonly underWay: readonly string[]
  /** Records that may not have reached the log yet. */
  readonly recent: readonly SessionRecord[]
}

export interface Decided {
  readonly records: readonly SessionRecord[]
  /** One answer per input, in order. */
  readonly answers: Answers
  /** Plans by effect key, for each effect without an activity. */
  readonly plans: Readonly<Record<string, WorkPlan>>
  /** For the session of a call: whether its caller must hear of these records, at once or with the next report. */
  readonly news?: News
}

export type News = 'now' | 'later'

/**
 * Task queue and time limits of a piece of work. They are recorded, so that other settings do not change work already
 * started.
 */
export type WorkPlan =
  | ({ readonly runs: 'model' | 'tool' } & PlanOptions)
  | ({
      readonly runs: 'activity' | 'workflow'
      /** The type's name. */
      readonly type: string
      readonly name: string
      readonly args: readonly JsonValue[]
      readonly attempts: number
    } & PlanOptions)

interface PlanOptions extends ActivityTimes {
  /** Runs as a `baton.task` workflow, because it may outlive its turn. */
  readonly outlives?: true
}

export interface ActivityTimes {
  readonly taskQueue?: string
  readonly startToCloseMs: number
  readonly heartbeatMs?: number
}

/** The argument of `baton.model` and `baton.tool`. */
export interface WorkJob {
  readonly identity: Identity
  readonly effect: WorkEffectData
  /** Position that the log must have reached before the work begins. */
  readonly pos: number
  /** Records to publish first. */
  readonly records: readonly SessionRecord[]
  /** Birth of the session: it may have been removed, and another one of this name started. */
  readonly birth?: string
}

export type WorkEffectData = Extract<AwaitedEffect, { readonly type: 'call-model' | 'summarise' | 'run-tool' }>

export interface PublishJob {
  readonly session: string
  readonly records: readonly SessionRecord[]
  readonly under?: PublishedUnder
}

/** The root of a published child. */
export interface PublishedUnder {
  readonly root: string
  readonly birth: string
}

/** The parts of a job that begins once the log has the session's records. */
export type LaneJob = Pick<WorkJob, 'identity' | 'pos' | 'records' | 'birth'>

/** The argument of `baton.tell`. */
export interface TellJob extends LaneJob {
  readonly callId: string
  /** Position up to which the child has read this log. */
  readonly from: number
  /** Whether the child's workflow is to be started. */
  readonly opens: boolean
  /** Whether the two logs are to be compared. */
  readonly compares: boolean
}

export interface Telling {
  /** The child's workflow and its identity; absent if it cannot be started now. */
  readonly child?: Identity
  readonly told?: InputOf<'parent-told'>
  /** Position up to which a child to be started has read this log. */
  readonly toldTo?: number
  /** The child cannot be followed: this says so. */
  readonly input?: InputOf<'child-reported'> | InputOf<'child-lost'>
}

/** The argument of `baton.report`. */
export interface ReportJob extends LaneJob {
  /** Position up to which the caller has read this log. */
  readonly from: number
}

export interface Reporting {
  /** Absent if there is nothing to report. */
  readonly input?: InputOf<'child-reported'>
}

/** The result of `baton.goal`: documented JSON for callers in any language. */
export interface GoalResult {
  /** The goal's session: its workflow id. */
  readonly session: string
  /** How its turn ended. With anything but `end`, the workflow fails with this as its failure's detail. */
  readonly stop: TurnStop
  /** The answer as text. */
  readonly text: string
  /** With a schema: the verdict, which matches it. */
  readonly output?: JsonValue
  /** The calls behind the answer, in order; the verdict cites them by `callId`. */
  readonly calls: readonly GoalCall[]
  readonly usage: Usage
  /** The error of a turn that failed. */
  readonly error?: { readonly code: string; readonly message: string }
}

export type GoalCall = Pick<CallView, 'callId' | 'name' | 'input' | 'result'>

export interface ResultJob {
  readonly identity: Identity
  /** Position that the log must have reached; absent in older runs. */
  readonly pos?: number
}

/** The activities of a worker, by type. */
export interface BatonActivities {
  'baton.open'(job: OpenJob): Promise<Opened>
  'baton.decide'(job: DecideJob): Promise<Decided>
  'baton.publish'(job: PublishJob): Promise<void>
  'baton.model'(job: WorkJob): Promise<HostReport | undefined>
  'baton.tool'(job: WorkJob): Promise<HostReport | undefined>
  'baton.result'(job: ResultJob): Promise<GoalResult>
  'baton.tell'(job: TellJob): Promise<Telling>
  'baton.report'(job: ReportJob): Promise<Reporting>
}

/** Milliseconds between tries of an activity that could not begin, and after a first failed decision. */
export const AGAIN_MS = 1000
