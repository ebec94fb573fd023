// A provider's settings from variables: key, address, model. Variables are passed in and the environment is never read
// here. Keys are never shown, not even invalid ones.
import { BatonError } from '@baton/core'
import type { BedrockAccess } from './bedrock/access.ts'
import { findBedrockAccess } from './bedrock/access.ts'
import type { VertexAccess } from './gemini/address.ts'
import { GEMINI_BASE_URL } from './gemini/address.ts'
import type { Preset } from './presets.ts'
import { PRESETS } from './presets.ts'
import { findServer, listOwnServers, listServerNames, listServerSecrets } from './own-servers.ts'
import type { PromptedFormatName } from './prompted/formats.ts'
import { PROMPTED_FORMATS, isPromptedFormat } from './prompted/formats.ts'
import { SECRET_LENGTH_MIN, listSecrets } from './transport/redact.ts'
import { isHeaderValue, isHttpUrl } from './transport/transport-errors.ts'

export type Variables = Readonly<Record<string, string | undefined>>

/** Variables of a provider's settings. */
export type ProviderVariables = Pick<
  Preset,
  'label' | 'baseUrl' | 'basePath' | 'baseUrlVariable' | 'keyVariable' | 'needsKey' | 'modelVariable' | 'defaultModel'
> & {
  /** Used if `keyVariable` is not set. */
  readonly otherKeyVariable?: string
}

export const ANTHROPIC: ProviderVariables = {
  label: 'Anthropic',
  baseUrl: 'https://api.anthropic.com',
  baseUrlVariable: 'ANTHROPIC_BASE_URL',
  keyVariable: 'ANTHROPIC_API_KEY',
  needsKey: true,
  modelVariable: 'ANTHROPIC_MODEL',
  defaultModel: 'claude-haiku-4-5',
}

/** Names used by Google's SDK. */
export const GEMINI: ProviderVariables = {
  label: 'Gemini',
  baseUrl: GEMINI_BASE_URL,
  baseUrlVariable: 'GOOGLE_GEMINI_BASE_URL',
  keyVariable: 'GEMINI_API_KEY',
  otherKeyVariable: 'GOOGLE_API_KEY',
  needsKey: true,
  modelVariable: 'GEMINI_MODEL',
  defaultModel: 'gemini-2.5-flash',
}

/** Names used by AWS's SDK. Its access keys also work, but do not select this provider. */
export const BEDROCK: ProviderVariables = {
  label: 'Bedrock',
  baseUrl: 'https://bedrock-runtime.us-east-1.amazonaws.com',
  baseUrlVariable: 'AWS_ENDPOINT_URL_BEDROCK_RUNTIME',
  keyVariable: 'AWS_BEARER_TOKEN_BEDROCK',
  needsKey: true,
  modelVariable: 'BEDROCK_MODEL_ID',
  defaultModel: 'amazon.nova-lite-v1:0',
}

/** Providers reached over a network, in the order in which keys are looked up. */
export const NETWORK_PROVIDERS: readonly string[] = ['anthropic', ...Object.keys(PRESETS), 'gemini', 'bedrock']

/** Also finds servers in BATON_SERVERS, if the variables are given. @throws BatonError `invalid_option` */
export function findVariables(provider: string, variables: Variables = {}): ProviderVariables | undefined {
  if (provider === 'gemini') return GEMINI
  if (provider === 'bedrock') return BEDROCK
  return provider === 'anthropic' ? ANTHROPIC : findServer(provider, variables)
}

/** Name of the variable that holds the key. If there are two, returns the one in use. */
export function findKeyVariable({ keyVariable, otherKeyVariable }: ProviderVariables, variables: Variables): string {
  const isOther = otherKeyVariable !== undefined && readValue(variables, keyVariable) === undefined
  return isOther && readValue(variables, otherKeyVariable) !== undefined ? otherKeyVariable : keyVariable
}

/** Secrets other than the keys of `findVariables`: credentials for Vertex AI and AWS. */
const OTHER_SECRETS = [
  'GOOGLE_CLOUD_ACCESS_TOKEN',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN',
  'BATON_TOKEN',
  'BATON_PEER_SECRET',
]

/** Addresses that may contain a password. */
const PLACES = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy', 'BATON_STORE']

/**
 * Returns every key, token, secret and password of providers, proxies, stores and servers, which no log may show.
 * Excludes values shorter than 6 characters and names of providers, such as the key `ollama` for a local server: they
 * are ordinary words, and redacting them would make messages unreadable.
 */
export function secretsIn(variables: Variables): readonly string[] {
  const known = [...NETWORK_PROVIDERS.map((provider) => findVariables(provider)), ...readOwnServers(variables)]
  const keys = known.flatMap((each) => [each?.keyVariable, each?.otherKeyVariable])
  const listValues = (name: string | undefined) => (name === undefined ? [] : (readValue(variables, name) ?? []))
  const addresses = known.flatMap((each) => each?.baseUrlVariable ?? [])
  const urls = [...addresses.flatMap(listValues), ...readOwnServers(variables).flatMap(({ baseUrl = [] }) => baseUrl)]
  const ownKeys = listServerNames(variables).map((name) => `${name.toUpperCase().replaceAll('-', '_')}_API_KEY`)
  const secrets = [
    ...[...keys, ...ownKeys, ...OTHER_SECRETS].flatMap(listValues),
    ...listServerSecrets(variables),
    ...[...urls, ...PLACES.flatMap(listValues)].flatMap(findPassword),
    ...urls.flatMap((url) => listSecrets({ url, headers: {} })),
  ]
  return secrets.filter((secret) => secret.length >= SECRET_LENGTH_MIN && !NETWORK_PROVIDERS.includes(secret))
}

/** Returns none if BATON_SERVERS is invalid, which is reported when a model is requested. */
function readOwnServers(variables: Variables): readonly ProviderVariables[] {
  try {
    return [...listOwnServers(variables).values()]
  } catch {
    return []
  }
}

/** The password as written in the address and decoded, since an error or a log line may repeat either. */
function findPassword(address: string): readonly string[] {
  const userInfo = /^[a-z]+:\/\/([^]*)@/i.exec(address)?.[1]
  // In a valid address, an `@` in the path does not belong to a user.
  const isWhole = !/[?#]/.test(address) && URL.parse(address)?.password === ''
  if (userInfo === undefined || isWhole) return []
  const password = userInfo.slice(userInfo.indexOf(':') + 1)
  return [...new Set([password, decodePercents(password)])]
}

function decodePercents(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export interface ProviderSettings {
  readonly model: string
  readonly apiKey: string | undefined
  /** `undefined`: the adapter's default. */
  readonly baseUrl: string | undefined
  /** Uses Gemini through a Google Cloud project instead of a key. */
  readonly vertex?: VertexAccess
  /** Credentials and region for Bedrock. */
  readonly bedrock?: BedrockAccess
}

/**
 * Returns the settings needed to use a model; if `model` is `undefined`, it comes from the variables.
 * @throws BatonError `model_not_configured` if something is missing, `invalid_option` if something is invalid
 */
export function readSettings(provider: string, model: string | undefined, variables: Variables): ProviderSettings {
  const known = findVariables(provider, variables)
  if (!known) throw new BatonError({ code: 'unknown_model', message: `no provider is named "${provider}"` })
  const named = model ?? readValue(variables, known.modelVariable) ?? known.defaultModel
  if (named === undefined)
    throw notConfigured(
      `the provider ${provider} needs a model; use "${provider}/<model>" or set ${known.modelVariable}`,
    )
  const id = `${provider}/${named}`
  const vertex = provider === 'gemini' ? findVertex(id, variables) : undefined
  if (vertex) return { model: named, apiKey: undefined, baseUrl: findAddress(provider, id, variables), vertex }
  const bedrock = provider === 'bedrock' ? findBedrockAccess(id, variables) : undefined
  if (bedrock)
    return {
      model: named,
      apiKey: checkedKey(known, variables),
      baseUrl: findAddress(provider, id, variables),
      bedrock,
    }
  const apiKey = readValue(variables, findKeyVariable(known, variables))
  if (apiKey === undefined && known.needsKey)
    throw notConfigured(`the model ${id} needs a key; set ${known.keyVariable}, or use the model "offline"`)
  return { model: named, apiKey: checkedKey(known, variables), baseUrl: findAddress(provider, id, variables) }
}

/** Returns the server's address and key, for requests to the server itself. @throws as `readSettings` */
export function readServer(provider: string, variables: Variables): Omit<ProviderSettings, 'model'> {
  const { model: _, ...server } = readSettings(provider, '<model>', variables)
  return server
}

function findAddress(provider: string, id: string, variables: Variables): string | undefined {
  const known = findVariables(provider, variables)
  const address = known && checkedAddress(known, variables)
  if (known && address === undefined && known.baseUrl === undefined)
    throw notConfigured(`the model ${id} needs the address of its server; set ${known.baseUrlVariable}`)
  const hasNoPath = address !== undefined && /^[a-z]+:\/\/[^/]*\/*$/i.test(address)
  return known?.basePath !== undefined && hasNoPath ? `${address.replace(/\/+$/, '')}${known.basePath}` : address
}

/** @throws BatonError `invalid_option` */
export function checkedAddress(known: ProviderVariables, variables: Variables): string | undefined {
  const text = readValue(variables, known.baseUrlVariable)
  // The API's path is appended to it.
  if (text === undefined || (isHttpUrl(text) && !/[?#]/.test(text))) return text
  const example = known.baseUrl ?? 'http://127.0.0.1:8000/v1'
  // The value is not shown: it may contain a password.
  throw wrongVariable(
    `${known.baseUrlVariable} must be an address such as ${example}, without a query; in a password, write "?" and "#" as %3F and %23`,
  )
}

/**
 * How tools reach a provider's models: `probe` finds out, `native` assumes support, `prompted` or a format prompts for
 * calls.
 */
export type ToolsWay = 'probe' | 'native' | 'prompted' | PromptedFormatName

/**
 * Returns `native` if the provider is known to support tools, otherwise the value of BATON_TOOLS; with `prompted`, the
 * model's name determines the format.
 * @throws BatonError `invalid_option`
 */
export function chooseToolsWay(provider: string, variables: Variables): ToolsWay {
  const way = readValue(variables, 'BATON_TOOLS') ?? 'probe'
  if (way !== 'probe' && way !== 'native' && way !== 'prompted' && !isPromptedFormat(way)) {
    const formats = Object.keys(PROMPTED_FORMATS).join(', ')
    throw wrongVariable(`BATON_TOOLS must be probe, native, prompted or one of ${formats}, not "${way.slice(0, 40)}"`)
  }
  return findServer(provider, variables)?.quirks.tools === 'unknown' ? way : 'native'
}

/** @throws BatonError `invalid_option` */
export function checkedKey(known: ProviderVariables, variables: Variables): string | undefined {
  return checkedHeader(findKeyVariable(known, variables), variables)
}

function checkedHeader(variable: string, variables: Variables): string | undefined {
  const key = readValue(variables, variable)
  if (key === undefined || isHeaderValue(key)) return key
  throw wrongVariable(`${variable} contains a line break or another character that no key has; set it to the key alone`)
}

/**
 * Returns Vertex AI settings if the variables of Google's SDK select it: GOOGLE_GENAI_USE_VERTEXAI, or a project
 * without a key.
 * @throws BatonError `model_not_configured`, `invalid_option`
 */
function findVertex(id: string, variables: Variables): VertexAccess | undefined {
  const project = readValue(variables, 'GOOGLE_CLOUD_PROJECT')
  const isAsked = /^(true|1)$/i.test(readValue(variables, 'GOOGLE_GENAI_USE_VERTEXAI') ?? '')
  const hasKey = readValue(variables, findKeyVariable(GEMINI, variables)) !== undefined
  if (!isAsked && (hasKey || project === undefined)) return undefined
  if (project === undefined) throw notConfigured(`the model ${id} needs a Vertex AI project; set GOOGLE_CLOUD_PROJECT`)
  const location = readValue(variables, 'GOOGLE_CLOUD_LOCATION') ?? 'global'
  // The location becomes part of the address.
  if (!/^[a-z0-9-]+$/.test(location))
    throw wrongVariable(
      `GOOGLE_CLOUD_LOCATION must be a region such as europe-west4, or global, not "${location.slice(0, 40)}"`,
    )
  const accessToken = checkedHeader('GOOGLE_CLOUD_ACCESS_TOKEN', variables)
  if (accessToken !== undefined) return { type: 'vertex', project, location, accessToken }
  throw notConfigured(
    `the model ${id} needs a token for the project ${project}; set GOOGLE_CLOUD_ACCESS_TOKEN to the output of "gcloud auth ` +
      `print-access-token", or set GEMINI_API_KEY`,
  )
}

export function wrongVariable(message: string): BatonError {
  return new BatonError({ code: 'invalid_option', message })
}

/** Blank values count as absent. */
export function readValue(variables: Variables, name: string): string | undefined {
  const text = variables[name]?.trim()
  return text === '' ? undefined : text
}

function notConfigured(message: string): BatonError {
  return new BatonError({ code: 'model_not_configured', message })
}
