// The tools of the kit, and the choice between a search that a model's provider runs itself and a service.
import type { Model, ModelSettings } from '@baton/core'
import { BatonError, checkFields, checkKinds, describeValue } from '@baton/core'
import type { KitTool } from '../shared/kit-tool.ts'
import type { DocumentOptions } from '../shared/pages/fetch-document.ts'
import { fetchTool } from './fetch-tool.ts'
import { createResultFilter, providerSearch } from './limited-search.ts'
import type { SearchProvider } from './search-provider.ts'
import { searchTool } from './search-tool.ts'

export interface WebOptions<Services = unknown> extends DocumentOptions {
  /** The search provider: `braveSearch`, `tavilySearch`, `searxngSearch`, or a function of your own. Absent: there is no `web.search`. */
  readonly search?: SearchProvider<Services> | SearchProvider<Services>['search']
}

export interface WebForOptions<Services = unknown> extends WebOptions<Services> {
  /** The agent's models, by name or as they are: the first one and its fallbacks. */
  readonly models: readonly (string | Pick<Model, 'provider'>)[]
}

/** Events of a call of one of them have the types of its arguments and its result. */
export type WebTool<Services = unknown> = KitTool<ReturnType<typeof fetchTool | typeof searchTool>, Services>

export interface Web<Services = unknown> {
  readonly tools: readonly WebTool<Services>[]
  /** Goes into the agent's settings. */
  readonly settings: Pick<ModelSettings, 'serverTools'>
}

const FIELDS = ['search', 'guard', 'timeoutMs', 'maxBytes', 'fetch', 'clock'] as const

/** @throws BatonError `invalid_option` */
export function webTools<Services = unknown>(options: WebOptions<Services> = {}): readonly WebTool<Services>[] {
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
  return [fetchTool(what, rest), ...(provider ? [searchTool(provider, createResultFilter(rest.guard))] : [])]
}

/**
 * `web.fetch`, and a search: that of the provider where all models have one, else `web.search` by `search`.
 * @throws BatonError `invalid_option` where neither is there
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
    message: `webFor: nothing searches the web: ${shown === undefined ? 'no model is named' : `"${shown}" does not do it by itself${rest.guard ? ', or not within guard' : ''}`}, and there is no search`,
    hint: 'Give search: braveSearch({ apiKey }), tavilySearch({ apiKey }), searxngSearch({ server }), or a function of your own.',
  })
}

function readProvider(model: string | Pick<Model, 'provider'>): string {
  return typeof model === 'string' ? (model.split('/')[0] ?? '') : String(model?.provider)
}
