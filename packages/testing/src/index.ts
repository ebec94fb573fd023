// Exports of @baton/testing: the simulation of a user's own agent, and that of the host.
export { simulateAgent as simulate, AgentSimulationError } from './simulate-agent/simulate-agent.ts'
export type { SimulateAgentOptions, SimulatedFault, SimulationReport } from './simulate-agent/simulate-agent.ts'
export { simulate as simulateHost, SimulationError } from './simulator/simulate.ts'
export type { SimulateOptions } from './simulator/simulate.ts'
export { createSimulationCoverage } from './simulator/coverage.ts'
export type { SimulationCoverage } from './simulator/coverage.ts'
export { validateWires } from './validate-wires.ts'
