// Servers behind a third-party proxy: our fakes of four protocols, scripted in a common format. They know nothing of
// the proxy and check its requests as strictly as ever.
import type { JsonObject } from '@baton/core'
import { startFakeAnthropic } from '../fake-providers/fake-anthropic.ts'
import { startFakeGemini } from '../fake-providers/fake-gemini.ts'
import { startFakeOpenAiChat } from '../fake-providers/fake-openai-chat.ts'
import { startFakeOpenAiResponses } from '../fake-providers/fake-openai-responses.ts'
import type { FakeError, FakeRequest, FakeScript } from '../fake-providers/fake-server.ts'
import type { LiteLlmModel } from './litellm.ts'

export interface Said {
  /** Sent if the request asks for it. */
  readonly reasoning?: string
  readonly text?: string
  /** Calls of the only tool, each with its place. */
  readonly places?: readonly string[]
  /** Breaks the connection in the middle of the text, which must be long. */
  readonly isCut?: boolean
  /** Stalls in the middle of the text until the client disconnects. */
  readonly stalls?: boolean
}

/** An error in the provider's format. `busy` asks to wait for one second. */
export type Refusal = 'busy' | 'overloaded' | 'overflow' | 'wrong key'

export interface Behind {
  /** The provider's name for the model, which Baton uses to look up its traits. */
  readonly name: string
  readonly place: LiteLlmModel
  /** Next answer; no request may arrive if none is left. */
  readonly queue: (Said | Refusal)[]
  readonly asked: readonly Asked[]
  /** Requests since the last call that broke a rule of the provider. */
  takeRefusals(): readonly string[]
  /** Number of connections that the proxy closed before their answer had ended. */
  aborted(): number
  close(): Promise<void>
}

export interface Asked {
  readonly body: JsonObject
  /** Texts of the trailing results, in order. */
  readonly results: readonly string[]
}

/** After this many chunks a long text is halfway, in any protocol. */
const MIDDLE = 8
/** Baton's probe is always answered: the server supports tools. */
function takeNext(queue: Behind['queue'], request: FakeRequest): Said | Refusal {
  if (JSON.stringify(request.body).includes('Call the tool repeat_word')) return { places: [''] }
  const next = queue.shift()
  if (next === undefined) throw new Error('there were more requests than answers prepared by the test')
  return next
}

function listCalls(said: Said, request: FakeRequest) {
  const name = said.places ? request.toolLike(/look|repeat/) : ''
  return (said.places ?? []).map((place) => ({ name, input: place === '' ? { word: 'copper' } : { place } }))
}

/** Next answer of the fake, in the fakes' common format. */
function answerFrom(queue: Behind['queue'], refusals: Readonly<Record<Refusal, FakeError>>): FakeScript {
  return (request) => {
    const said = takeNext(queue, request)
    if (typeof said === 'string') return refusals[said]
    const { reasoning, text, isCut, stalls } = said
    return {
      ...(reasoning !== undefined && { reasoning }),
      ...(text !== undefined && { text }),
      calls: listCalls(said, request),
      ...(isCut === true && { cutAfter: MIDDLE }),
      ...(stalls === true && { stallAfter: MIDDLE }),
    }
  }
}

export async function startClaude(): Promise<Behind> {
  const queue: Behind['queue'] = []
  const server = await startFakeAnthropic(
    answerFrom(queue, {
      busy: { status: 429, message: 'slow down', retryAfter: 1 },
      overloaded: { status: 529, message: 'Overloaded' },
      overflow: { status: 400, message: 'prompt is too long: 3333404 tokens > 200000 maximum' },
      'wrong key': { status: 401, message: 'invalid x-api-key' },
    }),
  )
  const place = {
    name: 'claude-sonnet-4-5',
    model: 'anthropic/claude-sonnet-4-5',
    baseUrl: server.url,
    apiKey: 'sk-ant-of-a-test',
  }
  return describeBehind(place, { ...server, queue })
}

export async function startGpt(): Promise<Behind> {
  const queue: Behind['queue'] = []
  const server = await startFakeOpenAiChat({ script: answerFrom(queue, OPENAI_REFUSALS) })
  const place = { name: 'gpt-4.1', model: 'openai/gpt-4.1', baseUrl: server.url, apiKey: 'sk-of-a-test' }
  return describeBehind(place, { ...server, queue })
}

/** Serves only the Responses API. */
export async function startGptResponses(): Promise<Behind> {
  const queue: Behind['queue'] = []
  const server = await startFakeOpenAiResponses(answerFrom(queue, OPENAI_REFUSALS))
  const place = { name: 'gpt-5-mini', model: 'openai/gpt-5-mini', baseUrl: server.url, apiKey: 'sk-of-a-test' }
  return describeBehind(place, { ...server, queue })
}

const OPENAI_REFUSALS: Readonly<Record<Refusal, FakeError>> = {
  busy: { status: 429, type: 'requests', code: 'rate_limit_exceeded', message: 'Rate limit reached', retryAfter: 1 },
  overloaded: { status: 503, type: 'server_error', message: 'The engine is currently overloaded' },
  overflow: {
    status: 400,
    type: 'invalid_request_error',
    code: 'context_length_exceeded',
    message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
  },
  'wrong key': {
    status: 401,
    type: 'invalid_request_error',
    code: 'invalid_api_key',
    message: 'Incorrect API key provided: sk-***.',
  },
}

export async function startGemini(): Promise<Behind> {
  const queue: Behind['queue'] = []
  const overflow = 'The input token count (1300000) exceeds the maximum number of tokens allowed (1048576).'
  const server = await startFakeGemini({
    script: answerFrom(queue, {
      busy: { status: 429, message: 'quota', retryAfter: 1 },
      overloaded: { status: 503, message: 'The model is overloaded. Please try again later.' },
      overflow: { status: 400, message: overflow },
      'wrong key': { status: 400, message: 'API key not valid. Please pass a valid API key.' },
    }),
  })
  const place = {
    name: 'gemini-2.5-flash',
    model: 'gemini/gemini-2.5-flash',
    baseUrl: `${server.url}/v1beta`,
    apiKey: 'key-of-a-test',
  }
  return describeBehind(place, { ...server, queue })
}

interface Fake {
  readonly queue: Behind['queue']
  readonly requests: readonly Asked[]
  readonly refusals: readonly { readonly message: string }[]
  aborted(): number
  close(): Promise<void>
}

function describeBehind(place: LiteLlmModel, fake: Fake): Behind {
  const { queue, requests, refusals, aborted, close } = fake
  // LiteLLM requests the list of models when it starts, which no test needs.
  const isOurs = (message: string): boolean => !message.includes('GET ')
  let taken = 0
  const takeRefusals = (): readonly string[] => {
    const fresh = refusals.slice(taken)
    taken = refusals.length
    return fresh.map(({ message }) => message).filter(isOurs)
  }
  return { name: place.name, place, queue, asked: requests, takeRefusals, aborted, close }
}
