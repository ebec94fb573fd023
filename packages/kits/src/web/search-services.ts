// Three search services: Brave Search and Tavily with a key, SearXNG on your own server.
import type { ToolContext } from '@baton/core'
import { BatonError, isBatonError } from '@baton/core'
import * as z from 'zod'
import type { ServiceOptions } from '../shared/service-client.ts'
import { ServiceClient } from '../shared/service-client.ts'
import { checkServiceKey } from '../shared/service-key.ts'
import type { SearchKey, SearchProvider, SearchResult } from './search-provider.ts'

/** Options of a search service: `braveSearch({ apiKey })`. */
export interface SearchServiceOptions<Services = unknown> extends ServiceOptions {
  readonly apiKey: SearchKey<Services>
  /** Defaults to the service's own address. */
  readonly server?: string
}

const text = z.string().nullish()

/**
 * https://api-dashboard.search.brave.com/documentation (web search: parameters and response; excerpts seen in 2026-11)
 */
const BraveAnswer = z.object({
  web: z
    .object({
      results: z.array(z.looseObject({ title: z.string(), url: z.string(), description: text, page_age: text })),
    })
    .nullish(),
})

/** @throws BatonError `invalid_option` */
export function braveSearch<Services = unknown>(options: SearchServiceOptions<Services>): SearchProvider<Services> {
  const { apiKey, server = 'https://api.search.brave.com/res/v1', ...rest } = options
  const service = open({ ...rest, name: 'Brave Search', server, option: 'braveSearch: server' }, apiKey)
  return {
    name: 'Brave Search',
    timeoutMs: service.timeoutMs,
    search: async ({ query, count }, context) => {
      const key = await readKey('Brave Search', apiKey, context)
      const { value } = await service.ask({
        method: 'GET',
        path: '/web/search',
        // Without text_decorations=false, query words come wrapped in <strong>.
        query: { q: query, count, text_decorations: false },
        headers: { 'x-subscription-token': key },
        secrets: [key],
        signal: context.signal,
      })
      const { web } = service.check(BraveAnswer, value)
      return (web?.results ?? []).map(({ title, url, description, page_age }) =>
        toResult({ title, url, snippet: description, published: page_age }),
      )
    },
  }
}

/** https://docs.tavily.com/documentation/api-reference/endpoint/search (its help page and client, seen in 2026-11) */
const TavilyAnswer = z.object({
  results: z.array(z.looseObject({ title: z.string(), url: z.string(), content: text, published_date: text })),
})

/** @throws BatonError `invalid_option` */
export function tavilySearch<Services = unknown>(options: SearchServiceOptions<Services>): SearchProvider<Services> {
  const { apiKey, server = 'https://api.tavily.com', ...rest } = options
  const service = open({ ...rest, name: 'Tavily', server, option: 'tavilySearch: server' }, apiKey)
  return {
    name: 'Tavily',
    timeoutMs: service.timeoutMs,
    search: async ({ query, count }, context) => {
      const key = await readKey('Tavily', apiKey, context)
      const { value } = await service.ask({
        method: 'POST',
        path: '/search',
        json: { query, max_results: count, search_depth: 'basic' },
        headers: { authorization: `Bearer ${key}` },
        secrets: [key],
        mayChange: false,
        signal: context.signal,
      })
      return service
        .check(TavilyAnswer, value)
        .results.map(({ title, url, content, published_date }) =>
          toResult({ title, url, snippet: content, published: published_date }),
        )
    },
  }
}

/** https://docs.searxng.org/dev/search_api.html (read in 2026-11) */
const SearxngAnswer = z.object({
  results: z.array(z.looseObject({ title: text, url: z.string(), content: text, publishedDate: text })),
})

/** Options of `searxngSearch`. */
export interface SearxngOptions extends ServiceOptions {
  /** Your own server, with `json` among `search.formats` in its `settings.yml`; public servers rarely allow it. */
  readonly server: string
}

/** @throws BatonError `invalid_option` */
export function searxngSearch({ server, ...rest }: SearxngOptions): SearchProvider {
  const service = new ServiceClient({
    ...rest,
    name: 'SearXNG',
    server,
    option: 'searxngSearch: server',
    showsWords: false,
  })
  return {
    name: 'SearXNG',
    timeoutMs: service.timeoutMs,
    search: async ({ query, count }, { signal }) => {
      try {
        // It returns one page of results, whose length it chooses.
        const { value } = await service.ask({
          method: 'GET',
          path: '/search',
          query: { q: query, format: 'json' },
          signal,
        })
        return service
          .check(SearxngAnswer, value)
          .results.slice(0, count)
          .map(({ title, url, content, publishedDate }) =>
            toResult({ title: title ?? url, url, snippet: content, published: publishedDate }),
          )
      } catch (thrown) {
        if (!isBatonError(thrown) || thrown.data['status'] !== 403) throw thrown
        const message = `${thrown.message} (its settings.yml must have "json" among search.formats)`
        throw new BatonError({ code: thrown.code, message, data: thrown.data, cause: thrown })
      }
    },
  }
}

function open<Services>(
  init: ConstructorParameters<typeof ServiceClient>[0],
  apiKey: SearchKey<Services>,
): ServiceClient {
  checkServiceKey(apiKey, `${init.option.split(':')[0]}: apiKey`, 'key')
  return new ServiceClient(init)
}

async function readKey<Services>(
  service: string,
  apiKey: SearchKey<Services>,
  context: ToolContext<Services>,
): Promise<string> {
  const key = typeof apiKey === 'function' ? await apiKey(context) : apiKey
  if (typeof key === 'string' && key !== '') return key
  const message = `there is no ${service} key for ${context.principal.id}`
  throw new BatonError({ code: 'api_unauthorized', message })
}

interface Found {
  readonly title: string
  readonly url: string
  readonly snippet: string | null | undefined
  readonly published: string | null | undefined
}

function toResult({ title, url, snippet, published }: Found): SearchResult {
  const ms = Date.parse(published ?? '')
  return {
    title,
    url,
    snippet: snippet ?? '',
    ...(!Number.isNaN(ms) && { publishedAt: new Date(ms).toISOString() }),
  }
}
