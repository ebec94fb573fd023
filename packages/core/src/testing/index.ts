// The test kit: what checks models, stores, tools and wires, and what stands in for them.
export type { WireIssue } from './wires/issue.ts'
export { validateAnthropicRequest } from './wires/anthropic.ts'
