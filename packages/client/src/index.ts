// Exports of @baton/client: sessions of a server, the list of them, and the client of protocol version 1.
export { openSession } from './session/open-session.ts'
export type {
  OpenSessionOptions,
  SessionClient,
  SessionClientEvents,
  SessionMessage,
  SessionSnapshot,
} from './session/session-client.ts'
export { createContent } from './session/client-tools.ts'
export type { ToolContent } from './session/client-tools.ts'
export { openDirectory } from './session/directory.ts'
export type { Directory, DirectoryOptions } from './session/directory.ts'
export { ClientError } from './client-error.ts'
export type { Outbox } from './outbox/outbox.ts'
export { createIndexedDbOutbox } from './outbox/indexed-db-outbox.ts'
export { createMemoryOutbox } from './outbox/memory-outbox.ts'
export { createV1Client } from './client.ts'
export type { V1Client, V1ClientOptions } from './client.ts'
