// The real version 2 front in simulated processes. A process passes connections on to the peer that holds the session,
// over a network that also delays and breaks.
import type { Host, Logger } from '@baton/core'
import type { DeviceNames, NoLink, PeerLink, PeerLinkOptions } from '@baton/server/websocket'
import { DEFAULT_CONNECTION_LIMITS, openV2Connection } from '@baton/server/websocket'
import type { SimulatedProcess } from './process.ts'
import type { NetworkOptions, SimulatedNetwork } from './simulated-network.ts'
import { createNetwork } from './simulated-network.ts'

export interface SimulatedServer {
  readonly host: Host
  readonly process: SimulatedProcess
  /** Virtual time, with the wall clock of this server's machine. */
  readonly time: NetworkOptions['time']
  /** Shared by the connections of a process. */
  readonly deviceNames: DeviceNames
  /** The address for its peers; `undefined` if it passes nothing on. */
  readonly address: string | undefined
}

export interface FrontOptions extends NetworkOptions {
  readonly newId: () => string
  /** The servers that exist now. */
  readonly servers: () => readonly SimulatedServer[]
}

/** Connects the network to the server. Returns false if the server is dead or the network is closed. */
export function serve(
  front: FrontOptions,
  server: SimulatedServer,
  network: SimulatedNetwork,
  isFromPeer = false,
): boolean {
  const { host, process, time, deviceNames, address } = server
  if (!process.isAlive() || !network.isOpen()) return false
  process.onEnd(() => network.drop())
  openV2Connection({
    socket: network.socket,
    connection: front.newId(),
    host,
    principal: { id: 'ann' },
    clock: time.clock,
    timers: { start: process.start },
    newId: front.newId,
    log: SILENT,
    limits: DEFAULT_CONNECTION_LIMITS,
    isDraining: () => false,
    allow: {},
    deviceNames,
    isFromPeer,
    ...(address !== undefined && {
      peers: { address, secret: 'known to the peers' },
      reachPeer: (link) => reachPeer(front, server, link),
    }),
  })
  return true
}

/** Replaces `connectToPeer`: connects one simulated server to another. */
function reachPeer(front: FrontOptions, from: SimulatedServer, init: PeerLinkOptions): Promise<PeerLink | NoLink> {
  const { address, socket, isPassed } = init
  const network = createNetwork(front)
  from.process.onEnd(() => network.drop())
  let isLeft = false
  network.onFrame((text) => {
    if (!isLeft && (!isPassed || isPassed(text))) socket.send(text)
  })
  network.onDrop(() => {
    if (!isLeft) socket.close(RESTARTED, 'connect again')
  })
  const link: PeerLink = {
    send: (text) => {
      if (network.isOpen()) network.sendToServer(text)
    },
    close: () => {
      isLeft = true
      network.drop()
    },
  }
  return new Promise((resolve) => {
    from.process.start(front.random.below(100), () => {
      const peer = front.servers().find((server) => server.address === address)
      if (peer && serve(front, peer, network, true)) {
        front.onFault('passed-on')
        resolve(link)
        return
      }
      isLeft = true
      network.drop()
      resolve({ why: 'nobody answers', problem: 'address' })
    })
  })
}

/** The close code of a server that shuts down (1012, IANA registry). */
const RESTARTED = 1012

const SILENT: Logger = { info: () => {}, warn: () => {} }
