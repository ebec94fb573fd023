// Exports of @baton/testing: an agent's session in simulated worlds.
export { simulateAgent as simulate, AgentSimulationError } from './simulate-agent/simulate-agent.ts'
export type { SimulateAgentOptions, SimulationReport } from './simulate-agent/simulate-agent.ts'
