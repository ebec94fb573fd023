// Building blocks of hosts, fronts, stores, adapters and test kits. @internal: names may change in any version.
export * from './errors.ts'
export * from './service-failure.ts'
export { importPeer, loadOnce } from './import-peer.ts'
export * from './json.ts'
export * from './repair-json.ts'
export * as s from './shape/shape.ts'
export * from './messages.ts'
export * from './model-settings.ts'
export * from './agent/environment.ts'
export * from './agent/model.ts'
export * from './agent/schema.ts'
export { readSchema } from './schema/read-schema.ts'
export { countJoints, JOINTS_MAX, outlineSchema } from './schema/schema-walk.ts'
export { createLinearPattern, findUnbounded } from './schema/linear-pattern.ts'
export * from './agent/tool.ts'
export * from './agent/delegate.ts'
export { CHILD_PREFIX } from './agent/reserved-name.ts'
export * from './agent/agent-options.ts'
export * from './agent/agent.ts'
export type * from './agent/policy.ts'
export * from './agent/permissions.ts'
export * from './agent/taint-policy.ts'
export * from './agent/create-spec.ts'
export { readOutput } from './agent/read-output.ts'
export * from './agent/session-api.ts'
export type * from './agent/host-api.ts'
export type * from './agent/session-views.ts'
export * from './agent/notice.ts'
export * from './agent/front-session.ts'
export { Cutoff } from './agent/cutoff.ts'
export type * from './agent/client-handlers.ts'
export type { AgentCall, AgentOutput, ToolCall } from './agent/typed-calls.ts'
export * from './events/session-event.ts'
export type { AssistantChatMessage, ChatMessage, StepView, UserChatMessage } from './events/conversation.ts'
export { readCallResult } from './events/call-results.ts'
export { readAbout } from './events/call-views.ts'
export { viewTasks } from './events/task-views.ts'
export { Conversation } from './events/conversation.ts'
export type { RequestChange } from './events/requests.ts'
export { readRequest } from './events/requests.ts'
export { GrowingText } from './events/written-step.ts'
export type { ProjectionOptions, RecordEvents } from './events/projection.ts'
export { SessionProjection, nameAnswer, readSince, readStart } from './events/projection.ts'
export { readTurnOf } from './machine/state.ts'
export { wholeEnd } from './machine/size.ts'
export type { TurnLimits } from './events/turn-account.ts'
export { addUsage } from './events/turn-account.ts'
export * from './agent/loose-values.ts'
export * from './agent/store.ts'
export type { Refusal } from './errors.ts'
export { findDecidersIssue } from './agent/check-deciders.ts'
export type { Deciders } from './machine/values.ts'
export { findDeciderIssue } from './machine/deciders.ts'
export type { StopRule } from './machine/spec.ts'
export { Delivery, Heard } from './machine/values.ts'
export type { Played } from './machine/values.ts'
export { ANSWER_LIMITS, decodeModelAnswer, isCallIndex } from './agent/decode-answer.ts'
export {
  decodeAction,
  decodeConfiguration,
  decodeDecision,
  decodeDescription,
  decodeEventsOptions,
  decodeForkOptions,
  decodeInterruptOptions,
  decodeChildPath,
  decodeMessagesQuery,
  decodeModelSettings,
  decodeQuestionAnswer,
  decodeRewind,
  decodeSendOptions,
  decodeTranscript,
  decodeTurnOptions,
  decodeUrgent,
  decodeUserCommand,
} from './agent/decode-command.ts'
export type {
  DecodedDecision,
  DecodedQuestionAnswer,
  DecodedRewind,
  EventsOptions,
  InterruptOptions,
  MessagesQuery,
  SessionAction,
  SessionConfiguration,
  TranscriptEntry,
  UrgentEvent,
} from './agent/decode-command.ts'
export * from './agent/decode-report.ts'
export { decodeUserInput } from './agent/decode-content.ts'
export * from './agent/decode-reminder.ts'
export { readDataAddress, sniffImageType } from './agent/media-type.ts'
export { checkFields, checkKinds, findMisspelt, findNearName } from './shape/known-fields.ts'
export type { FieldKind } from './shape/known-fields.ts'
export { decodeWith, describeValue } from './shape/value-reader.ts'
export {
  checkName,
  checkSessionId,
  findNameIssue,
  findSessionIdIssue,
  isLegalName,
  NAME_CHARS_MAX,
} from './shape/plain.ts'
export type { Decoded } from './shape/value-reader.ts'
