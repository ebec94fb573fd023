// The test kit: what checks models, stores, tools and wires, and what stands in for them.
export type { WireIssue } from './wires/issue.ts'
export { validateAnthropicRequest } from './wires/anthropic.ts'
export * from './random.ts'
export * from './neutral-history.ts'
export * from './invariants.ts'
export * from './explore.ts'
export { createCoverage } from './explore-world.ts'
export type { Coverage, World } from './explore-world.ts'
