// Serves an agent to the editor that started this process, over standard input and output.
import type { Readable, Writable } from 'node:stream'
import type { HostWithSessions } from '../shared/host-with-sessions.ts'
import { createAcpFront } from './front.ts'
import { createLineStream } from './line-stream.ts'
import type { AcpOptions } from './options.ts'

export interface AcpStdioOptions extends AcpOptions {
  /** Default: the streams of the process. */
  readonly input?: Readable
  readonly output?: Writable
}

/** A running `serveAcpOverStdio`: `await server.ended` keeps the process alive until the editor leaves. */
export interface AcpStdioServer {
  /** Settles when the editor has left and its sessions are released. Never rejects. */
  readonly ended: Promise<void>
  /** Releases the sessions, and ends. Never rejects. */
  close(): Promise<void>
}

/**
 * Serves the editor on standard input and output. Nothing else may write to the output, because that would break the
 * protocol. A running turn continues in the host after the editor leaves; stop the host to end the process.
 * @throws BatonError `invalid_option`
 */
export function serveAcpOverStdio(host: HostWithSessions, options: AcpStdioOptions): AcpStdioServer {
  const { input = process.stdin, output = process.stdout, ...rest } = options
  const front = createAcpFront('serveAcpOverStdio', host, rest)
  const { limits, timers } = front.parts
  const stream = createLineStream({ input, output, messageBytes: limits.messageBytes, timers })
  const connection = front.connect(stream, { isLocal: true })
  return {
    ended: connection.ended,
    close: async () => {
      connection.close()
      await connection.ended
    },
  }
}
