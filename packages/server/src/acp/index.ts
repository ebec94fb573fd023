// Agents in editors, over the Agent Client Protocol: `serveAcpOverStdio(host, { agent })` for the editor that started
// this process, `createAcpSocket(host, { agent })` for a server's WebSockets.
export type { AcpOptions } from './options.ts'
export { createAcpSocket } from './socket.ts'
export type { AcpSocketConnection } from './socket.ts'
export { serveAcpOverStdio } from './stdio.ts'
export type { AcpStdioServer } from './stdio.ts'
