// The session machine: pure. `decide` is policy, `apply` is the fold, `outstanding` is what is owed.
// @internal: names may change in any version.
export * from './apply.ts'
export { leaveToOriginal } from './calls.ts'
export { leaveTask } from './task-tools.ts'
export type { TaskBody } from './task-bodies.ts'
export { BACKGROUND_FLAG, readGiven } from './task-bodies.ts'
export { TASK_INPUT } from './task-entries.ts'
export { findDue, REMINDER_INPUT } from './reminders.ts'
export * from './check.ts'
export { listClientTools } from './clients.ts'
export { ANSWER_APPROVAL, findMissing, nameCall, RUNS_AFTER } from './answer.ts'
export * from './decide.ts'
export * from './deciders.ts'
export * from './effect.ts'
export { CHARS_PER_TOKEN, requestTokens } from './window.ts'
export * from './fact.ts'
export type { History, HistoryEntry, HistoryOptions, HistorySnapshot } from './history.ts'
export type { OpenCall, OpenQuestion } from './render.ts'
export { createHistory, findNewCall } from './history.ts'
export * from './input.ts'
export { countMediaBytes, findLargeMedia, isMedia } from './size.ts'
export type { StoredMedia } from './size.ts'
export * from './record.ts'
export * from './spec.ts'
export * from './values.ts'
export * from './tree-values.ts'
export type * from './lane-values.ts'
export * from './lanes.ts'
export { findClosed } from './relayed.ts'
export type { RelayedRequest } from './relayed-entries.ts'
export { PARENT, restsAsChild } from './parent-state.ts'
export type {
  Call,
  CallClock,
  CallState,
  Child,
  Client,
  ClientToolList,
  ClosedCall,
  Counted,
  Counters,
  Deadline,
  FinishedTurn,
  Offer,
  OpenStep,
  Parent,
  Phase,
  Question,
  QueuedInput,
  Relayed,
  RelayedCall,
  RememberedDecision,
  Reminder,
  RunningAttempt,
  EndedTask,
  State,
  Task,
  TaskPlace,
  Turn,
  TurnStep,
  Wait,
} from './state.ts'
export {
  CALL_STATES,
  PHASES,
  findApproval,
  findCall,
  findCallIndex,
  offeredCalls,
  findChild,
  detachedCalls,
  findDetached,
  findTask,
  isTask,
  openTasks,
  findQuestion,
  findRelayed,
  initialState,
  mayHaveRun,
  openCalls,
  readTurnOf,
  waitsForAnswer,
} from './state.ts'
export * from './table.ts'
export { TEXT_SEPARATOR } from './turn.ts'
