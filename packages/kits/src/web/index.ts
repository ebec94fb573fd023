// Exports of @baton/kits/web.
export type { SearchKey, SearchProvider, SearchQuery, SearchResult } from './search-provider.ts'
export { braveSearch, searxngSearch, tavilySearch } from './search-services.ts'
export type { SearchServiceOptions, SearxngOptions } from './search-services.ts'
export { webFor, webTools } from './web-tools.ts'
export type { Web, WebForOptions, WebOptions, WebTool } from './web-tools.ts'
