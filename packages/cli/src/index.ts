// The exports of @baton/cli: the command itself, with a process of their own around it.
export { run } from './run.ts'
export { createNodeConsole } from './console.ts'
export type { Console } from './console.ts'
export { createDefaultAgent } from './default-agent.ts'
