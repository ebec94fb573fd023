// The servers behind a proxy of others: our fakes of four protocols, each told in the same words what it says next. They know
// nothing of the proxy; what it sends them, they check as strictly as always.
import type { JsonObject } from '@baton/core'
import { startFakeAnthropic } from '../fake-anthropic.ts'
import { startFakeGemini } from '../fake-gemini.ts'
import { startFakeOpenAiChat } from '../fake-openai-chat.ts'
import { startFakeOpenAiResponses } from '../fake-openai-responses.ts'
import type { LiteLlmModel } from './litellm.ts'

export interface Said {
  /** Sent where the request asks for it. */
  readonly reasoning?: string
  readonly text?: string
  /** Calls of the only tool, each with its place. */
  readonly places?: readonly string[]
  /** The connection breaks in the middle of the text, which has to be long. */
  readonly isCut?: boolean
  /** The stream stands still in the middle of the text, until the client goes away. */
  readonly stalls?: boolean
}

/** An error in the words of the provider. `busy` asks to wait for one second. */
export type Refusal = 'busy' | 'overloaded' | 'overflow' | 'wrong key'

export interface Behind {
  /** Of the model, as its provider names it: Baton finds its traits by it. */
  readonly name: string
  readonly place: LiteLlmModel
  /** What it says next; nothing may be asked when nothing is left. */
  readonly queue: (Said | Refusal)[]
  readonly asked: readonly Asked[]
  /** Requests that broke a rule of the provider, since it was last asked. */
  takeRefusals(): readonly string[]
  /** Connections that the proxy closed before their answer had ended. */
  aborted(): number
  close(): Promise<void>
}

export interface Asked {
  readonly body: JsonObject
  /** Texts of the results at the end, in their order. */
  readonly results: readonly string[]
}

/** What the fakes' requests have in common. */
interface FakeRequest extends Asked {
  toolLike(pattern: RegExp): string
}

/** Chunks after which a long text is in its middle, whichever protocol frames it. */
const MIDDLE = 8
const WAIT = { 'retry-after': '1' }

/** The probe of Baton is answered in any case: the server takes tools. */
function takeNext(queue: Behind['queue'], request: FakeRequest): Said | Refusal {
  if (JSON.stringify(request.body).includes('Call the tool repeat_word')) return { places: [''] }
  const next = queue.shift()
  if (next === undefined) throw new Error('asked for more than the test has prepared')
  return next
}

function listCalls(said: Said, request: FakeRequest) {
  const name = said.places ? request.toolLike(/look|repeat/) : ''
  return (said.places ?? []).map((place) => ({ name, input: place === '' ? { word: 'copper' } : { place } }))
}

function readSaid({ reasoning, text }: Said) {
  return { ...(reasoning !== undefined && { reasoning }), ...(text !== undefined && { text }) }
}

export async function startClaude(): Promise<Behind> {
  const refusal = {
    busy: { status: 429, errorType: 'rate_limit_error', message: 'slow down', headers: WAIT },
    overloaded: { status: 529, errorType: 'overloaded_error', message: 'Overloaded' },
    overflow: {
      status: 400,
      errorType: 'invalid_request_error',
      message: 'prompt is too long: 3333404 tokens > 200000 maximum',
    },
    'wrong key': { status: 401, errorType: 'authentication_error', message: 'invalid x-api-key' },
  } as const
  const queue: Behind['queue'] = []
  const server = await startFakeAnthropic((request) => {
    const said = takeNext(queue, request)
    if (typeof said === 'string') return refusal[said]
    return {
      ...readSaid(said),
      calls: listCalls(said, request),
      ...(said.isCut === true && { cutAfterEvents: MIDDLE }),
      ...(said.stalls === true && { stallAfterEvents: MIDDLE }),
    }
  })
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
  const server = await startFakeOpenAiChat({
    script: (request) => {
      const said = takeNext(queue, request)
      if (typeof said === 'string') return OPENAI_REFUSALS[said]
      return {
        ...readSaid(said),
        calls: listCalls(said, request),
        ...(said.isCut === true && { cutAfterChunks: MIDDLE }),
        ...(said.stalls === true && { stallAfterChunks: MIDDLE }),
      }
    },
  })
  const place = { name: 'gpt-4.1', model: 'openai/gpt-4.1', baseUrl: server.url, apiKey: 'sk-of-a-test' }
  return describeBehind(place, { ...server, queue })
}

/** Behind it stands the Responses API alone. */
export async function startGptResponses(): Promise<Behind> {
  const queue: Behind['queue'] = []
  const server = await startFakeOpenAiResponses({
    script: (request) => {
      const said = takeNext(queue, request)
      if (typeof said === 'string') return OPENAI_REFUSALS[said]
      return {
        ...readSaid(said),
        calls: listCalls(said, request),
        ...(said.isCut === true && { cutAfterEvents: MIDDLE }),
        ...(said.stalls === true && { stallAfterEvents: MIDDLE }),
      }
    },
  })
  const place = { name: 'gpt-5-mini', model: 'openai/gpt-5-mini', baseUrl: server.url, apiKey: 'sk-of-a-test' }
  return describeBehind(place, { ...server, queue })
}

const OPENAI_REFUSALS = {
  busy: { status: 429, type: 'requests', code: 'rate_limit_exceeded', message: 'Rate limit reached', headers: WAIT },
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
} as const

export async function startGemini(): Promise<Behind> {
  const refusal = {
    busy: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'quota', retryDelay: '1s' },
    overloaded: { code: 503, status: 'UNAVAILABLE', message: 'The model is overloaded. Please try again later.' },
    overflow: {
      code: 400,
      status: 'INVALID_ARGUMENT',
      message: 'The input token count (1300000) exceeds the maximum number of tokens allowed (1048576).',
    },
    'wrong key': {
      code: 400,
      status: 'INVALID_ARGUMENT',
      message: 'API key not valid. Please pass a valid API key.',
    },
  } as const
  const queue: Behind['queue'] = []
  const server = await startFakeGemini({
    script: (request) => {
      const said = takeNext(queue, request)
      if (typeof said === 'string') return refusal[said]
      return {
        ...(said.text !== undefined && { text: said.text }),
        ...(said.reasoning !== undefined && { thought: said.reasoning }),
        calls: listCalls(said, request).map(({ name, input }) => ({ name, args: input })),
        ...(said.isCut === true && { cutAfterChunks: MIDDLE }),
        ...(said.stalls === true && { stallAfterChunks: MIDDLE }),
      }
    },
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
  // LiteLLM looks at the list of models when it starts; nobody here asks for it.
  const isOurs = (message: string): boolean => !message.includes('GET ')
  let taken = 0
  const takeRefusals = (): readonly string[] => {
    const fresh = refusals.slice(taken)
    taken = refusals.length
    return fresh.map(({ message }) => message).filter(isOurs)
  }
  return { name: place.name, place, queue, asked: requests, takeRefusals, aborted, close }
}
