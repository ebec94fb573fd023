// The public exports of @baton/host: agents and tools, the local host, and its options.
export type * from '@baton/core/internal'
export {
  BatonError,
  Conversation,
  createTaintPolicy,
  defineAgent,
  EVENTS_VERSION,
  isBatonError,
  isErrorCode,
  readOutput,
  SESSION_EVENT_SCHEMA,
  tool,
  voice,
} from '@baton/core/internal'
export { createListener } from '@baton/runtime'
export type { Listener, ListenerEvent, ListenerEvents, ListenerOptions, StepText } from '@baton/runtime'
export { createOfflineModel } from '@baton/models/offline'
export { createHost } from './local/create-host.ts'
export type { HostOptions, LocalHost } from './local/create-host.ts'
export type { ObservedSession, SessionObserver } from './observer.ts'
export { createNodeEnvironment } from './environment.ts'
export type { Recovery, RecoverOptions } from './local/recover.ts'
export { createMemoryStore } from './stores/memory-store.ts'
export type { MemoryStore } from './stores/memory-store.ts'
export type { LeaseOptions } from './stores/lease-book.ts'
export { openSqliteStore } from './stores/sqlite/sqlite-store.ts'
export type { SqliteStore, SqliteStoreOptions } from './stores/sqlite/sqlite-store.ts'
export { openSharedSqliteStore } from './stores/shared/shared-sqlite-store.ts'
export type { SharedSqliteStoreOptions } from './stores/shared/shared-sqlite-store.ts'
export { checkStoreFile } from './stores/sqlite/check-file.ts'
export type { StoreFinding, StoreReport } from './stores/sqlite/check-file.ts'
export { backUpStoreFile, restoreStoreFile } from './stores/sqlite/backup-file.ts'
export { exportSession, importSession } from './stores/transfer.ts'
export { createLogger } from './logging.ts'
export type { LoggerOptions, LogLevel } from './logging.ts'
