// An agent for the one editor that started this process: messages come in on standard input and go out on standard output.
import type { Readable, Writable } from 'node:stream'
import type { HostWithSessions } from '../shared/host-with-sessions.ts'
import { createAcpFront } from './front.ts'
import { createLineStream } from './line-stream.ts'
import type { AcpOptions } from './options.ts'

export interface AcpStdioOptions extends AcpOptions {
  /** The streams of the process by default. */
  readonly input?: Readable
  readonly output?: Writable
}

export interface AcpStdioServer {
  /** Settles when the editor has left and its sessions are let go. Never rejects. */
  readonly ended: Promise<void>
  /** Lets go of the sessions, and ends. Never rejects. */
  close(): Promise<void>
}

/**
 * Nothing else may write to the output, because that would break the protocol. A turn that runs when the editor leaves goes on in the
 * host; stop the host to end the process.
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
