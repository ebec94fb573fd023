// Baton as an app's conductor: the WebSocket front (version 1) over a host with the in-memory store. One session for
// each connection; its window holds one exchange, so that every turn sends the same request to the provider.
import { defineAgent, tool } from '@baton/core'
import { createHost, createNodeEnvironment } from '@baton/host'
import { createWebSocketFront } from '@baton/server/websocket'
import { createAnthropicModel } from '@baton/models/anthropic'
import { createUndiciTransport } from '@baton/models/transport/undici'
import { createProvider } from './baton-in-process.ts'
import type { OpenClient } from './client.ts'
import { ECHO_SCHEMA } from './client.ts'
import { turnsOverWebSocket } from './websocket-turns.ts'

const ENDLESS = Number.MAX_SAFE_INTEGER
/** Servers normally refuse apps that talk without a pause, and thousands of apps at one address. */
const LIMITS = {
  connections: 20_000,
  addressConnections: 20_000,
  addressSessionsPerMinute: ENDLESS,
  addressTurns: ENDLESS,
  addressBytesPerMinute: ENDLESS,
  sessionFramesPerMinute: ENDLESS,
  sessionTranscriptsPerMinute: ENDLESS,
  addressFramesPerMinute: ENDLESS,
}

/** Creates a host with a window of one exchange. */
export function openServedHost(base: string) {
  const environment = createNodeEnvironment(createUndiciTransport({ variables: {} }))
  const { clock, timers, newId, transport } = environment
  const agent = defineAgent({
    name: 'bench',
    model: createAnthropicModel({ ...createProvider(base), transport, clock }),
    tools: [tool({ name: 'echo', description: 'echo', input: ECHO_SCHEMA, effect: 'pure' })],
    settings: { maxOutputTokens: 4096 },
    window: { exchanges: 1, summarise: false },
  })
  const log = { info: () => {}, warn: () => {} }
  return { host: createHost({ environment, agent }), world: { clock, timers, newId, log } }
}

export const open: OpenClient = async ({ base }) => {
  const { host, world } = openServedHost(base)
  const front = createWebSocketFront(host, { ...world, limits: LIMITS, port: 0 })
  const { url } = await front.listen()
  return turnsOverWebSocket({
    url,
    dialect: 'v1',
    close: async () => {
      await front.close()
      await host.stop()
    },
  })
}
