// Settings for which the AI SDK's specification has no field of its own. They go as options of the provider behind the model
// where a stock provider has such an option, and are refused where it has none: nothing is left out in silence.
import type { JsonObject, ModelRequest, ModelSettings } from '@baton/core'
import { BatonError, isJsonObject } from '@baton/core'
import { checkProviderFields } from '../provider-fields.ts'
import type { DialectName } from '../schema/dialects.ts'
import { checkProviderNames, checkServerTools } from '../server-tools.ts'
import type { ModelTraits } from '../traits/model-traits.ts'
import type { Metadata, ProviderTool } from './language-model.ts'

/** Over the names of the providers behind: for an agent that asks the same provider with and without the AI SDK. */
const BRIDGE = 'ai-sdk'

interface Asking {
  /** `ai-sdk:anthropic.messages`. */
  readonly provider: string
  readonly traits: ModelTraits
}

/** The options of one provider's stock package; an absent field has no option. */
interface StockOptions {
  /** The key in `providerOptions`. */
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

/** By the first part of `model.provider`. Source: @ai-sdk/anthropic 4.0, @ai-sdk/openai 4.0, @ai-sdk/google 4.0. */
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

/** The dialect in which strict arguments are said; undefined: the tools are not to be strict. */
export function chooseStrictDialect({ settings }: ModelRequest, { provider, traits }: Asking): DialectName | undefined {
  if (settings.strictTools !== true) return undefined
  const dialect = findStock(provider)?.strict ?? 'openai-strict'
  return dialect === 'anthropic-strict' && traits.output !== 'native' ? undefined : dialect
}

/**
 * Baton's settings as options of the provider, and the user's own over them.
 * @throws BatonError `model_invalid_request` for a setting that cannot be said, or a field that is Baton's own
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

/** Models that answer with one call anyway refuse to be told so. */
function sayOneCall(option: JsonObject, { singleCalls }: ModelTraits): JsonObject {
  return singleCalls ? option : {}
}

function findStock(provider: string): StockOptions | undefined {
  const name = readRoot(provider)
  // Vertex has another option for it, of two fields.
  return /vertex/.test(provider) || !Object.hasOwn(STOCK, name) ? undefined : STOCK[name]
}

/** `anthropic` of `ai-sdk:anthropic.messages`: the name of their options. */
function readRoot(provider: string): string {
  return provider.slice(BRIDGE.length + 1).replace(/\..*/s, '')
}

function refuse(provider: string, setting: string): never {
  const root = readRoot(provider)
  throw new BatonError({
    code: 'model_invalid_request',
    message: `settings.${setting} cannot be told to ${provider}: neither the AI SDK's specification nor an option that is known of that provider has a place for it`,
    hint: `Leave it out for this model. If the provider has an option for it, give that option in settings.provider.${root}.`,
  })
}

/** Each provider of theirs reads the options under its own names, and a gateway those of others. */
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
        message: `settings.provider.${BRIDGE}.${name} is not an object of options`,
        hint: `Name the provider of the AI SDK in between: settings.provider.${BRIDGE} is { ${readRoot(provider)}: { … } }.`,
      })
    checkProviderFields(fields, `${BRIDGE}.${name}`)
  }
  return bridged as Metadata // each was looked at
}

/** Under which a provider of theirs looks for its options. */
function listNames(provider: string): readonly string[] {
  const root = readRoot(provider)
  const camel = root.replace(/[-_]([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return [...new Set([root, camel, findStock(provider)?.key ?? root])]
}

/**
 * Tools that the provider behind the model runs, in the words of the AI SDK.
 * @throws BatonError `model_invalid_request` for a tool in other words, and for two of one name
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
      hint: `A model of the AI SDK takes { id: 'anthropic.web_search_20250305', name: 'web_search', args: { maxUses: 3 } }, as its provider's package makes them. Where the same agent also asks the provider without the AI SDK, give these under settings.serverTools['${BRIDGE}'].`,
    })
  })
}

function isToolId(id: string): id is ProviderTool['id'] {
  return /^[^.]+\../.test(id)
}
