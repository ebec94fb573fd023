// What programs import from @baton/client.
export { createClient } from './client.ts'
export type { AgentState, Client, ClientEvents, ClientInit } from './client.ts'
export type { ConnectionState, ReconnectOptions } from './connection.ts'
export type { ClientTool, ToolHandlers, ToolResult, TypedAgent } from './tool-calls.ts'
export { platformWorld } from './world.ts'
export type { WebSocketLike, World } from './world.ts'
