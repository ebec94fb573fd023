// Serves a host's sessions to editors: one connection per message stream.
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk'
import { agentProtocolRouter } from '@agentclientprotocol/sdk/experimental/v2'
import type { HostWithSessions } from '../shared/check-options.ts'
import { demandHost } from '../shared/check-options.ts'
import type { AcpConnection, ConnectionOptions, AcpOptions, AcpParts } from './options.ts'
import { readAcpOptions } from './options.ts'
import { createV1App } from './v1-connection.ts'
import { createV2App } from './v2-connection.ts'

export interface AcpFront {
  readonly parts: AcpParts
  /** Serves one client until the stream ends. */
  connect(stream: Stream, options: { readonly isLocal: boolean }): OpenedConnection
}

export interface OpenedConnection extends AcpConnection {
  /** Settles when the stream has ended and all sessions are released. Never rejects. */
  readonly ended: Promise<void>
  close(): void
}

/** @throws BatonError `invalid_option` */
export function createAcpFront(what: string, host: HostWithSessions, options: AcpOptions): AcpFront {
  demandHost(host, `${what}(host, { agent })`)
  const parts = readAcpOptions(what, options)
  return {
    parts,
    connect: (stream, { isLocal }) => openConnection({ host, parts, isLocal, log: parts.log }, stream),
  }
}

function openConnection(init: ConnectionOptions, given: Stream): OpenedConnection {
  const over = new AbortController()
  const known = new TransformStream<AnyMessage, AnyMessage>({
    transform: (message, controller) => {
      if (!isStrayAnswer(message)) controller.enqueue(message)
    },
  })
  const readable = given.readable.pipeThrough(known, { signal: over.signal })
  const { connection, closed } = connect(init, { readable, writable: given.writable })
  const ended = closed.catch(() => {}).then(() => connection.leave()) // however it ended
  return { ...connection, ended, close: () => over.abort() }
}

/**
 * Whether a message answers a request that was never sent: our request ids are numbers. The SDK prints unknown ids as
 * they are, and a stranger must not be able to write to the operator's terminal.
 */
function isStrayAnswer(message: AnyMessage): boolean {
  return 'id' in message && !('method' in message) && typeof message.id !== 'number'
}

/** The client's first message shows which version it speaks. */
function connect(
  init: ConnectionOptions,
  stream: Stream,
): { readonly connection: AcpConnection; readonly closed: Promise<void> } {
  const v1 = createV1App(init)
  const v2 = init.parts.experimentalV2 ? createV2App(init) : undefined
  const { closed } = v2 ? agentProtocolRouter().withV1(v1.app).withV2(v2.app).connect(stream) : v1.app.connect(stream)
  const both = [v1.connection, ...(v2 ? [v2.connection] : [])]
  const connection: AcpConnection = {
    isBusy: () => both.some((one) => one.isBusy()),
    busySession: () => both.map((one) => one.busySession()).find((session) => session !== undefined),
    leave: async () => void (await Promise.all(both.map((one) => one.leave()))),
  }
  return { connection, closed }
}
