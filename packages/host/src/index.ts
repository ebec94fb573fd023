// Everything that programs need: agents and tools (from @baton/core), the host in this process, and its stores.
export * from '@baton/core'

// Run an agent.
export { createOfflineModel } from '@baton/models/offline'
export { createHost } from './local/create-host.ts'
export type { LocalHost } from './local/create-host.ts'
export type { HostOptions } from './local/host-options.ts'
export type { Recovery } from './local/recover.ts'
export { createNodeEnvironment } from './environment.ts'

// Listen to a conversation.
export { createListener } from '@baton/runtime'
export type { Listener, ListenerEvent, ListenerOptions } from '@baton/runtime'

// Keep sessions.
export { createMemoryStore } from './stores/memory-store.ts'
export type { MemoryStore } from './stores/memory-store.ts'
export { openSqliteStore } from './stores/sqlite/sqlite-store.ts'
export type { SqliteStore } from './stores/sqlite/sqlite-store.ts'
export { openSharedSqliteStore } from './stores/shared/shared-sqlite-store.ts'
export { checkStoreFile } from './stores/sqlite/check-file.ts'
export type { StoreReport } from './stores/sqlite/check-file.ts'
export { backUpStoreFile, restoreStoreFile } from './stores/sqlite/backup-file.ts'
export { exportSession, importSession } from './stores/transfer.ts'

// Watch it.
export { createLogger } from './logging.ts'
export type { SessionObserver } from './observer.ts'
