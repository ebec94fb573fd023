// The kit's tools, and the choice between a model provider's own search and a service.
import type { Model, ModelSettings } from '@baton/core/internal'
import { BatonError, checkFields, checkKinds, describeValue } from '@baton/core/internal'
import type { KitTool } from '@baton/tools/internal'
import type { DocumentOptions } from '@baton/tools/internal'
import { fetchTool } from './fetch-tool.ts'
import { createResultFilter, providerSearch } from './limited-search.ts'
import type { SearchProvider } from './search-provider.ts'
import { searchTool } from './search-tool.ts'

/** Options of `webTools`. */
export interface WebOptions<Services = unknown> extends DocumentOptions {
  /**
   * The search provider: `braveSearch`, `tavilySearch`, `searxngSearch`, or your own function. Without it, there is no
   * `web.search`.
   */
  readonly search?: SearchProvider<Services> | SearchProvider<Services>['search']
}

/** Options of `webFor`, which uses the search of a provider where it has one. */
export interface WebForOptions<Services = unknown> extends WebOptions<Services> {
  /** The agent's models, as names or objects: the first one and its fallbacks. */
  readonly models: readonly (string | Pick<Model, 'provider'>)[]
}

/** Call events of these tools have typed arguments and results. */
export type WebTool<Services = unknown> = KitTool<ReturnType<typeof fetchTool | typeof searchTool>, Services>

/** Tools and settings for the web: `defineAgent({ tools: [...web.tools], settings: web.settings })`. */
export interface Web<Services = unknown> {
  readonly tools: readonly WebTool<Services>[]
  /** Belongs in the agent's settings. */
  readonly settings: Pick<ModelSettings, 'serverTools'>
}

const FIELDS = ['search', 'guard', 'timeoutMs', 'maxBytes', 'fetch', 'clock'] as const

/** @throws BatonError `invalid_option` */
export function webTools<Services = unknown>(options: WebOptions<Services> = {}): readonly WebTool<Services>[] {
  const what = 'webTools'
  checkFields(options, { what, code: 'invalid_option', fields: new Set(FIELDS) })
  checkKinds(options, { what, code: 'invalid_option', kinds: { guard: 'an object', fetch: 'a function' } })
  const { search, ...rest } = options
  const provider = typeof search === 'function' ? { name: 'the program’s own search', search } : search
  if (provider !== undefined && typeof provider.search !== 'function')
    throw new BatonError({
      code: 'invalid_option',
      message: `${what}: search must be a function, or the result of braveSearch, tavilySearch or searxngSearch`,
    })
  return [fetchTool(what, rest), ...(provider ? [searchTool(provider, createResultFilter(rest.guard))] : [])]
}

/**
 * `web.fetch`, and a search: the provider's own if all models have one, otherwise `web.search` with `search`.
 * @throws BatonError `invalid_option` if neither exists
 */
export function webFor<Services = unknown>({ models, ...options }: WebForOptions<Services>): Web<Services> {
  if (!Array.isArray(models))
    throw new BatonError({
      code: 'invalid_option',
      message: `webFor: models must be an array of the agent's models, not ${describeValue(models)}`,
    })
  const providers = new Set(models.map(readProvider))
  const { search, ...rest } = options
  const found = [...providers].map((provider) => [provider, providerSearch(provider, rest.guard)] as const)
  const without = found.find(([, tool]) => tool === undefined)?.[0]
  if (found.length > 0 && without === undefined) {
    const serverTools = Object.fromEntries(found.map(([provider, tool]) => [provider, [tool ?? {}]]))
    return { tools: webTools(rest), settings: { serverTools } }
  }
  if (search) return { tools: webTools(options), settings: {} }
  const named = models.find((model) => readProvider(model) === without)
  const shown = typeof named === 'string' ? named : without
  throw new BatonError({
    code: 'invalid_option',
    message: `webFor: there is no way to search the web: ${shown === undefined ? 'no model is named' : `"${shown}" has no search of its own${rest.guard ? ' that respects guard' : ''}`}, and search is not set`,
    hint: 'Set search: braveSearch({ apiKey }), tavilySearch({ apiKey }), searxngSearch({ server }), or your own function.',
  })
}

function readProvider(model: string | Pick<Model, 'provider'>): string {
  return typeof model === 'string' ? (model.split('/')[0] ?? '') : String(model?.provider)
}
