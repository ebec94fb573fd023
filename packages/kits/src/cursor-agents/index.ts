// Exports of @baton/kits/cursor-agents.
export { cursorAgentClientTools, cursorAgentTools } from './cursor-agent-tools.ts'
export type { CursorAgentOptions } from './cursor-agent-tools.ts'
export { CURSOR_AGENT_INSTRUCTIONS } from './definitions.ts'
export type { CloudAgent } from './definitions.ts'
