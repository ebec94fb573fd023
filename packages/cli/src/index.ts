// The exports of @baton/cli: the command itself, for programs that run it in their own process.
export { run } from './run.ts'
export { createNodeConsole } from './console.ts'
export type { Console } from './console.ts'
export { createDefaultAgent } from './places/default-agent.ts'
