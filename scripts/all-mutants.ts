// All mistakes that are planted, each with the test that notices it.
import { DECODER_MUTANTS } from './decoder-mutants.ts'
import { FRONT_MUTANTS } from './front-mutants.ts'
import { HOME_MUTANTS } from './home-mutants.ts'
import { MCP_MODEL_MUTANTS } from './mcp-model-mutants.ts'
import type { Mutant } from './mutant-list.ts'
import { MUTANTS } from './mutant-list.ts'
import { OFFICE_MUTANTS } from './office-mutants.ts'
import { RULES } from './rule-list.ts'
import { SHARED_MUTANTS } from './shared-mutants.ts'
import { SITUATION_MUTANTS } from './situation-mutants.ts'
import { STORE_MUTANTS } from './store-mutants.ts'
import { TREE_MUTANTS } from './tree-mutants.ts'

export const ALL_MUTANTS: readonly Mutant[] = [
  ...MUTANTS,
  ...DECODER_MUTANTS,
  ...SITUATION_MUTANTS,
  ...SHARED_MUTANTS,
  ...HOME_MUTANTS,
  ...FRONT_MUTANTS,
  ...MCP_MODEL_MUTANTS,
  ...STORE_MUTANTS,
  ...TREE_MUTANTS,
  ...OFFICE_MUTANTS,
  ...RULES.map(({ rule, ...mutant }) => ({ name: `a rule is broken: ${rule}`, ...mutant })),
]
