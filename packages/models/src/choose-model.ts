// Which model answers: names of models, the order in which one is chosen, and the models themselves by their names.
// Variables are handed in; nothing here reads the environment.
import type { Clock, Model, Transport } from '@baton/core'
import { BatonError } from '@baton/core'
import { createAnthropicModel } from './anthropic/index.ts'
import { createOfflineModel } from './offline/index.ts'
import { placeOf } from './transport/redact.ts'
import { isHeaderValue, isHttpUrl } from './transport/transport-errors.ts'

export type Variables = Readonly<Record<string, string | undefined>>

export interface ModelChoice {
  /** `anthropic/claude-haiku-4-5`, `offline`. */
  readonly id: string
  /** Why this one, as the rest of a sentence: `because the option --model names it`. */
  readonly reason: string
}

export interface ChooseModelInit {
  /** What the person who starts the program asks for. */
  readonly flag?: string
  /** The agent's own, in the order of fallback. */
  readonly agentModels?: readonly (string | Model)[]
  readonly variables: Variables
}

const DEFAULT_ANTHROPIC_MODEL = 'claude-haiku-4-5'
const USABLE = 'use "anthropic/<model>" or "offline"'
/** Providers that people will name and that have no adapter yet. */
const NOT_YET: ReadonlySet<string> = new Set(['bedrock', 'openai', 'gemini', 'google', 'ollama'])

/**
 * The flag, then the agent, then MODEL_PROVIDER, then a key that is present, then the offline model.
 * @throws BatonError `unknown_model`, `model_not_configured` when the one that is named cannot be used
 */
export function chooseModel({ flag, agentModels = [], variables }: ChooseModelInit): ModelChoice {
  if (flag !== undefined) return { id: usable(flag, variables), reason: 'because the option --model names it' }
  const [own] = agentModels
  if (typeof own === 'string') return { id: usable(own, variables), reason: 'because the agent names it' }
  if (own) return { id: own.id, reason: 'because the agent brings it' }
  const provider = valueOf(variables, 'MODEL_PROVIDER')
  if (provider !== undefined)
    return { id: usable(provider, variables), reason: `because MODEL_PROVIDER is ${provider}` }
  if (valueOf(variables, 'ANTHROPIC_API_KEY') !== undefined)
    return { id: usable('anthropic', variables), reason: 'because ANTHROPIC_API_KEY is set' }
  return { id: 'offline', reason: 'because no key is set; set ANTHROPIC_API_KEY for a real model' }
}

export interface ModelOfInit {
  readonly variables: Variables
  readonly transport: Transport
  readonly clock: Clock
}

/**
 * Models by their ids, each made once.
 * @throws BatonError `invalid_option` when a variable cannot be what it says: ANTHROPIC_MAX_TOKENS, ANTHROPIC_BASE_URL,
 *   ANTHROPIC_API_KEY; what it returns: `unknown_model`, `model_not_configured`
 */
export function createModelOf(init: ModelOfInit): (id: string) => Model {
  const models = new Map<string, Model>()
  const maxOutputTokens = tokensOf(init.variables)
  checkAddress(init.variables)
  checkKey(init.variables)
  return (id) => {
    const known = models.get(id)
    if (known) return known
    const model = makeModel(parseModelName(id), init)
    const limited = maxOutputTokens === undefined ? model : withOutputTokens(model, maxOutputTokens)
    models.set(id, limited)
    return limited
  }
}

type ModelName =
  { readonly provider: 'offline' } | { readonly provider: 'anthropic'; readonly model: string | undefined }

/** @throws BatonError `unknown_model` */
function parseModelName(name: string): ModelName {
  const slash = name.indexOf('/')
  const provider = slash < 0 ? name : name.slice(0, slash)
  const model = slash < 0 ? undefined : name.slice(slash + 1)
  if (provider === 'offline' && model === undefined) return { provider: 'offline' }
  if (provider === 'anthropic' && model !== '') return { provider: 'anthropic', model }
  if (NOT_YET.has(provider)) throw unknownModel(`the provider "${provider}" is not supported yet; ${USABLE}`)
  const hint = name.startsWith('claude-') ? `did you mean "anthropic/${name}"?` : USABLE
  throw unknownModel(`no model is named "${name}"; ${hint}`)
}

/** The full id of a named model, once it is sure that it can be asked. */
function usable(text: string, variables: Variables): string {
  const name = parseModelName(text)
  if (name.provider === 'offline') return 'offline'
  const model = name.model ?? valueOf(variables, 'ANTHROPIC_MODEL') ?? DEFAULT_ANTHROPIC_MODEL
  anthropicKey(`anthropic/${model}`, variables)
  return `anthropic/${model}`
}

function makeModel(name: ModelName, { variables, transport, clock }: ModelOfInit): Model {
  if (name.provider === 'offline') return createOfflineModel()
  const model = name.model ?? valueOf(variables, 'ANTHROPIC_MODEL') ?? DEFAULT_ANTHROPIC_MODEL
  const baseUrl = valueOf(variables, 'ANTHROPIC_BASE_URL')
  return createAnthropicModel({
    model,
    apiKey: anthropicKey(`anthropic/${model}`, variables),
    transport,
    clock,
    ...(baseUrl !== undefined && { baseUrl }),
  })
}

function anthropicKey(id: string, variables: Variables): string {
  const key = valueOf(variables, 'ANTHROPIC_API_KEY')
  if (key !== undefined) return key
  const message = `the model ${id} needs a key; set ANTHROPIC_API_KEY, or use the model "offline"`
  throw new BatonError({ code: 'model_not_configured', message })
}

/** What an agent or a request sets wins. */
function withOutputTokens(model: Model, maxOutputTokens: number): Model {
  return {
    ...model,
    run: (request, sink, signal) =>
      model.run({ ...request, settings: { maxOutputTokens, ...request.settings } }, sink, signal),
  }
}

function tokensOf(variables: Variables): number | undefined {
  const text = valueOf(variables, 'ANTHROPIC_MAX_TOKENS')
  if (text === undefined) return undefined
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw wrongVariable(`ANTHROPIC_MAX_TOKENS must be a whole number above 0, not "${text.slice(0, 40)}"`)
}

function checkAddress(variables: Variables): void {
  const text = valueOf(variables, 'ANTHROPIC_BASE_URL')
  // The path of the API is put behind it.
  if (text === undefined || (isHttpUrl(text) && !/[?#]/.test(text))) return
  const example = 'https://api.anthropic.com'
  const shown = placeOf(text).slice(0, 40)
  throw wrongVariable(`ANTHROPIC_BASE_URL must be an address such as ${example}, without a query, not "${shown}"`)
}

/** A key is never shown, not even a broken one. */
function checkKey(variables: Variables): void {
  if (isHeaderValue(valueOf(variables, 'ANTHROPIC_API_KEY') ?? '')) return
  throw wrongVariable(
    'ANTHROPIC_API_KEY has a line break or another character that no key has; set it to the key alone',
  )
}

function wrongVariable(message: string): BatonError {
  return new BatonError({ code: 'invalid_option', message })
}

function valueOf(variables: Variables, name: string): string | undefined {
  const text = variables[name]?.trim()
  return text === '' ? undefined : text
}

function unknownModel(message: string): BatonError {
  return new BatonError({ code: 'unknown_model', message })
}
