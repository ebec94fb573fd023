// Exports of @baton/client.
export { createV1Client } from './client.ts'
export type { AgentState, V1Client, V1ClientEvents, V1ClientOptions } from './client.ts'
export type { ConnectionState, ReconnectOptions } from './connection.ts'
export type { ClientTool, ToolHandlers, ToolResult, TypedAgent } from './tool-calls.ts'
export { platformWorld } from './world.ts'
export type { WebSocketLike, World } from './world.ts'
export { openSession } from './session/open-session.ts'
export type {
  NotifyOptions,
  PendingMessage,
  RewindInput,
  SendOptions,
  SentInput,
  SessionClient,
  SessionClientEvents,
  SessionMessage,
  OpenSessionOptions,
  SessionSnapshot,
} from './session/session-client.ts'
export type { SessionAnswer } from './session/inputs.ts'
export type { OpenCallView, RetryView, WrittenCall } from './session/session-view.ts'
export { createContent } from './session/client-tools.ts'
export type { AppModel } from './session/client-models.ts'
export type { BroughtTool, RunContext, SessionHandlers, ToolHandler } from './session/client-tools.ts'
export { ClientError } from './client-error.ts'
export type { ClientErrorOptions } from './client-error.ts'
export type { InputRequest, Outbox, OutboxEntry, OutboxOptions, OutboxPlace } from './outbox/outbox.ts'
export { createIndexedDbOutbox } from './outbox/indexed-db-outbox.ts'
export type { IndexedDbOutboxOptions } from './outbox/indexed-db-outbox.ts'
export { createMemoryOutbox } from './outbox/memory-outbox.ts'
export { openDirectory } from './session/directory.ts'
export type { Directory, DirectoryOptions, DirectorySnapshot } from './session/directory.ts'
export type { Heard, SentenceFrame, SentencesDroppedFrame } from '@baton/protocol'
