// An agent on Bedrock, with the credentials found by the AWS chain: a profile, a role, or the machine's.
import { defaultProvider } from '@aws-sdk/credential-provider-node'
import { defineAgent } from '@baton/core'
import { createNodeEnvironment } from '@baton/host'
import { createBedrockModel } from '@baton/models/bedrock'
import { createUndiciTransport } from '@baton/models/transport/undici'

const { transport, clock } = createNodeEnvironment(createUndiciTransport({ variables: process.env }))
const model = createBedrockModel({
  model: 'eu.anthropic.claude-haiku-4-5-20251001-v1:0',
  region: 'eu-west-1',
  credentials: defaultProvider(),
  cache: '5m',
  transport,
  clock,
})
export default defineAgent({ name: 'helper', model })
