// An agent on your own server that supports Chat Completions; `baton serve --agent own-server.ts` serves it.
import { defineAgent } from '@baton/core'
import { createNodeEnvironment } from '@baton/host'
import { COMPATIBLE_QUIRKS, createOpenAiChatModel } from '@baton/models/openai-chat'
import { createUndiciTransport } from '@baton/models/transport/undici'

const { transport, clock } = createNodeEnvironment(createUndiciTransport({ variables: process.env }))
const model = createOpenAiChatModel({
  model: 'my-model',
  baseUrl: 'http://gpu-1:8080/v1',
  label: 'GPU 1',
  quirks: { ...COMPATIBLE_QUIRKS, maxTokensField: 'max_completion_tokens' },
  transport,
  clock,
})
export default defineAgent({ name: 'helper', model })
