// A provider of `web.search`: one of the services here, or the program's own function.
import type { ToolContext } from '@baton/core'

/** A search of the web. */
export interface SearchQuery {
  readonly query: string
  /** Maximum results, from 1 to 20. */
  readonly count: number
}

/** A page that a search found. */
export interface SearchResult {
  readonly title: string
  readonly url: string
  /** The matching text of the page. */
  readonly snippet: string
  /** ISO 8601, if the service reports it. */
  readonly publishedAt?: string | undefined
}

/** A service that searches the web. Write `search` to add your own. */
export interface SearchProvider<Services = unknown> {
  /** Display name: `Brave Search`. */
  readonly name: string
  /** Timeout of a search in milliseconds; 30,000 by default. */
  readonly timeoutMs?: number
  search(query: SearchQuery, context: ToolContext<Services>): Promise<readonly SearchResult[]>
}

/** A key, or a function that returns the key of the call's principal. */
export type SearchKey<Services> =
  string | ((context: ToolContext<Services>) => string | undefined | Promise<string | undefined>)
