// Baton's model adapter alone, without host, session or log, on the given wire.
import type { ModelRequest } from '@baton/core'
import { createNodeEnvironment } from '@baton/host'
import { createUndiciTransport } from '@baton/models/transport/undici'
import type { WireName } from '../scenarios.ts'
import type { OpenClient } from './client.ts'
import { ECHO_SCHEMA, createClient } from './client.ts'
import { modelOfWire } from './model-of-wire.ts'

const REQUEST: ModelRequest = {
  instructions: '',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
  tools: [{ name: 'echo', description: 'echo', inputSchema: ECHO_SCHEMA }],
  toolChoice: { type: 'auto' },
  settings: { maxOutputTokens: 4096 },
  session: 's',
}

export const open: OpenClient = ({ base, wire }) => {
  const transport = createUndiciTransport({ variables: {} })
  const { clock } = createNodeEnvironment(transport)
  const model = modelOfWire(wire as WireName, { base, transport, clock }) // as named by the scenario
  const { signal } = new AbortController()
  const turn = async (onText: (text: string) => void): Promise<void> => {
    await model.run(REQUEST, (event) => event.type === 'text-delta' && onText(event.text), signal)
  }
  return createClient(() => turn, transport.close)
}
