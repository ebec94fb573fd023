// The vendor's own SDK for a wire, used as its documentation recommends for streamed text with the answer at the end.
// Google's and Amazon's SDKs do not provide the whole answer of a stream: users concatenate the text themselves, as
// this client does.
import type { WireName } from '../scenarios.ts'
import type { OpenClient, RunTurn } from './client.ts'
import { createClient } from './client.ts'

export const open: OpenClient = async ({ base, wire }) => {
  const turn = await TURNS[wire as WireName](base) // as named by the scenario
  return createClient(() => turn)
}

const QUESTION = { role: 'user', content: 'hi' } as const
const MODEL = 'mock-model'

/** Loads only the SDK of the wire. */
const TURNS: Readonly<Record<WireName, (base: string) => Promise<RunTurn>>> = {
  messages: async (base) => {
    const { default: Anthropic } = await import('@anthropic-ai/sdk')
    const api = new Anthropic({ apiKey: 'k', baseURL: base, maxRetries: 0 })
    return async (onText) => {
      const stream = api.messages.stream({ model: MODEL, max_tokens: 4096, messages: [QUESTION] }).on('text', onText)
      const { content } = await stream.finalMessage()
      assertSaid(content.length > 0)
    }
  },
  responses: async (base) => {
    const { default: OpenAI } = await import('openai')
    const api = new OpenAI({ apiKey: 'k', baseURL: `${base}/v1`, maxRetries: 0 })
    return async (onText) => {
      const stream = api.responses
        .stream({ model: MODEL, input: 'hi' })
        .on('response.output_text.delta', ({ delta }) => onText(delta))
      assertSaid((await stream.finalResponse()).output_text !== '')
    }
  },
  chat: async (base) => {
    const { default: OpenAI } = await import('openai')
    const api = new OpenAI({ apiKey: 'k', baseURL: `${base}/v1`, maxRetries: 0 })
    return async (onText) => {
      const stream = api.chat.completions.stream({ model: MODEL, messages: [QUESTION] }).on('content', onText)
      assertSaid((await stream.finalContent()) !== '')
    }
  },
  gemini: async (base) => {
    const { GoogleGenAI } = await import('@google/genai')
    const api = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: base } })
    return async (onText) => {
      let whole = ''
      for await (const { text = '' } of await api.models.generateContentStream({ model: MODEL, contents: 'hi' })) {
        whole += text
        onText(text)
      }
      assertSaid(whole !== '')
    }
  },
  converse: async (base) => {
    const { BedrockRuntimeClient, ConverseStreamCommand } = await import('@aws-sdk/client-bedrock-runtime')
    const { NodeHttpHandler } = await import('@smithy/node-http-handler')
    const api = new BedrockRuntimeClient({
      region: 'us-east-1',
      endpoint: base,
      token: { token: 'k' },
      authSchemePreference: ['httpBearerAuth'],
      maxAttempts: 1,
      // Its handler for HTTP/1.1, the protocol of the measured provider; HTTP/2 is the default.
      requestHandler: new NodeHttpHandler(),
    })
    return async (onText) => {
      const messages = [{ role: QUESTION.role, content: [{ text: QUESTION.content }] }]
      const { stream } = await api.send(new ConverseStreamCommand({ modelId: MODEL, messages }))
      let whole = ''
      for await (const { contentBlockDelta } of stream ?? []) {
        const text = contentBlockDelta?.delta?.text
        if (text === undefined) continue
        whole += text
        onText(text)
      }
      assertSaid(whole !== '')
    }
  },
}

function assertSaid(hasSaid: boolean): void {
  if (!hasSaid) throw new Error('the answer was empty')
}
