// Session events: what fronts and programs see of a session.
export * from './session-event.ts'
export type { AssistantChatMessage, ChatMessage, StepView, UserChatMessage } from './conversation.ts'
export { Conversation } from './conversation.ts'
export type { ProjectedRecord, ProjectionInit } from './projection.ts'
export { nameAnswer, SessionProjection } from './projection.ts'
export type { TurnLimits } from './turn-account.ts'
export { addUsage } from './turn-account.ts'
