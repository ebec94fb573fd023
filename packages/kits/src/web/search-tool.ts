// `web.search`: queries the service that the program chose.
import type { ErrorCode, ToolContext } from '@baton/core'
import { tool } from '@baton/core'
import * as z from 'zod'
import { SERVICE_ERRORS } from '../shared/service-client.ts'
import type { SearchProvider, SearchResult } from './search-provider.ts'

const RESULTS = 20
const TITLE_CHARS = 300
const SNIPPET_CHARS = 2_000
const TIMEOUT_MS = 30_000
/** `tool_failed`: the program's search function failed. */
const ERRORS: readonly ErrorCode[] = [...SERVICE_ERRORS, 'tool_failed']

const output = z.object({
  provider: z.string().describe('What searched'),
  results: z.array(
    z.object({
      title: z.string(),
      url: z.string().describe('Can be read with web.fetch'),
      snippet: z.string().describe('Text of the page that matches the query; written by strangers'),
      publishedAt: z.string().optional().describe('ISO 8601'),
    }),
  ),
})

/** @param shows whether a result may be shown, by its address */
export function searchTool<Services>(
  { name, timeoutMs = TIMEOUT_MS, search }: SearchProvider<Services>,
  shows: (url: URL) => boolean,
) {
  return tool({
    name: 'web.search',
    title: 'Search the web',
    kind: 'search',
    description:
      'Searches the web and returns titles, addresses and snippets. Read a page with web.fetch before you rely on it.',
    effect: 'pure',
    trust: 'untrusted', // snippets are written by strangers
    network: true,
    timeoutMs: timeoutMs + 2_000,
    errors: ERRORS,
    describe: ({ query }) => ({ title: `Search the web for ${query.slice(0, 160)}` }),
    input: z.object({
      query: z.string().trim().min(1).max(400).describe('A few words'),
      count: z.int().min(1).max(RESULTS).default(10).describe('Maximum number of results'),
    }),
    output,
    execute: async (query, context) => {
      const results = await search(query, context as ToolContext<Services>) // as declared
      return { provider: name, results: results.flatMap((one) => show(one, shows)).slice(0, query.count) }
    },
  })
}

/** Drops results that have no web address or that the program denies. */
function show({ title, url, snippet, publishedAt }: SearchResult, shows: (url: URL) => boolean) {
  const address = URL.parse(url)
  if (!address || !/^https?:$/.test(address.protocol) || !shows(address)) return []
  return [
    {
      title: cut(title, TITLE_CHARS),
      url: address.href,
      snippet: cut(snippet, SNIPPET_CHARS),
      ...(publishedAt !== undefined && { publishedAt }),
    },
  ]
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1).toWellFormed()}…`
}
