// Building blocks of hosts: the work of one effect, sessions over an engine, the catalog of agents and models.
// @internal: names may change in any version.
export type {
  CopyingEngine,
  Engine,
  FoundSession,
  OpenedSession,
  SessionEngine,
  SessionOpening,
  SessionReplica,
} from './engine.ts'
export { SYSTEM_TIME, startSessionClock, within, SharedTimers, hasRunningWork, waitForTurns } from './deadline.ts'
export type { Limit } from './deadline.ts'
export { createDefaultLog, createCatalog } from './catalog/catalog.ts'
export {
  checkWebhook,
  decodeWebhookSecret,
  importWebhookKey,
  signWebhook,
  type CheckedWebhook,
  type WebhookHeaders,
} from './webhooks/standard-webhooks.ts'
export { readNotices, type RecordNotice } from './notices/read-notices.ts'
export { checkDestinations, Notices, type NoticesOptions } from './notices/notices.ts'
export { DueLooks, type DueLooksOptions, type Looked, type LooksOptions } from './notices/due-looks.ts'
export { describeDue, listDue } from './reminders/times.ts'
export { describeThrown, hideSecrets } from './describe-thrown.ts'
export type { Catalog, SessionWorld } from './catalog/catalog.ts'
export type { AgentChoice, CatalogOptions, SessionIdentity, SessionParts } from './catalog/catalog-options.ts'
export { findPermissionRefusal } from './work/permitted.ts'
export { SourceTools } from './catalog/source-tools.ts'
export type { SourceToolsOptions } from './catalog/source-tools.ts'
export { OpenWorld } from './catalog/open-world.ts'
export type { OpenWorldOptions } from './catalog/open-world.ts'
export { ChildLinks, describeChild, findChildAgent } from './tree/child-links.ts'
export type { ChildLinksOptions, ChildOpening, ChildPlace } from './tree/child-links.ts'
export type { LinkedChild } from './tree/child-link.ts'
export * from './tree/lane-reading.ts'
export { copySession } from './session/copy-session.ts'
export { openEvents } from './session/reader.ts'
export { SessionStream } from './session/stream.ts'
export { FoldedReplica, ReplicatedSession, hasWholeHistory } from './session/replicated-session.ts'
export { checkPrincipal } from './session/session-list.ts'
export { createForeignError, createHostOver, createStoppedError } from './session/host.ts'
export type { HostOverOptions } from './session/host.ts'
export { Speech } from './speech/speech.ts'
export type { Said, Sentence } from './speech/speech.ts'
export { WHOLE_LINE_CHARS } from './speech/sentences.ts'
export { extractSpeech } from './speech/speech-text.ts'
export { createListener } from './listener/listener.ts'
export type { StepText } from './session/step-texts.ts'
export type { Listener, ListenerEvent, ListenerEvents, ListenerOptions } from './listener/listener.ts'
export type { ReplicatedSessionOptions } from './session/replicated-session.ts'
export { ToolQuestions } from './work/tool-questions.ts'
export { createSession } from './session/session.ts'
export { Directory, readIdentity, readOpening } from './session/session-directory.ts'
export type { FoldedSession, SessionDirectoryOptions } from './session/session-directory.ts'
export { PageWatcher } from './session/page-watcher.ts'
export { SessionViewer } from './session/session-viewer.ts'
export type { SessionViewerOptions } from './session/session-viewer.ts'
export { decideFor } from './session/decide-for.ts'
export { createEntry, EntryWriter, isListedOtherwise, listWaiting, readEntry } from './session/session-entry.ts'
export type { SessionHandleOptions } from './session/session.ts'
export { AbortedCalls } from './work/aborting.ts'
export type { AbortedCallsOptions } from './work/aborting.ts'
export { createArgumentValidator, ValidatedArguments } from './work/arguments.ts'
export { RequestMessages } from './work/request.ts'
export type { ArgumentValidator } from './work/arguments.ts'
export { fitToolName } from './work/call-check.ts'
export { createLossReport, isWorkEffect, performEffect } from './work/effect-work.ts'
export type { EffectPlace, WorkEffect } from './work/effect-work.ts'
export type { ModelJob, ToolJob } from './work/jobs.ts'
export { createModelJob, performModel } from './work/model-work.ts'
export { createToolIo, createToolJob, performTool } from './work/tool-work.ts'
export type { ToolPlace } from './work/tool-work.ts'
export { READ_RESULT, readPiece } from './work/tool-result.ts'
export type { ShownPiece } from './work/tool-result.ts'
export type { ModelIo, RunTool, ToolIo, Work, WorkContext } from './work/work.ts'
