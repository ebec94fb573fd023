// Exports of @baton/kits/acp-agent.
export { acpAgent } from './acp-agent.ts'
export type { AcpAgent, AcpAgentOptions } from './acp-agent.ts'
