// Parts of the client for the command and test kits. @internal: names may change in any version.
export type { NotifyOptions, SentInput } from './session/session-client.ts'
export type { SessionAnswer } from './session/inputs.ts'
export type { WebSocketLike, World } from './world.ts'
