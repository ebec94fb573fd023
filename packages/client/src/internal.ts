// Parts of the client for the command and test kits. @internal: names may change in any version.
export type { NotifyOptions, SentInput, SessionAnswer } from './session/session-client.ts'
export type { WebSocketLike, World } from './world.ts'
