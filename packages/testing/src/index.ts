// What programs import from @baton/testing: the simulator.
export { simulate, SimulationError } from './simulator/simulate.ts'
export type { SimulateOptions } from './simulator/simulate.ts'
export { createSimulationCoverage } from './simulator/coverage.ts'
export type { SimulationCoverage } from './simulator/coverage.ts'
export { validateWires } from './validate-wires.ts'
