// What hosts import from @baton/runtime: the work of one effect, sessions over an engine, the catalog of agents and models.
export type { CopyingEngine, Engine, OpenedSession, SessionEngine, SessionOpening, SessionReplica } from './engine.ts'
export { startSessionClock, within } from './deadline.ts'
export type { Limit } from './deadline.ts'
export { describeThrown } from './describe-thrown.ts'
export { SharedTimers } from './shared-timers.ts'
export { createCatalog } from './catalog/catalog.ts'
export type {
  AgentChoice,
  Catalog,
  CatalogInit,
  SessionIdentity,
  SessionParts,
  SessionWorld,
} from './catalog/catalog.ts'
export { OpenWorld } from './catalog/open-world.ts'
export type { OpenWorldInit } from './catalog/open-world.ts'
export { copySession } from './session/copy-session.ts'
export { SessionFeed } from './session/feed.ts'
export { FoldedReplica } from './session/folded-replica.ts'
export { FrameReader } from './session/frame-reader.ts'
export { createForeignError, createHostOver, createStoppedError } from './session/host.ts'
export type { HostOverInit } from './session/host.ts'
export { createListener } from './session/listener.ts'
export type { Listener, ListenerEvent, ListenerEvents, ListenerOptions } from './session/listener.ts'
export { ReplicatedSession } from './session/replicated-session.ts'
export type { ReplicatedSessionInit } from './session/replicated-session.ts'
export { ToolQuestions } from './session/tool-questions.ts'
export { createSession } from './session/session.ts'
export { Directory, isListedOtherwise, readOpening } from './session/session-directory.ts'
export type { DirectoryInit } from './session/session-directory.ts'
export type { SessionHandleInit } from './session/session.ts'
export { waitForTurns } from './session/wait-for-turns.ts'
export { createArgumentValidator, ValidatedArguments } from './work/arguments.ts'
export { RequestMessages } from './work/request.ts'
export type { ArgumentValidator } from './work/arguments.ts'
export { Cancellation } from './work/cancellation.ts'
export { createLossReport, isWorkEffect, performEffect } from './work/effect-work.ts'
export type { EffectPlace, WorkEffect } from './work/effect-work.ts'
export type { ModelJob, ToolJob } from './work/jobs.ts'
export { createModelJob, performModel } from './work/model-work.ts'
export { createToolIo, createToolJob, performTool } from './work/tool-work.ts'
export type { ToolPlace } from './work/tool-work.ts'
export type { ModelIo, RunTool, ToolIo, Work, WorkContext } from './work/work.ts'
