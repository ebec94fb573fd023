// Agents in editors, over the Agent Client Protocol: `serveAcpOverStdio(host, { agent })` for the editor that started
// this process, `createAcpSocket(host, { agent })` for a server's WebSockets.
export { CALL_TOOL, CLIENT_TOOLS } from './client-extension.ts'
export type { AcpConnection } from './connection-options.ts'
export type { Editor, EditorCommand, EditorCommandEnd } from './editor.ts'
export type { AcpAuth, AcpLimits, AcpMcpServer, AcpOptions, AcpPlace } from './options.ts'
export { EDITED_INPUT, REASON } from './permissions.ts'
export { createAcpSocket } from './socket.ts'
export { serveAcpOverStdio } from './stdio.ts'
export type { AcpStdioOptions, AcpStdioServer } from './stdio.ts'
