// An agent on a model that is newer than the traits table; its known traits are passed next to its name.
import { defineAgent } from '@baton/core'
import { createNodeEnvironment } from '@baton/host'
import { createAnthropicModel } from '@baton/models/anthropic'
import { createUndiciTransport } from '@baton/models/transport/undici'

const { transport, clock } = createNodeEnvironment(createUndiciTransport({ variables: process.env }))
const model = createAnthropicModel({
  model: 'claude-opus-6',
  traits: { contextTokens: 2_000_000, thinking: { off: 'disabled' } },
  apiKey: process.env['ANTHROPIC_API_KEY'] ?? 'no key yet',
  transport,
  clock,
})
export default defineAgent({ name: 'helper', model })
