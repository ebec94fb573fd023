// Offers Baton's tools and agents to MCP clients: `createMcpHandler(host, { agent })` over HTTP,
// `serveMcpOverStdio(host, { agent })` for the program that started this one.
export { createMcpHandler } from './http.ts'
export type { McpHandler } from './http.ts'
export type { McpHttpOptions, McpServerOptions } from './options.ts'
export { serveMcpOverStdio } from './stdio.ts'
export type { McpStdioServer } from './stdio.ts'
