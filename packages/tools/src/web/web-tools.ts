// The tools of the kit, and the choice between a search that a model's provider runs itself and a service.
import type { JsonObject, ModelSettings, Tool } from '@baton/core'
import { BatonError, checkFields, checkKinds } from '@baton/core'
import type { DocumentOptions } from '../shared/pages/fetch-document.ts'
import { fetchTool } from './fetch-tool.ts'
import type { SearchProvider } from './search-provider.ts'
import { searchTool } from './search-tool.ts'

export interface WebOptions<Services = unknown> extends DocumentOptions {
  /** What searches: `braveSearch`, `tavilySearch`, `searxngSearch`, or a function of your own. Absent: there is no `web.search`. */
  readonly search?: SearchProvider<Services> | SearchProvider<Services>['search']
}

export interface WebForOptions<Services = unknown> extends WebOptions<Services> {
  /** The agent's models, by name: the first one and its fallbacks. */
  readonly models: readonly string[]
}

export interface Web {
  readonly tools: readonly Tool[]
  /** Goes into the agent's settings. */
  readonly settings: Pick<ModelSettings, 'serverTools'>
}

/**
 * Providers whose models search by themselves beside other tools. Gemini's googleSearch is not among them: many of its models refuse it
 * together with tools.
 */
const SEARCHING: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ['anthropic', { type: 'web_search_20250305', name: 'web_search', max_uses: 5 }],
  ['openai', { type: 'web_search' }],
])
const FIELDS = ['search', 'guard', 'timeoutMs', 'maxBytes', 'fetch', 'clock'] as const

/** @throws BatonError `invalid_option` */
export function webTools<Services = unknown>(options: WebOptions<Services> = {}): readonly Tool[] {
  const what = 'webTools'
  checkFields(options, { what, code: 'invalid_option', fields: new Set(FIELDS) })
  checkKinds(options, { what, code: 'invalid_option', kinds: { guard: 'an object', fetch: 'a function' } })
  const { search, ...rest } = options
  const provider = typeof search === 'function' ? { name: 'a search of the program', search } : search
  if (provider !== undefined && typeof provider.search !== 'function')
    throw new BatonError({
      code: 'invalid_option',
      message: `${what}: search must be a function, or what braveSearch, tavilySearch or searxngSearch gives`,
    })
  return [fetchTool(what, rest), ...(provider ? [searchTool(provider)] : [])]
}

/**
 * `web.fetch`, and a search: that of the provider where all models have one, else `web.search` by `search`.
 * @throws BatonError `invalid_option` where neither is there
 */
export function webFor<Services = unknown>({ models, ...options }: WebForOptions<Services>): Web {
  const providers = [...new Set(models.map((model) => model.split('/')[0] ?? ''))]
  if (providers.length > 0 && providers.every((provider) => SEARCHING.has(provider))) {
    const { search: _, ...rest } = options
    const serverTools = Object.fromEntries(providers.map((provider) => [provider, [SEARCHING.get(provider) ?? {}]]))
    return { tools: webTools(rest), settings: { serverTools } }
  }
  if (options.search) return { tools: webTools(options), settings: {} }
  const without = models.find((model) => !SEARCHING.has(model.split('/')[0] ?? ''))
  throw new BatonError({
    code: 'invalid_option',
    message: `webFor: nothing searches the web: ${without === undefined ? 'no model is named' : `"${without}" does not do it by itself`}, and there is no search`,
    hint: 'Give search: braveSearch({ apiKey }), tavilySearch({ apiKey }), searxngSearch({ server }), or a function of your own.',
  })
}
