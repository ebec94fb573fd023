// A provider of `web.search`: one of the services here, or a function of the program's own.
import type { ToolContext } from '@baton/core'

export interface SearchQuery {
  readonly query: string
  /** Results at most, from 1 to 20. */
  readonly count: number
}

export interface SearchResult {
  readonly title: string
  readonly url: string
  /** The fitting words of the page. */
  readonly snippet: string
  /** ISO 8601, where the service tells it. */
  readonly publishedAt?: string | undefined
}

export interface SearchProvider<Services = unknown> {
  /** For people and models: `Brave Search`. */
  readonly name: string
  /** Milliseconds that a search may take; 30,000 by default. */
  readonly timeoutMs?: number
  search(query: SearchQuery, context: ToolContext<Services>): Promise<readonly SearchResult[]>
}

/** A key, or a function that gives the key of the call's principal. */
export type SearchKey<Services> =
  string | ((context: ToolContext<Services>) => string | undefined | Promise<string | undefined>)
