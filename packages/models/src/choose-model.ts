// Chooses the model that answers: model names, the order of preference, and models by name. Variables are passed in;
// the environment is never read here.
import type { Clock, Model, Transport } from '@baton/core/internal'
import { BatonError, checkFields, findNearName } from '@baton/core/internal'
import { createAnthropicModel } from './anthropic/index.ts'
import { createBedrockModel } from './bedrock/index.ts'
import { createGeminiModel } from './gemini/index.ts'
import { createOfflineModel } from './offline/index.ts'
import type { FetchLike, ListedModel } from './openai-chat/list-models.ts'
import { createOpenAiChatModel } from './openai-chat/index.ts'
import { listModels } from './openai-chat/list-models.ts'
import { createOpenAiResponsesModel } from './openai-responses/index.ts'
import { withModelSettings } from './model-settings.ts'
import { findListedWindow } from './listed-models.ts'
import { findMeantModel, withMeantName } from './near-name.ts'
import { findServer, listOwnServers, listServerNames } from './own-servers.ts'
import { findPreset } from './presets.ts'
import type { ToolVerdict } from './prompted/tool-probe.ts'
import { withPromptedTools } from './prompted/index.ts'
import { withToolProbe } from './prompted/with-tool-probe.ts'
import type { ToolsWay, Variables } from './provider-settings.ts'
import {
  ANTHROPIC,
  GEMINI,
  NETWORK_PROVIDERS,
  checkedAddress,
  checkedKey,
  findKeyVariable,
  readServer,
  readSettings,
  chooseToolsWay,
  readValue,
  findVariables,
  wrongVariable,
} from './provider-settings.ts'

export type { ListedModel } from './openai-chat/list-models.ts'

/** The model that `chooseModel` found, and why. */
export interface ModelChoice {
  /** For example `anthropic/claude-haiku-4-5`, `ollama/qwen3` or `offline`. */
  readonly id: string
  /** Why this model was chosen, as the rest of a sentence: `because the option --model names it`. */
  readonly reason: string
}

/** Options of `chooseModel`, which finds the model of a program from a flag, its agent or the keys that are set. */
export interface ChooseModelOptions {
  /** The model named on the command line. */
  readonly flag?: string
  /** The agent's own models, in fallback order. */
  readonly agentModels?: readonly (string | Model)[]
  readonly variables: Variables
}

const FIELDS = new Set(['flag', 'agentModels', 'variables'])
const USABLE = `use "<provider>/<model>" or "offline"; providers: ${NETWORK_PROVIDERS.join(', ')}`

/**
 * Tries the flag, the agent, MODEL_PROVIDER, any key that is set, and finally the offline model, in this order.
 * @throws BatonError `unknown_model`, `model_not_configured`, `invalid_option` if the named model cannot be used
 */
export function chooseModel(options: ChooseModelOptions): ModelChoice {
  checkFields(options, { what: 'chooseModel', code: 'invalid_option', fields: FIELDS })
  const { flag, agentModels = [], variables } = options
  if (flag !== undefined) return { id: usable(flag, variables), reason: 'because the option --model names it' }
  const [own] = agentModels
  if (typeof own === 'string') return { id: usable(own, variables), reason: 'because the agent names it' }
  if (own) return { id: own.id, reason: 'because the agent defines it' }
  const provider = readValue(variables, 'MODEL_PROVIDER')
  if (provider !== undefined)
    return {
      id: usable(provider, variables, ', which MODEL_PROVIDER is set to'),
      reason: `because MODEL_PROVIDER is ${provider}`,
    }
  const keyed = providerWithKey(variables)
  if (keyed) return { id: usable(keyed.provider, variables), reason: `because ${keyed.keyVariable} is set` }
  return { id: 'offline', reason: `because ${describeMissing(variables)}` }
}

/** Describes what is missing for a real model: of a partly configured provider, otherwise of the first provider. */
function describeMissing(variables: Variables): string {
  for (const provider of [...NETWORK_PROVIDERS, ...listServerNames(variables)]) {
    const known = findVariables(provider)
    const isSet = (name: string | undefined) => name !== undefined && readValue(variables, name) !== undefined
    const place = known?.needsKey ? findKeyVariable(known, variables) : (known?.baseUrlVariable ?? 'BATON_SERVERS')
    if (!known?.needsKey && isSet(known?.modelVariable))
      return `${known?.modelVariable} alone chooses no provider; use --model ${provider}, or set MODEL_PROVIDER to ${provider}`
    if (isSet(place)) return `${place} is set, but no model; use --model ${provider}/NAME`
  }
  return 'no key is set; set ANTHROPIC_API_KEY for a real model'
}

/** The first provider whose key is set and whose model is known without asking its server. */
function providerWithKey(variables: Variables) {
  for (const provider of NETWORK_PROVIDERS) {
    const known = findVariables(provider)
    if (!known?.needsKey) continue
    const keyVariable = findKeyVariable(known, variables)
    if (readValue(variables, keyVariable) === undefined) continue
    if (known.defaultModel !== undefined || readValue(variables, known.modelVariable) !== undefined)
      return { provider, keyVariable }
  }
  return undefined
}

/**
 * Returns the variables with the model server's address set, for `--base-url`.
 * @throws BatonError `unknown_model`, `invalid_option` if the model has no server or the address is invalid
 */
export function withBaseUrl(variables: Variables, model: string, baseUrl: string): Variables {
  const { provider } = parseModelName(model, variables)
  const known = findVariables(provider, variables)
  if (!known) throw wrongVariable(`the model "${provider}" has no server, so it does not accept a base address`)
  const { baseUrlVariable } = known
  checkedAddress({ ...known, baseUrlVariable: 'the base address' }, { 'the base address': baseUrl })
  return { ...variables, [baseUrlVariable]: baseUrl }
}

/** Maximum number of cached models; names may come from apps. */
const MODELS_MAX = 1024
/** Maximum characters of a model name. */
const NAME_CHARS = 4096
/** Maximum characters of an invalid name shown in an error. */
const SHOWN_CHARS = 80

/** Options of `createModelOf`, which turns names such as `anthropic/claude-haiku-4-5` into models. */
export interface ModelOfOptions {
  readonly variables: Variables
  readonly transport: Transport
  readonly clock: Clock
  /**
   * Called with the result of probing a model's server for tool support: once, and again if the server later rejects
   * tools.
   */
  readonly onToolVerdict?: (verdict: ToolVerdict, model: string) => void
}

/**
 * Returns a function from ids to models that creates each model once.
 * @throws BatonError `invalid_option` if a variable has an invalid value: ANTHROPIC_MAX_TOKENS, ANTHROPIC_BASE_URL,
 * ANTHROPIC_API_KEY, BATON_TOOLS, BATON_SERVERS, BATON_MODEL_TIMEOUT_MS; the returned function: `unknown_model`,
 * `model_not_configured`, `invalid_option`
 */
export function createModelOf(init: ModelOfOptions): (id: string) => Model {
  const models = new Map<string, Model>()
  const maxOutputTokens = readNumber(init.variables, 'ANTHROPIC_MAX_TOKENS')
  readNumber(init.variables, 'BATON_MODEL_TIMEOUT_MS')
  checkedAddress(ANTHROPIC, init.variables)
  checkedKey(ANTHROPIC, init.variables)
  listOwnServers(init.variables)
  chooseToolsWay('', init.variables)
  return (id) => {
    const known = models.get(id)
    if (known) return known
    const name = parseModelName(id, init.variables)
    const model = withTools(makeModel(name, init), chooseToolsWay(name.provider, init.variables), init.onToolVerdict)
    const named = withListedWindow(model, name)
    const meant = findMeantModel(name.provider, named.id.slice(name.provider.length + 1))
    const asked = meant === undefined ? named : withMeantName(named, `${name.provider}/${meant}`)
    const limited = maxOutputTokens === undefined ? asked : withModelSettings(asked, { maxOutputTokens })
    if (models.size >= MODELS_MAX) models.clear()
    models.set(id, limited)
    return limited
  }
}

/** Options of `listModelsOf`, which asks a provider for its models. */
export interface ListModelsOfOptions {
  readonly variables: Variables
  /** Timeout in milliseconds for the whole response; 10 s by default. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** The global `fetch` by default. */
  readonly fetch?: FetchLike
}

/**
 * Lists the models a provider's server offers, sorted, with ids that `--model` accepts.
 * @throws BatonError `unknown_model`, `model_not_configured`, and the server's errors: `model_network_failed`,
 * `model_timeout`, `model_auth_failed`, `model_malformed_answer`
 */
export async function listModelsOf(provider: string, init: ListModelsOfOptions): Promise<readonly ListedModel[]> {
  const { variables, ...rest } = init
  const isGemini = provider === 'gemini'
  const known = isGemini ? GEMINI : findServer(provider, variables)
  if (!known) throw unknownModel(`the models of "${provider}" cannot be listed; ${LISTABLE}`)
  const { apiKey, baseUrl = known.baseUrl ?? '', vertex } = readServer(provider, variables)
  if (vertex) throw unknownModel('the models of Vertex AI cannot be listed; see its Model Garden')
  // Gemini also lists its models in OpenAI's format.
  const address = isGemini ? `${baseUrl.replace(/(\/v1beta)?\/*$/, '')}/v1beta/openai` : baseUrl
  const key = apiKey === undefined ? {} : { apiKey }
  const listed = await listModels({ ...rest, baseUrl: address, label: known.label, ...key })
  return listed.map((model) => ({
    ...model,
    id: `${provider}/${provider === 'gemini' ? model.id.replace(/^models\//, '') : model.id}`,
  }))
}

const LISTABLE = `use one of ${NETWORK_PROVIDERS.filter((each) => findPreset(each) ?? each === 'gemini').join(', ')}`

interface ModelName {
  /** `offline`, one of NETWORK_PROVIDERS, or a name of BATON_SERVERS. */
  readonly provider: string
  readonly model: string | undefined
}

/** `source` says where the name came from, as the rest of a sentence. @throws BatonError `unknown_model` */
function parseModelName(name: string, variables: Variables, source = ''): ModelName {
  const slash = name.indexOf('/')
  if (name.length > NAME_CHARS)
    throw unknownModel(
      `a name of ${name.length} characters is too long for a model: "${name.slice(0, SHOWN_CHARS)}…"; ${USABLE}`,
    )
  const provider = slash < 0 ? name : name.slice(0, slash)
  const model = slash < 0 ? undefined : name.slice(slash + 1)
  if (provider === 'offline' && model === undefined) return { provider, model }
  if (findVariables(provider, variables) && model?.trim() !== '') return { provider, model }
  const shown = name.length > SHOWN_CHARS ? `${name.slice(0, SHOWN_CHARS)}…` : name
  throw unknownModel(`no model is named "${shown}"${source}; ${hintFor(shown, variables)}`)
}

function hintFor(name: string, variables: Variables): string {
  if (/^([a-z-]+\.)?(amazon\.nova|anthropic\.claude)-/.test(name)) return `did you mean "bedrock/${name}"?`
  if (name.startsWith('claude-')) return `did you mean "anthropic/${name}"?`
  if (/^(google\/|vertex\/)?gemini-/.test(name)) return `did you mean "gemini/${name.replace(/^.*\//, '')}"?`
  if (name === 'gguf' || name.startsWith('gguf/')) return 'a model in a file is "gguf:FILE", with a colon'
  if (/^(gpt-|o\d)/.test(name)) return `did you mean "openai/${name}"?`
  const [provider = '', ...model] = name.split('/')
  const known = ['offline', ...NETWORK_PROVIDERS, ...listServerNames(variables)]
  const near = provider.length < PROVIDER_CHARS || known.includes(provider) ? undefined : findNearName(known, provider)
  return near === undefined ? USABLE : `did you mean "${[near, ...model].join('/')}"?`
}

/** Minimum length of names compared for suggestions: shorter ones resemble too many others. */
const PROVIDER_CHARS = 4

/** Returns the full id of a named model after checking that it is configured. */
function usable(text: string, variables: Variables, source = ''): string {
  const { provider, model } = parseModelName(text, variables, source)
  return provider === 'offline' ? 'offline' : `${provider}/${readSettings(provider, model, variables).model}`
}

function makeModel(name: ModelName, { variables, transport, clock }: ModelOfOptions): Model {
  const { provider } = name
  if (provider === 'offline') return createOfflineModel()
  const { model, apiKey, baseUrl, vertex, bedrock } = readSettings(provider, name.model, variables)
  const silenceMs = readNumber(variables, 'BATON_MODEL_TIMEOUT_MS')
  const timeouts = silenceMs === undefined ? {} : { firstByteTimeoutMs: silenceMs, betweenBytesTimeoutMs: silenceMs }
  const server = { model, transport, clock, ...timeouts, ...(baseUrl !== undefined && { baseUrl }) }
  if (provider === 'gemini')
    return createGeminiModel({ ...server, access: vertex ?? { type: 'gemini-api', apiKey: apiKey ?? '' } })
  if (bedrock) return createBedrockModel({ ...server, ...bedrock })
  const preset = findServer(provider, variables)
  if (!preset) return createAnthropicModel({ ...server, apiKey: apiKey ?? '' })
  if (provider === 'openai') return createOpenAiResponsesModel({ ...server, apiKey: apiKey ?? '' })
  const { label, quirks, silenceMs: usualMs } = preset
  return createOpenAiChatModel({
    ...(preset.baseUrl !== undefined && { baseUrl: preset.baseUrl }),
    ...(usualMs !== undefined && { firstByteTimeoutMs: usualMs, betweenBytesTimeoutMs: usualMs }),
    ...server,
    provider,
    id: `${provider}/${model}`,
    label,
    quirks,
    ...(apiKey !== undefined && { apiKey }),
  })
}

function withTools(model: Model, way: ToolsWay, onToolVerdict: ModelOfOptions['onToolVerdict']): Model {
  const { capabilities } = model
  if (capabilities.tools === 'native') return model
  if (way === 'native') return { ...model, capabilities: { ...capabilities, tools: 'native' } }
  if (way === 'prompted') return withPromptedTools(model)
  if (way !== 'probe') return withPromptedTools(model, { format: way })
  return withToolProbe(model, onToolVerdict && { onVerdict: (verdict) => onToolVerdict(verdict, model.id) })
}

/** Adds the context window from the price list if the traits table has none. */
function withListedWindow(model: Model, { provider }: ModelName): Model {
  const { contextTokens, assumedTraits } = model.capabilities
  const isKnown = contextTokens !== undefined || assumedTraits !== undefined
  const listed = isKnown ? undefined : findListedWindow(provider, model.id.slice(provider.length + 1))
  return listed === undefined ? model : { ...model, capabilities: { ...model.capabilities, contextTokens: listed } }
}

/** Reads ANTHROPIC_MAX_TOKENS, which applies to every provider. @throws BatonError `invalid_option` */
export function readMaxOutputTokens(variables: Variables): number | undefined {
  return readNumber(variables, 'ANTHROPIC_MAX_TOKENS')
}

function readNumber(variables: Variables, name: 'ANTHROPIC_MAX_TOKENS' | 'BATON_MODEL_TIMEOUT_MS'): number | undefined {
  const text = readValue(variables, name)
  if (text === undefined) return undefined
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw wrongVariable(`${name} must be a whole number greater than 0, not "${text.slice(0, 40)}"`)
}

function unknownModel(message: string): BatonError {
  return new BatonError({ code: 'unknown_model', message })
}
