// The choice of a model: which one, why, and the error for a name that cannot be used.
import type { HttpRequest } from '@baton/core/internal'
import { isBatonError } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import type { ChooseModelOptions } from './choose-model.ts'
import { chooseModel, createModelOf, listModelsOf, withBaseUrl } from './choose-model.ts'
import { secretsIn } from './provider-settings.ts'

const USABLE =
  'use "<provider>/<model>" or "offline"; providers: anthropic, openai, openai-chat, azure, openai-compatible, ollama, lmstudio, ' +
  'vllm, groq, openrouter, deepseek, xai, together, fireworks, cerebras, mistral, gemini, bedrock'
const KEY = { ANTHROPIC_API_KEY: 'sk-1' }

test.each<[string, ChooseModelOptions, string, string]>([
  ['nothing is set', { variables: {} }, 'offline', 'because no key is set; set ANTHROPIC_API_KEY for a real model'],
  [
    'an empty key is none',
    { variables: { ANTHROPIC_API_KEY: ' ' } },
    'offline',
    'because no key is set; set ANTHROPIC_API_KEY for a real model',
  ],
  ['a key', { variables: KEY }, 'anthropic/claude-haiku-4-5', 'because ANTHROPIC_API_KEY is set'],
  [
    'a key of Bedrock',
    { variables: { AWS_BEARER_TOKEN_BEDROCK: 'k' } },
    'bedrock/amazon.nova-lite-v1:0',
    'because AWS_BEARER_TOKEN_BEDROCK is set',
  ],
  [
    'keys of AWS, which are for many things',
    { variables: { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' } },
    'offline',
    'because no key is set; set ANTHROPIC_API_KEY for a real model',
  ],
  [
    'Bedrock by keys of AWS',
    {
      variables: {
        MODEL_PROVIDER: 'bedrock',
        BEDROCK_MODEL_ID: 'us.anthropic.claude-haiku-4-5-20251001-v1:0',
        AWS_ACCESS_KEY_ID: 'a',
        AWS_SECRET_ACCESS_KEY: 'b',
      },
    },
    'bedrock/us.anthropic.claude-haiku-4-5-20251001-v1:0',
    'because MODEL_PROVIDER is bedrock',
  ],
  [
    'a key and a model',
    { variables: { ...KEY, ANTHROPIC_MODEL: 'claude-x' } },
    'anthropic/claude-x',
    'because ANTHROPIC_API_KEY is set',
  ],
  [
    'a provider',
    { variables: { ...KEY, MODEL_PROVIDER: 'anthropic' } },
    'anthropic/claude-haiku-4-5',
    'because MODEL_PROVIDER is anthropic',
  ],
  [
    'the provider is a choice, a key is not',
    { variables: { ...KEY, MODEL_PROVIDER: 'offline' } },
    'offline',
    'because MODEL_PROVIDER is offline',
  ],
  [
    'the agent before the variables',
    { agentModels: ['offline'], variables: KEY },
    'offline',
    'because the agent names it',
  ],
  [
    'an agent with a model of its own',
    { agentModels: [createScriptedModel({ steps: [] })], variables: {} },
    'scripted/model',
    'because the agent defines it',
  ],
  ['a key of OpenAI', { variables: { OPENAI_API_KEY: 'sk-2' } }, 'openai/gpt-5-mini', 'because OPENAI_API_KEY is set'],
  [
    'a key alone names no model of Groq',
    { variables: { GROQ_API_KEY: 'gsk' } },
    'offline',
    'because GROQ_API_KEY is set, but no model; use --model groq/NAME',
  ],
  [
    'the address of a server names no model',
    { variables: { OPENAI_BASE_URL: 'http://gpu-1:8000/v1' } },
    'offline',
    'because OPENAI_BASE_URL is set, but no model; use --model openai-compatible/NAME',
  ],
  [
    'a model of a server that asks for no key chooses no server',
    { variables: { OLLAMA_MODEL: 'qwen3' } },
    'offline',
    'because OLLAMA_MODEL alone chooses no provider; use --model ollama, or set MODEL_PROVIDER to ollama',
  ],
  [
    'a server of one’s own names no model',
    { variables: { BATON_SERVERS: 'gpu-1=http://gpu-1:8000/v1' } },
    'offline',
    'because BATON_SERVERS is set, but no model; use --model gpu-1/NAME',
  ],
  [
    'a key and a model of Groq',
    { variables: { GROQ_API_KEY: 'gsk', GROQ_MODEL: 'openai/gpt-oss-120b' } },
    'groq/openai/gpt-oss-120b',
    'because GROQ_API_KEY is set',
  ],
  [
    'a local server needs no key',
    { flag: 'ollama/qwen3', variables: {} },
    'ollama/qwen3',
    'because the option --model names it',
  ],
  [
    'the other key of Google',
    { variables: { GOOGLE_API_KEY: 'AIza', GEMINI_MODEL: 'gemini-x' } },
    'gemini/gemini-x',
    'because GOOGLE_API_KEY is set',
  ],
  [
    'a project of Vertex AI is no key, and is taken when Gemini is asked for',
    { flag: 'gemini', variables: { GOOGLE_CLOUD_PROJECT: 'p', GOOGLE_CLOUD_ACCESS_TOKEN: 't' } },
    'gemini/gemini-2.5-flash',
    'because the option --model names it',
  ],
  [
    'the flag before all',
    { flag: 'anthropic/claude-y', agentModels: ['offline'], variables: KEY },
    'anthropic/claude-y',
    'because the option --model names it',
  ],
])('%s', (_situation, init, id, reason) => {
  expect(chooseModel(init)).toEqual({ id, reason })
})

test.each<[ChooseModelOptions, string, string]>([
  [
    { flag: 'anthropic/claude-y', variables: {} },
    'model_not_configured',
    'the model anthropic/claude-y needs a key; set ANTHROPIC_API_KEY, or use the model "offline"',
  ],
  [
    { agentModels: ['anthropic/z'], variables: {} },
    'model_not_configured',
    'the model anthropic/z needs a key; set ANTHROPIC_API_KEY, or use the model "offline"',
  ],
  [
    { variables: { MODEL_PROVIDER: 'bedrock' } },
    'model_not_configured',
    'the model bedrock/amazon.nova-lite-v1:0 needs credentials; set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and ' +
      'AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or use the model "offline"',
  ],
  [
    { variables: { MODEL_PROVIDER: 'bedrock', AWS_PROFILE: 'x', AWS_REGION: 'evil.example/' } },
    'invalid_option',
    'AWS_REGION must be a region such as us-east-1, not "evil.example/"',
  ],
  [
    { flag: 'us.amazon.nova-pro-v1:0', variables: {} },
    'unknown_model',
    'no model is named "us.amazon.nova-pro-v1:0"; did you mean "bedrock/us.amazon.nova-pro-v1:0"?',
  ],
  [
    { flag: 'claude-haiku-4-5', variables: KEY },
    'unknown_model',
    'no model is named "claude-haiku-4-5"; did you mean "anthropic/claude-haiku-4-5"?',
  ],
  [
    { flag: 'gemini/g', variables: {} },
    'model_not_configured',
    'the model gemini/g needs a key; set GEMINI_API_KEY, or use the model "offline"',
  ],
  [
    { flag: 'gemini/g', variables: { GOOGLE_CLOUD_PROJECT: 'p' } },
    'model_not_configured',
    'the model gemini/g needs a token for the project p; set GOOGLE_CLOUD_ACCESS_TOKEN to the output of "gcloud auth ' +
      'print-access-token", or set GEMINI_API_KEY',
  ],
  [
    { flag: 'gemini/g', variables: { GOOGLE_API_KEY: 'AIza', GOOGLE_GENAI_USE_VERTEXAI: 'True' } },
    'model_not_configured',
    'the model gemini/g needs a Vertex AI project; set GOOGLE_CLOUD_PROJECT',
  ],
  [
    { flag: 'gemini/g', variables: { GOOGLE_CLOUD_PROJECT: 'p', GOOGLE_CLOUD_LOCATION: 'a.example/' } },
    'invalid_option',
    'GOOGLE_CLOUD_LOCATION must be a region such as europe-west4, or global, not "a.example/"',
  ],
  [
    { flag: 'google/gemini-x', variables: {} },
    'unknown_model',
    'no model is named "google/gemini-x"; did you mean "gemini/gemini-x"?',
  ],
  [{ flag: 'gpt', variables: KEY }, 'unknown_model', `no model is named "gpt"; ${USABLE}`],
  [
    { flag: 'antropic/claude-haiku-4-5', variables: KEY },
    'unknown_model',
    'no model is named "antropic/claude-haiku-4-5"; did you mean "anthropic/claude-haiku-4-5"?',
  ],
  [{ agentModels: ['offlin'], variables: KEY }, 'unknown_model', 'no model is named "offlin"; did you mean "offline"?'],
  [
    { flag: 'gpu1/m', variables: { BATON_SERVERS: 'gpu-1=http://gpu-1:8000/v1' } },
    'unknown_model',
    'no model is named "gpu1/m"; did you mean "gpu-1/m"?',
  ],
  [
    { variables: { MODEL_PROVIDER: 'opnai' } },
    'unknown_model',
    'no model is named "opnai", which MODEL_PROVIDER is set to; did you mean "openai"?',
  ],
  [
    { flag: 'gguf/x', variables: {} },
    'unknown_model',
    'no model is named "gguf/x"; a model in a file is "gguf:FILE", with a colon',
  ],
  [{ flag: 'gpt-5', variables: KEY }, 'unknown_model', 'no model is named "gpt-5"; did you mean "openai/gpt-5"?'],
  [{ flag: '', variables: KEY }, 'unknown_model', `no model is named ""; ${USABLE}`],
  [{ flag: 'groq/', variables: KEY }, 'unknown_model', `no model is named "groq/"; ${USABLE}`],
  [
    { flag: 'groq/llama', variables: KEY },
    'model_not_configured',
    'the model groq/llama needs a key; set GROQ_API_KEY, or use the model "offline"',
  ],
  [
    { flag: 'ollama', variables: {} },
    'model_not_configured',
    'the provider ollama needs a model; use "ollama/<model>" or set OLLAMA_MODEL',
  ],
  [
    { flag: 'openai-compatible/m', variables: {} },
    'model_not_configured',
    'the model openai-compatible/m needs the address of its server; set OPENAI_BASE_URL',
  ],
  [
    { flag: 'vllm/m', variables: { VLLM_BASE_URL: 'gpu:8000' } },
    'invalid_option',
    'VLLM_BASE_URL must be an address such as http://127.0.0.1:8000/v1, without a query; in a password, write "?" and "#" as %3F and %23',
  ],
  [{ flag: 'anthropic/', variables: KEY }, 'unknown_model', `no model is named "anthropic/"; ${USABLE}`],
])('%j is refused', (init, code, message) => {
  expect(thrownBy(() => chooseModel(init))).toEqual([code, message])
})

function thrownBy(act: () => unknown): readonly string[] {
  try {
    act()
    return []
  } catch (error) {
    return isBatonError(error) ? [error.code, error.message] : [String(error)]
  }
}

test('a model is made once, with the address and the output tokens of the variables', async () => {
  const asked: HttpRequest[] = []
  const modelOf = createModelOf({
    variables: { ...KEY, ANTHROPIC_BASE_URL: 'http://127.0.0.1:1', ANTHROPIC_MAX_TOKENS: '5000' },
    clock: { nowMs: () => 0 },
    transport: {
      post: (request) => {
        asked.push(request)
        return Promise.reject(new Error('no network in this test'))
      },
    },
  })
  const model = modelOf('anthropic/claude-haiku-4-5')
  expect(modelOf('anthropic/claude-haiku-4-5')).toBe(model)
  expect(modelOf('offline').id).toBe('offline')
  const request = {
    instructions: '',
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
    tools: [],
    toolChoice: { type: 'auto' },
    settings: {},
    session: 's',
  } as const
  const run = (settings: object) =>
    model.run({ ...request, settings }, () => {}, new AbortController().signal).catch(() => {})
  await run({})
  await run({ maxOutputTokens: 7 })
  expect(asked.map(({ url, body }) => [url, (JSON.parse(body) as { max_tokens: number }).max_tokens])).toEqual([
    ['http://127.0.0.1:1/v1/messages', 5000],
    ['http://127.0.0.1:1/v1/messages', 7],
  ])
})

const WRONG_ADDRESS =
  'ANTHROPIC_BASE_URL must be an address such as https://api.anthropic.com, without a query; in a password, write "?" and "#" as %3F and %23'
const WRONG_TOOLS =
  'BATON_TOOLS must be probe, native, prompted or one of hermes, json-fence, llama, brackets, qwen-coder, glm, deepseek, harmony, kimi, granite, minimax, gemma, mistral, not "always"'
const WRONG_KEY =
  'ANTHROPIC_API_KEY contains a line break or another character that no key has; set it to the key alone'

test.each([
  ['ANTHROPIC_MAX_TOKENS', 'many', 'ANTHROPIC_MAX_TOKENS must be a whole number greater than 0, not "many"'],
  ['ANTHROPIC_BASE_URL', 'notaurl', WRONG_ADDRESS],
  ['ANTHROPIC_BASE_URL', 'localhost:8080', WRONG_ADDRESS],
  ['ANTHROPIC_BASE_URL', 'http://', WRONG_ADDRESS],
  ['ANTHROPIC_BASE_URL', 'https://me:pass@gateway.example/?key=1', WRONG_ADDRESS],
  ['ANTHROPIC_API_KEY', 'sk-1\nsk-2', WRONG_KEY],
  ['ANTHROPIC_API_KEY', 'sk-1…', WRONG_KEY],
  ['BATON_TOOLS', 'always', WRONG_TOOLS],
  ['BATON_MODEL_TIMEOUT_MS', '30s', 'BATON_MODEL_TIMEOUT_MS must be a whole number greater than 0, not "30s"'],
  [
    'BATON_SERVERS',
    'gpu',
    'BATON_SERVERS has an invalid entry, number 1: it needs a lowercase name and an address, such as gpu-1=http://gpu-1:8000/v1',
  ],
  ['BATON_SERVERS', 'a=http://a a=http://b', 'BATON_SERVERS has an invalid entry, number 2: the name "a" is taken'],
  ['BATON_SERVERS', 'ollama=http://a', 'BATON_SERVERS has an invalid entry, number 1: the name "ollama" is taken'],
  [
    'BATON_SERVERS',
    'a=ftp://b',
    'BATON_SERVERS has an invalid entry, number 1: it needs an http or https address without "?" and "#"; in a password, write them as %3F and %23',
  ],
])('%s=%j is refused at the start', (name, value, message) => {
  const init = { transport: { post: () => Promise.reject(new Error('unused')) }, clock: { nowMs: () => 0 } }
  expect(thrownBy(() => createModelOf({ ...init, variables: { [name]: value } }))).toEqual(['invalid_option', message])
})

const SERVERS = 'gpu-1=http://gpu-1:8000/v1, gpu-2=http://gpu-2:8000'

test.each<[string, string, object, string, object]>([
  ['openai/gpt-x', 'https://api.openai.com/v1', { OPENAI_API_KEY: 'sk-2' }, 'Bearer sk-2', { max_output_tokens: 512 }],
  [
    'openai-chat/gpt-x',
    'https://api.openai.com/v1',
    { OPENAI_API_KEY: 'sk-2' },
    'Bearer sk-2',
    { max_completion_tokens: 512 },
  ],
  ['ollama/llama3.3', 'http://127.0.0.1:11434/v1', {}, 'none', { model: 'llama3.3', max_tokens: 512 }],
  ['vllm/org/model', 'http://gpu:8000/v1', { VLLM_BASE_URL: 'http://gpu:8000' }, 'none', { model: 'org/model' }],
  [
    'openai-compatible/m',
    'http://h/x',
    { OPENAI_BASE_URL: 'http://h/x/', OPENAI_API_KEY: 'k' },
    'Bearer k',
    { model: 'm' },
  ],
  [
    'mistral/small',
    'https://api.mistral.ai/v1',
    { MISTRAL_API_KEY: 'm' },
    'Bearer m',
    { model: 'small', max_tokens: 512 },
  ],
  [
    'azure/gpt-4.1',
    'https://me.openai.azure.com/openai/v1',
    { AZURE_OPENAI_ENDPOINT: 'https://me.openai.azure.com/', AZURE_OPENAI_API_KEY: 'z' },
    'Bearer z',
    { model: 'gpt-4.1', max_completion_tokens: 512 },
  ],
  ['xai/grok-4.5', 'https://api.x.ai/v1', { XAI_API_KEY: 'x' }, 'Bearer x', { reasoning_effort: 'low' }],
  ['together/m', 'https://api.together.xyz/v1', { TOGETHER_API_KEY: 't' }, 'Bearer t', { max_tokens: 512 }],
  ['fireworks/m', 'https://api.fireworks.ai/inference/v1', { FIREWORKS_API_KEY: 'f' }, 'Bearer f', { max_tokens: 512 }],
  ['cerebras/m', 'https://api.cerebras.ai/v1', { CEREBRAS_API_KEY: 'c' }, 'Bearer c', { max_completion_tokens: 512 }],
  ['gpu-2/m', 'http://gpu-2:8000/v1', { BATON_SERVERS: SERVERS, GPU_2_API_KEY: 'g' }, 'Bearer g', { model: 'm' }],
])('%s asks %s', async (...[id, baseUrl, variables, auth, body]) => {
  const asked: HttpRequest[] = []
  const transport = {
    post: (request: HttpRequest) => {
      asked.push(request)
      return Promise.reject(new Error('no network in this test'))
    },
  }
  const model = createModelOf({ variables: { ...variables }, transport, clock: { nowMs: () => 0 } })(id)
  const settings = { maxOutputTokens: 512 }
  const request = { instructions: '', messages: [], tools: [], toolChoice: { type: 'auto' }, settings } as const
  await model.run({ ...request, session: 's' }, () => {}, new AbortController().signal).catch(() => {})
  expect(model.id).toBe(id)
  const path = id.startsWith('openai/') ? 'responses' : 'chat/completions'
  expect([asked[0]?.url, asked[0]?.headers['authorization'] ?? 'none']).toEqual([`${baseUrl}/${path}`, auth])
  expect(JSON.parse(asked[0]?.body ?? '')).toMatchObject(body)
})

test('an address that a program is told stands over the variable of the model’s server', () => {
  const variables = { VLLM_BASE_URL: 'http://old' }
  expect(withBaseUrl(variables, 'vllm/m', 'http://new')).toEqual({ VLLM_BASE_URL: 'http://new' })
  expect(thrownBy(() => withBaseUrl(variables, 'offline', 'http://new'))).toEqual([
    'invalid_option',
    'the model "offline" has no server, so it does not accept a base address',
  ])
  expect(thrownBy(() => withBaseUrl(variables, 'openai-compatible/m', 'new'))).toEqual([
    'invalid_option',
    'the base address must be an address such as http://127.0.0.1:8000/v1, without a query; in a password, write "?" and "#" as %3F and %23',
  ])
})

test('the models of a provider that has no list, or no key', async () => {
  const refused = async (provider: string) =>
    listModelsOf(provider, { variables: {} }).catch((error: unknown) => (isBatonError(error) ? error.message : error))
  expect(await refused('anthropic')).toContain('the models of "anthropic" cannot be listed; use one of openai, ')
  expect(await refused('groq')).toContain('needs a key; set GROQ_API_KEY')
})

test('the models of Gemini: its list in the shape of OpenAI, ids as --model takes them', async () => {
  const asked: string[] = []
  const listed = await listModelsOf('gemini', {
    variables: { GEMINI_API_KEY: 'AIza' },
    fetch: (url, { headers }) => {
      asked.push(url, headers['authorization'] ?? '')
      return Promise.resolve(new Response('{"data":[{"id":"models/gemini-x"}]}'))
    },
  })
  expect(listed).toEqual([{ id: 'gemini/gemini-x' }])
  expect(asked).toEqual(['https://generativelanguage.googleapis.com/v1beta/openai/models', 'Bearer AIza'])
  const vertex = { GOOGLE_CLOUD_PROJECT: 'p', GOOGLE_CLOUD_ACCESS_TOKEN: 't' }
  await expect(listModelsOf('gemini', { variables: vertex })).rejects.toThrow('of Vertex AI cannot be listed')
})

test('every key, token and secret of a provider is known as one, and nothing else', () => {
  const secret = (
    'ANTHROPIC_API_KEY OPENAI_API_KEY GROQ_API_KEY OPENROUTER_API_KEY DEEPSEEK_API_KEY MISTRAL_API_KEY VLLM_API_KEY ' +
    'GEMINI_API_KEY GOOGLE_API_KEY GOOGLE_CLOUD_ACCESS_TOKEN AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY ' +
    'AWS_SESSION_TOKEN AWS_BEARER_TOKEN_BEDROCK'
  ).split(' ')
  const variables = Object.fromEntries(secret.map((name) => [name, ` value of ${name}\n`]))
  const others = { ANTHROPIC_MODEL: 'claude-y', AWS_REGION: 'eu-west-1', GOOGLE_CLOUD_PROJECT: 'p', MISTRAL_MODEL: 'm' }
  const known = secretsIn({ ...variables, ...others, OLLAMA_API_KEY: ' ' })
  expect(new Set(known)).toEqual(new Set(secret.map((name) => `value of ${name}`)))
})

test('a word that stands in for a key is no secret: without it messages could not be read', () => {
  const variables = { ANTHROPIC_API_KEY: 'y', OPENAI_API_KEY: 'ollama', GROQ_API_KEY: 'EMPTY', XAI_API_KEY: 'xai-17' }
  expect(secretsIn(variables)).toEqual(['xai-17'])
})

test('the token of a server, the secret of its peers and the password of its store are secrets', () => {
  const variables = {
    BATON_TOKEN: 'token-1',
    BATON_PEER_SECRET: 'peers-1',
    BATON_STORE: 'postgres://ann:hunter%2Fpass@db/baton',
  }
  expect(new Set(secretsIn(variables))).toEqual(new Set(['token-1', 'peers-1', 'hunter%2Fpass', 'hunter/pass']))
})

test('the password of a proxy is a secret, as it stands in its address and as it is meant', () => {
  const variables = { HTTPS_PROXY: 'http://me:p%40ss:word@proxy:3128', http_proxy: 'http://proxy:3128', HTTP_PROXY: '' }
  expect(secretsIn(variables)).toEqual(['p%40ss:word', 'p@ss:word'])
})

test('servers of one’s own are there beside each other, with secrets that no log shows', () => {
  const variables = { BATON_SERVERS: 'a=http://me:hidden@a/v1 b=http://b', B_API_KEY: 'key-of-b', B_MODEL: 'small' }
  const modelOf = createModelOf({
    variables,
    transport: { post: () => Promise.reject(new Error('unused')) },
    clock: { nowMs: () => 0 },
  })
  expect([modelOf('a/m').id, modelOf('b/m').id]).toEqual(['a/m', 'b/m'])
  expect(chooseModel({ flag: 'b', variables }).id).toBe('b/small')
  expect(secretsIn(variables)).toEqual(expect.arrayContaining(['key-of-b', 'hidden']))
  expect(thrownBy(() => modelOf('c/m'))[0]).toBe('unknown_model')
})

test.each([
  ['anthropic/claude-haiku-4-5', {}, 30_000],
  ['ollama/llama3.3', {}, 180_000],
  ['ollama/llama3.3', { BATON_MODEL_TIMEOUT_MS: '30000' }, 30_000],
  ['anthropic/claude-haiku-4-5', { BATON_MODEL_TIMEOUT_MS: '5000' }, 5000],
])('%s with %j may be silent for %d ms', async (id, variables, silenceMs) => {
  const asked: HttpRequest[] = []
  const transport = { post: (request: HttpRequest) => Promise.reject(new Error(`${asked.push(request)}`)) }
  const model = createModelOf({ variables: { ...KEY, ...variables }, transport, clock: { nowMs: () => 0 } })(id)
  const request = { instructions: '', messages: [], tools: [], toolChoice: { type: 'auto' }, settings: {} } as const
  await model.run({ ...request, session: 's' }, () => {}, new AbortController().signal).catch(() => {})
  expect([asked[0]?.firstByteTimeoutMs, asked[0]?.betweenBytesTimeoutMs]).toEqual([silenceMs, silenceMs])
})

test('the window of a named model is known', () => {
  const transport = { post: () => Promise.reject(new Error('unused')) }
  const variables = { ...KEY, OPENAI_API_KEY: 'k', GROQ_API_KEY: 'k', ANTHROPIC_MAX_TOKENS: '9' }
  const modelOf = createModelOf({ variables, transport, clock: { nowMs: () => 0 } })
  const names = ['anthropic/claude-haiku-4-5', 'openai/gpt-5-mini', 'groq/openai/gpt-oss-120b', 'ollama/qwen3']
  const windows = names.map((id) => modelOf(id).capabilities.contextTokens)
  expect(windows).toEqual([200_000, 400_000, 131_072, undefined])
})

test('a misspelt option is refused, so that no other model is chosen silently', () => {
  expect(() => chooseModel({ variables: {}, model: 'ollama/qwen3' } as never)).toThrow(
    'chooseModel has no field "model"',
  )
  expect(() => chooseModel({ variables: {}, agentModel: ['ollama/qwen3'] } as never)).toThrow(
    'chooseModel has no field "agentModel"; it is called "agentModels" here',
  )
})
