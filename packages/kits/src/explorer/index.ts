// Exports of @baton/kits/explorer.
export { createExplorer } from './explorer.ts'
export type { ExplorerOptions } from './explorer.ts'
export { readExploration } from './exploration.ts'
export type { Cited, ExplorationSummary } from './exploration.ts'
export type { Citation, Evidence } from './evidence.ts'
export type { OverviewOptions } from './overview.ts'
