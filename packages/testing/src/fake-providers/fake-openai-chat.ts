// A fake Chat Completions server: streams in the format of recordings, of OpenAI and of servers that differ, and
// rejects what OpenAI or Mistral would reject.
import type { JsonObject } from '@baton/core'
import { findTooLarge, findTooManyImages } from './media-limits.ts'
import { validateOpenAiChatRequest } from '../wires/index.ts'
import type { FakeAsked, FakeCall, FakeError, FakeRequest, FakeSaid, FakeScript, FakeServer } from './fake-server.ts'
import {
  describeDelay,
  findJsonIssue,
  joinIssues,
  listObjects,
  readText,
  splitPieces,
  startFakeServer,
} from './fake-server.ts'

export interface FakeChatSaid extends FakeSaid {
  readonly refusal?: string
}

/**
 * `openai`: calls in pieces, usage in a separate chunk. `mistral`: whole calls without an index, 9-character ids, usage
 * with the end. `sloppy`: mistakes seen in servers, combined: calls without index and id, arguments as an object,
 * "stop" with calls, no role, nulls everywhere, no [DONE].
 */
export type FakeOpenAiDialect = 'openai' | 'mistral' | 'sloppy'

export interface FakeOpenAiChatOptions {
  /** How it streams, and what it rejects in addition to what OpenAI rejects; `openai` by default. */
  readonly dialect?: FakeOpenAiDialect
  /** Models listed by GET /models. */
  readonly models?: readonly string[]
  /**
   * `ignored`: `tools` never reach the script, as with a chat template without a place for them; `refused`: requests
   * with tools fail, with Ollama's message. `native` by default.
   */
  readonly tools?: 'native' | 'ignored' | 'refused'
  /**
   * Context window in tokens. Like vLLM, it rejects a request whose prompt and maximum answer do not fit. Four
   * characters are a token.
   */
  readonly contextTokens?: number
  /** The wording; `one sum` by default. */
  readonly overflow?: FakeOverflowWords
  /** Maximum images in a request, as counted by vLLM. */
  readonly imagesMax?: number
  readonly script: FakeScript<FakeChatSaid>
}

/** Use its address as OPENAI_BASE_URL. */
export function startFakeOpenAiChat(init: FakeOpenAiChatOptions): Promise<FakeServer> {
  const {
    dialect = 'openai',
    models = [],
    tools,
    contextTokens = Infinity,
    imagesMax = Infinity,
    overflow = 'one sum',
    script,
  } = init
  return startFakeServer<FakeChatSaid>(
    {
      path: '/v1',
      findRefusal: (asked) => {
        const refusal =
          findRefusal(asked, dialect) ??
          findTooManyImages(asked.body ?? {}, imagesMax) ??
          findOverflow(asked.body ?? {}, contextTokens, overflow)
        const hasTools = asked.body?.['tools'] !== undefined
        return refusal ?? (tools === 'refused' && hasTools ? withoutTools(asked.body ?? {}) : undefined)
      },
      answerAside: ({ method }) => (method === 'GET' ? listModels(models) : undefined),
      listTools,
      listResults,
      encodeError: (error) => ({ body: describeError(error), headers: describeDelay(error) }),
      encodeStream: (said, request) => ({
        type: 'text/event-stream; charset=utf-8',
        pieces: listChunks(said, { ...request, dialect }).map(
          (chunk) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`,
        ),
      }),
      encodeWhole,
      idHeader: 'x-request-id',
    },
    (request) => script(tools === 'ignored' ? leaveOutTools(request) : request),
  )
}

/** vLLM's messages for a prompt and maximum answer that do not fit, by version, all seen in 2026. */
export type FakeOverflowWords = 'one sum' | 'max_tokens' | 'input and output' | 'only'

function findOverflow(body: JsonObject, window: number, words: FakeOverflowWords): FakeError | undefined {
  const prompt = Math.ceil(JSON.stringify([body['messages'], body['tools'] ?? []]).length / 4)
  const asked = body['max_completion_tokens'] ?? body['max_tokens']
  const longest = typeof asked === 'number' ? asked : 0
  const sum = prompt + longest
  if (sum <= window) return undefined
  const head = `This model's maximum context length is ${window} tokens`
  const message = {
    'one sum': `${head}. However, you requested ${sum} tokens (${prompt} in the messages, ${longest} in the completion). Please reduce the length of the messages or completion.`,
    max_tokens: `'max_tokens' or 'max_completion_tokens' is too large: ${longest}. ${head} and your request has ${prompt} input tokens (${longest} > ${window} - ${prompt}).`,
    'input and output': `${head}. However, you requested ${longest} output tokens and your prompt contains at least ${prompt} input tokens, for a total of at least ${sum} tokens. Please reduce the length of the input prompt or the number of requested output tokens. (parameter=input_tokens, value=${prompt})`,
    only: `You passed ${prompt} input tokens and requested ${longest} output tokens. However, the model's context length is only ${window} tokens, resulting in a maximum input length of ${window - longest} tokens. Please reduce the length of the input prompt.`,
  }[words]
  return { status: 400, message, type: 'BadRequestError' }
}

function leaveOutTools(request: FakeRequest): FakeRequest {
  const { tools: _, tool_choice: __, ...body } = request.body
  return { ...request, body }
}

function findRefusal(asked: FakeAsked, dialect: FakeOpenAiDialect): FakeError | undefined {
  const { method, url, body = {} } = asked
  const isKnown = (method === 'POST' && url === '/v1/chat/completions') || (method === 'GET' && url === '/v1/models')
  if (!isKnown) return { status: 404, message: `Invalid URL (${method} ${url})` }
  const refusedKey = findKeyRefusal(asked)
  if (refusedKey || method === 'GET') return refusedKey
  const tooLarge = findTooLarge('openai', asked)
  if (tooLarge) return tooLarge
  const issue = findJsonIssue(asked)
  if (issue !== undefined) return { status: 400, message: issue }
  const more = dialect === 'mistral' ? mistralIssues(body) : openAiIssues(body)
  const issues = [joinIssues(validateOpenAiChatRequest(body)) ?? [], more].flat()
  if (issues.length > 0) return { status: 400, message: issues.join('; ') }
  return body['stream'] === true ? undefined : { status: 400, message: 'this server only supports streaming' }
}

/** OpenAI's rejection of a key, on both of its wires. */
export function findKeyRefusal({ headers: { authorization = '' } }: FakeAsked): FakeError | undefined {
  if (/^Bearer \S+$/.test(authorization) && authorization !== 'Bearer bad') return undefined
  return { status: 401, code: 'invalid_api_key', message: 'You didn’t provide a correct API key.' }
}

/** OpenAI's error format, on both of its wires. */
export function describeError({ message, type = 'invalid_request_error', code }: FakeError): JsonObject {
  return { error: { message, type, param: null, code: code ?? null } }
}

/**
 * ChatCompletionCreateParams of openai 7.57, those that Baton may send; 400 "Unrecognized request argument supplied:
 * x".
 */
const OPENAI_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_completion_tokens',
  'max_tokens',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'temperature',
  'top_p',
  'stop',
  'seed',
  'service_tier',
  'prompt_cache_key',
  'reasoning_effort',
  'response_format',
])

function openAiIssues(body: JsonObject): readonly string[] {
  const issues = Object.keys(body)
    .filter((field) => !OPENAI_FIELDS.has(field))
    .map((field) => `Unrecognized request argument supplied: ${field}`)
  const isReasoning = /^(o\d|gpt-5)/.test(typeof body['model'] === 'string' ? body['model'] : '')
  if (!isReasoning) return issues
  if (body['max_tokens'] !== undefined)
    issues.push("Unsupported parameter: 'max_tokens' is not supported with this model.")
  if (body['temperature'] !== undefined && body['temperature'] !== 1)
    issues.push("Unsupported value: 'temperature' does not support other values than the default (1)")
  return issues
}

/** Additional rules of Mistral's API: verbatim messages from issue threads. */
function mistralIssues(body: JsonObject): readonly string[] {
  const issues: string[] = []
  for (const field of ['max_completion_tokens', 'stream_options', 'prompt_cache_key', 'reasoning_effort'])
    if (body[field] !== undefined) issues.push(`body.${field}: Extra inputs are not permitted`)
  const messages = listObjects(body['messages'])
  for (const [index, message] of messages.entries()) {
    if (message['role'] === 'user' && messages[index - 1]?.['role'] === 'tool')
      issues.push("Unexpected role 'user' after role 'tool'")
    if (message['reasoning_content'] !== undefined || message['reasoning'] !== undefined)
      issues.push(`body.messages.${index}.assistant.reasoning_content: Extra inputs are not permitted`)
    for (const { id } of listObjects(message['tool_calls']))
      if (typeof id !== 'string' || !/^[a-zA-Z0-9]{9}$/.test(id))
        issues.push(`Tool call id was ${JSON.stringify(id)} but must be a-z, A-Z, 0-9, with a length of 9.`)
  }
  const last = messages.at(-1)
  if (last?.['role'] === 'assistant' && last['prefix'] !== true)
    issues.push('Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant')
  return issues
}

/** As shown in ollama/ollama#11131 and many others. */
function withoutTools({ model }: JsonObject): FakeError {
  const message = `registry.ollama.ai/library/${readText(model)} does not support tools`
  return { status: 400, type: 'api_error', message }
}

function listTools(body: JsonObject): readonly string[] {
  return listObjects(body['tools']).map((tool) =>
    listObjects([tool['function']])
      .map(({ name }) => readText(name))
      .join(''),
  )
}

function listResults(body: JsonObject): readonly string[] {
  const messages = listObjects(body['messages'])
  const lastOther = messages.findLastIndex(({ role }) => role !== 'tool')
  return messages.slice(lastOther + 1).map(({ content }) => readText(content))
}

function listModels(models: readonly string[]): JsonObject {
  return { object: 'list', data: models.map((id) => ({ id, object: 'model', created: 0, owned_by: 'fake' })) }
}

type Streaming = FakeRequest & { readonly dialect: FakeOpenAiDialect }

function findReason({ stopReason, calls = [] }: FakeChatSaid): string {
  return stopReason ?? (calls.length > 0 ? 'tool_calls' : 'stop')
}

function encodeWhole(said: FakeChatSaid, { model, index }: FakeRequest): JsonObject {
  const { reasoning, text = null, refusal = null, calls = [] } = said
  const made = calls.map(({ name, input }, number) => ({
    id: `call_fake_${index}_${number}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }))
  const message = {
    role: 'assistant',
    content: text,
    refusal,
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(made.length > 0 && { tool_calls: made }),
  }
  const choices = [{ index: 0, message, finish_reason: findReason(said) }]
  return { id: `chatcmpl-fake-${index}`, object: 'chat.completion', created: 0, model, choices, usage: USAGE }
}

const USAGE = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }

/** The last one is the text `[DONE]`, if the dialect has it. */
export function listChunks(answer: FakeChatSaid, init: Streaming): readonly (JsonObject | string)[] {
  const { dialect } = init
  const wrap = (delta: JsonObject, more: JsonObject = {}) =>
    chunk(init, [{ index: 0, delta, finish_reason: null }], more)
  const deltas = [
    ...(dialect === 'sloppy' ? [] : [{ role: 'assistant', content: '' }]),
    ...splitPieces(answer.reasoning ?? '').map((text) => ({ content: null, reasoning_content: text })),
    ...splitPieces(answer.text ?? '').map((text) => (dialect === 'sloppy' ? sloppyText(text) : { content: text })),
    ...splitPieces(answer.refusal ?? '').map((text) => ({ refusal: text })),
    ...(answer.calls ?? []).flatMap((call, number) => callDeltas(call, number, init)),
  ]
  const said = deltas.map((delta) => wrap(delta, dialect === 'openai' ? { usage: null } : {}))
  if (answer.fails) return [...said, describeError(answer.fails)]
  return [...said, ...buildEnd(answer, init)]
}

function buildEnd(answer: FakeChatSaid, init: Streaming): readonly (JsonObject | string)[] {
  const reason = init.dialect === 'sloppy' ? (answer.stopReason ?? 'stop') : findReason(answer)
  const choices = [{ index: 0, delta: {}, finish_reason: reason }]
  if (init.dialect === 'sloppy') return [chunk(init, choices, { usage: null })]
  if (init.dialect === 'mistral') return [chunk(init, choices, { usage: USAGE, p: 'abcdef' }), '[DONE]']
  const asked = init.body['stream_options'] !== undefined
  return [
    chunk(init, choices, { usage: null }),
    ...(asked ? [chunk(init, [], { usage: USAGE, obfuscation: 'x' })] : []),
    '[DONE]',
  ]
}

function callDeltas({ name, input }: FakeCall, number: number, { dialect, index }: Streaming): readonly JsonObject[] {
  const json = JSON.stringify(input)
  if (dialect === 'sloppy') return [{ content: null, tool_calls: [{ id: null, function: { name, arguments: input } }] }]
  if (dialect === 'mistral') {
    const id = `f${index}c${number}`.padEnd(9, '0')
    return [{ tool_calls: [{ id, type: 'function', function: { name, arguments: json } }] }]
  }
  const id = `call_fake_${index}_${number}`
  return [
    { tool_calls: [{ index: number, id, type: 'function', function: { name, arguments: '' } }] },
    ...splitPieces(json).map((text) => ({ tool_calls: [{ index: number, function: { arguments: text } }] })),
  ]
}

function sloppyText(text: string): JsonObject {
  return { content: [{ type: 'text', text }], tool_calls: [], reasoning_content: null, refusal: null }
}

function chunk({ model, index }: Streaming, choices: readonly JsonObject[], more: JsonObject): JsonObject {
  const head = {
    id: `chatcmpl-fake-${index}`,
    object: 'chat.completion.chunk',
    created: 0,
    model,
  }
  return { ...head, choices, ...more }
}
