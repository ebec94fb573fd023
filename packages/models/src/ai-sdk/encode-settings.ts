// Encodes settings that the AI SDK specification has no field for. They become provider options where the stock
// provider package has a matching option, and are refused otherwise, so nothing is dropped silently.
import type { JsonObject, ModelRequest, ModelSettings } from '@baton/core/internal'
import { BatonError, isJsonObject } from '@baton/core/internal'
import { checkProviderFields } from '../provider-fields.ts'
import type { DialectName } from '../schema/dialects.ts'
import { checkProviderNames, checkServerTools } from '../server-tools.ts'
import type { ModelTraits } from '../traits/model-traits.ts'
import type { Metadata, ProviderTool } from './language-model.ts'

/** Namespace for AI SDK settings, for agents that use the same provider both with and without the AI SDK. */
const BRIDGE = 'ai-sdk'

interface Asking {
  /** For example `ai-sdk:anthropic.messages`. */
  readonly provider: string
  readonly traits: ModelTraits
}

/** Option names of one provider's stock package. A missing field means the package has no such option. */
interface StockOptions {
  /** Key in `providerOptions`. */
  readonly key: string
  readonly strict: DialectName
  readonly serviceTier?: string
  readonly singleCalls?: JsonObject
  readonly cache?: (ttl: '5m' | '1h', session: string) => JsonObject
}

const CACHE_KEY_LENGTH_MAX = 64

const OPENAI: StockOptions = {
  key: 'openai',
  strict: 'openai-strict',
  serviceTier: 'serviceTier',
  singleCalls: { parallelToolCalls: false },
  cache: (_, session) => (session === '' ? {} : { promptCacheKey: session.slice(-CACHE_KEY_LENGTH_MAX) }),
}

/**
 * Keyed by the first segment of `model.provider`. Source: @ai-sdk/anthropic 4.0, @ai-sdk/openai 4.0, @ai-sdk/google
 * 4.0.
 */
const STOCK: Readonly<Record<string, StockOptions>> = {
  anthropic: {
    key: 'anthropic',
    strict: 'anthropic-strict',
    serviceTier: 'serviceTier',
    singleCalls: { disableParallelToolUse: true },
    cache: (ttl) => ({ cacheControl: { type: 'ephemeral', ttl } }),
  },
  openai: OPENAI,
  azure: OPENAI,
  google: { key: 'google', strict: 'openai-strict', serviceTier: 'serviceTier' },
}

/** Schema dialect for strict arguments, or `undefined` if the tools are not strict. */
export function chooseStrictDialect({ settings }: ModelRequest, { provider, traits }: Asking): DialectName | undefined {
  if (settings.strictTools !== true) return undefined
  const dialect = findStock(provider)?.strict ?? 'openai-strict'
  return dialect === 'anthropic-strict' && traits.output !== 'native' ? undefined : dialect
}

/**
 * Merges Baton's settings, as provider options, with the user's own options. The user's win.
 * @throws BatonError `model_invalid_request` for a setting the provider has no option for, or a field that Baton sets
 */
export function buildProviderOptions(
  { settings, session, tools }: ModelRequest,
  { provider, traits }: Asking,
): { readonly providerOptions?: Metadata } {
  checkProviderNames(settings, readRoot(provider))
  const stock = findStock(provider)
  const { serviceTier, cache } = settings
  const isSingle = settings.parallelCalls === false && tools.length > 0
  const own: JsonObject = {
    ...(serviceTier !== undefined && { [stock?.serviceTier ?? refuse(provider, 'serviceTier')]: serviceTier }),
    ...(isSingle && sayOneCall(stock?.singleCalls ?? refuse(provider, 'parallelCalls'), traits)),
    ...((cache === '5m' || cache === '1h') && (stock?.cache ?? refuse(provider, 'cache'))(cache, session)),
  }
  const given = readGivenOptions(settings, provider)
  const key = stock?.key
  const joined =
    key === undefined || Object.keys(own).length === 0 ? given : { ...given, [key]: { ...own, ...given[key] } }
  return Object.keys(joined).length === 0 ? {} : { providerOptions: joined }
}

/** Models limited to one call per answer reject the option that asks for it. */
function sayOneCall(option: JsonObject, { singleCalls }: ModelTraits): JsonObject {
  return singleCalls ? option : {}
}

function findStock(provider: string): StockOptions | undefined {
  const name = readRoot(provider)
  // Vertex uses a different option, made of two fields.
  return /vertex/.test(provider) || !Object.hasOwn(STOCK, name) ? undefined : STOCK[name]
}

/** Returns `anthropic` for `ai-sdk:anthropic.messages`: the name of the provider's options. */
function readRoot(provider: string): string {
  return provider.slice(BRIDGE.length + 1).replace(/\..*/s, '')
}

function refuse(provider: string, setting: string): never {
  const root = readRoot(provider)
  throw new BatonError({
    code: 'model_invalid_request',
    message: `settings.${setting} is not supported by ${provider}: neither the AI SDK's specification nor a known option of that provider covers it`,
    hint: `Remove it for this model. If the provider has an option for it, set that option in settings.provider.${root}.`,
  })
}

/** Each AI SDK provider reads options under its own names. Gateways also read those of the providers they route to. */
function readGivenOptions(settings: ModelSettings, provider: string): Metadata {
  const bridged = settings.provider?.[BRIDGE]
  if (bridged === undefined) {
    const given = settings.provider ?? {}
    const own = listNames(provider).filter((name) => Object.hasOwn(given, name))
    for (const name of own) checkProviderFields(given[name] ?? {}, name)
    return given
  }
  for (const [name, fields] of Object.entries(bridged)) {
    if (!isJsonObject(fields))
      throw new BatonError({
        code: 'model_invalid_request',
        message: `settings.provider.${BRIDGE}.${name} must be an object of options`,
        hint: `Add the name of the AI SDK provider: settings.provider.${BRIDGE} is { ${readRoot(provider)}: { … } }.`,
      })
    checkProviderFields(fields, `${BRIDGE}.${name}`)
  }
  return bridged as Metadata // each value was checked
}

/** Option namespaces that an AI SDK provider reads. */
function listNames(provider: string): readonly string[] {
  const root = readRoot(provider)
  const camel = root.replace(/[-_]([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return [...new Set([root, camel, findStock(provider)?.key ?? root])]
}

/**
 * Provider-executed tools, in the AI SDK's format.
 * @throws BatonError `model_invalid_request` for a tool in another format, or if two tools share a name
 */
export function listProviderTools(
  { settings, tools }: Pick<ModelRequest, 'settings' | 'tools'>,
  provider: string,
  encodeName: (name: string) => string,
): readonly ProviderTool[] {
  const key = [BRIDGE, ...listNames(provider)].find((name) => settings.serverTools?.[name])
  if (key === undefined) return []
  const given = settings.serverTools?.[key] ?? []
  checkServerTools(
    given,
    tools.map(({ name }) => ({ name: encodeName(name) })),
    key,
  )
  return given.map((tool, index) => {
    const { id, name, args = {} } = tool
    if (typeof id === 'string' && isToolId(id) && typeof name === 'string' && name !== '' && isJsonObject(args))
      return { type: 'provider', id, name, args }
    throw new BatonError({
      code: 'model_invalid_request',
      message: `settings.serverTools.${key}[${index}] is not a tool of the AI SDK: ${JSON.stringify(tool).slice(0, 200)}`,
      hint: `A model of the AI SDK takes { id: 'anthropic.web_search_20250305', name: 'web_search', args: { maxUses: 3 } }, as created by its provider's package. If the same agent also uses the provider without the AI SDK, put these under settings.serverTools['${BRIDGE}'].`,
    })
  })
}

function isToolId(id: string): id is ProviderTool['id'] {
  return /^[^.]+\../.test(id)
}
