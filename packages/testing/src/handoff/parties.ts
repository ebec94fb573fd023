// The providers of the hand-off matrix: each is a strict fake server over real HTTP with the model that calls it.
import type { JsonObject, Model } from '@baton/core'
import { createNodeEnvironment } from '@baton/host'
import { createModelOf } from '@baton/models/choose-model'
import { createUndiciTransport } from '@baton/models/transport/undici'
import { startFakeAnthropic } from '../fake-providers/fake-anthropic.ts'
import { FAKE_BEDROCK_KEYS, startFakeBedrock } from '../fake-providers/fake-bedrock.ts'
import { startFakeGemini } from '../fake-providers/fake-gemini.ts'
import { startFakeOpenAiChat } from '../fake-providers/fake-openai-chat.ts'
import { startFakeOpenAiResponses } from '../fake-providers/fake-openai-responses.ts'
import type { FakeRequest, FakeSaid, FakeScript, FakeServer } from '../fake-providers/fake-server.ts'

/** A provider-neutral answer. */
export interface Said {
  readonly reasoning?: string
  readonly text?: string
  /** Matched by part of the tool's name. */
  readonly calls?: readonly { readonly tool: RegExp; readonly input: JsonObject }[]
}

export interface Party {
  readonly name: string
  readonly model: Model
  /** Next answer; a short text if none is left. */
  readonly queue: Said[]
  readonly bodies: () => readonly JsonObject[]
  readonly refusals: () => readonly string[]
}

export interface Parties {
  readonly all: readonly Party[]
  close(): Promise<void>
}

interface Kind {
  readonly name: string
  readonly modelId: string
  readonly variables: (url: string) => Readonly<Record<string, string>>
  readonly start: (script: FakeScript) => Promise<FakeServer>
}

const KEY = 'key-of-a-test'

const KINDS: readonly Kind[] = [
  {
    name: 'anthropic',
    modelId: 'anthropic/claude-sonnet-4-5',
    variables: (url) => ({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url }),
    start: startFakeAnthropic,
  },
  {
    name: 'openai',
    modelId: 'openai/gpt-5-mini',
    variables: (url) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: url }),
    start: startFakeOpenAiResponses,
  },
  {
    name: 'openai-chat',
    modelId: 'openai-chat/gpt-4.1',
    variables: (url) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: url }),
    start: (script) => startFakeOpenAiChat({ script }),
  },
  {
    name: 'mistral',
    modelId: 'mistral/mistral-large',
    variables: (url) => ({ MISTRAL_API_KEY: KEY, MISTRAL_BASE_URL: url }),
    start: (script) => startFakeOpenAiChat({ dialect: 'mistral', script }),
  },
  {
    name: 'gemini',
    modelId: 'gemini/gemini-3-pro-preview',
    variables: (url) => ({ GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: url }),
    start: (script) => startFakeGemini({ script }),
  },
  bedrockKind('bedrock-claude', 'anthropic.claude-sonnet-4-5-20250929-v1:0'),
  bedrockKind('bedrock-nova', 'amazon.nova-lite-v1:0'),
]

function bedrockKind(name: string, modelId: string): Kind {
  return {
    name,
    modelId: `bedrock/${modelId}`,
    variables: (url) => ({
      AWS_BEARER_TOKEN_BEDROCK: FAKE_BEDROCK_KEYS.bearer,
      AWS_REGION: 'us-east-1',
      AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url,
    }),
    start: startFakeBedrock,
  }
}

export async function startParties(): Promise<Parties> {
  const transport = createUndiciTransport({ variables: {} })
  const { clock } = createNodeEnvironment(transport)
  const servers: FakeServer[] = []
  const all: Party[] = []
  for (const kind of KINDS) {
    const queue: Said[] = []
    const server = await kind.start((request) => named(queue.shift() ?? { text: 'Fine.' }, request))
    servers.push(server)
    const modelOf = createModelOf({ variables: kind.variables(server.url), transport, clock })
    all.push({
      name: kind.name,
      model: modelOf(kind.modelId),
      queue,
      bodies: () => server.requests.map(({ body }) => body),
      refusals: () => server.refusals.map(({ message }) => message),
    })
  }
  return {
    all,
    close: async () => {
      await transport.close()
      for (const server of servers) await server.close()
    },
  }
}

function named({ calls = [], ...said }: Said, request: FakeRequest): FakeSaid {
  return { ...said, calls: calls.map(({ tool, input }) => ({ name: request.toolLike(tool), input })) }
}
