// Names for programs that make agents and tools and talk to sessions. @baton/host exports all of them too; import them
// from here where no host may be loaded, such as in a package of tools. Everything else is in internal.ts.

// Make an agent.
export { createTaintPolicy, defineAgent, delegate, tool, voice } from './internal.ts'
export type {
  Agent,
  AgentOptions,
  AnsweredCall,
  AnswerVerdict,
  ApprovalPolicy,
  CallDescription,
  ClientRunTool,
  DelegateOptions,
  EffectClass,
  Execute,
  Permissions,
  PrepareStep,
  Schema,
  ServerRunTool,
  Tool,
  ToolContext,
  ToolOptions,
  ToolSource,
} from './internal.ts'

// Add a model.
export type { Environment, Model, ModelAnswer, ModelEvent, ModelRequest, ModelSettings, Usage } from './internal.ts'

// Talk to a session.
export { readOutput } from './internal.ts'
export type {
  Answer,
  ApprovalPage,
  Client,
  ClientHandlers,
  ContentPart,
  Decision,
  Host,
  InterruptOptions,
  PendingApproval,
  PendingQuestion,
  Principal,
  QuestionAnswer,
  Reminder,
  RewindOptions,
  SendOptions,
  Session,
  SessionConfiguration,
  SessionOptions,
  Store,
  ToolCall,
  TranscriptEntry,
  Turn,
  TurnStop,
  UrgentEvent,
  UserInput,
  WaitingApproval,
} from './internal.ts'

// Read it.
export { Conversation, SESSION_EVENT_SCHEMA } from './internal.ts'
export type {
  CallResult,
  CallView,
  EventsOptions,
  EventStream,
  JsonObject,
  JsonValue,
  Message,
  MessagesPage,
  SessionDetails,
  SessionEvent,
  SessionInfo,
  SessionQuery,
  StoredPart,
} from './internal.ts'

// Handle errors.
export { BatonError, isBatonError, readErrorLayer } from './internal.ts'
export type { ErrorCode, ErrorLayer, Logger } from './internal.ts'
