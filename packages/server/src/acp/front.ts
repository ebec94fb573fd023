// Offers the sessions of a host to editors: one connection for each stream of messages.
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk'
import type { HostWithSessions } from '../shared/host-with-sessions.ts'
import { demandHost } from '../shared/check-options.ts'
import type { AcpConnection, ConnectionInit } from './connection-init.ts'
import type { AcpOptions, AcpParts } from './options.ts'
import { readAcpOptions } from './options.ts'
import { createV1App } from './v1-connection.ts'

export interface AcpFront {
  readonly parts: AcpParts
  /** Serves one client until the stream ends. */
  connect(stream: Stream, options: { readonly isLocal: boolean }): OpenedConnection
}

export interface OpenedConnection extends AcpConnection {
  /** Settles when the stream has ended and all sessions are let go. Never rejects. */
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

function openConnection(init: ConnectionInit, given: Stream): OpenedConnection {
  const over = new AbortController()
  const readable = given.readable.pipeThrough(new TransformStream<AnyMessage, AnyMessage>(), { signal: over.signal })
  const { app, connection } = createV1App(init)
  const { closed } = app.connect({ readable, writable: given.writable })
  const ended = closed.catch(() => {}).then(() => connection.leave()) // however it ended
  return {
    isBusy: () => connection.isBusy(),
    busySession: () => connection.busySession(),
    leave: () => connection.leave(),
    ended,
    close: () => over.abort(),
  }
}
