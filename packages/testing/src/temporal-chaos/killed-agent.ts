// The agents of tests that kill their workers, by kind.
import type { Agent } from '@baton/core/internal'
import { createChaosAgent } from './chaos-agent.ts'
import { createTaskAgent } from './task-agent.ts'
import { createTreeAgent } from './tree-agent.ts'

const KINDS = { chaos: createChaosAgent, tree: createTreeAgent, task: createTaskAgent }

export type KilledKind = keyof typeof KINDS

/** `effects`: a file that gets a line for each act of its tools. */
export function createKilledAgent(kind: string, effects: string): Agent {
  const create = Object.entries(KINDS).find(([name]) => name === kind)?.[1] ?? createChaosAgent
  return create(effects)
}
