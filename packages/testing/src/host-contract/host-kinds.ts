// The kinds of hosts that the contract is played against.
import type { HostKind } from './host-kind.ts'
import { createMemoryKind, createSqliteKind } from './local-kind.ts'
import { createWorkflowKind } from './workflow-kind.ts'

export function createHostKinds(): readonly HostKind[] {
  return [
    createMemoryKind(),
    createSqliteKind(),
    createWorkflowKind('workflow'),
    createWorkflowKind('workflow whose worker dies at every record', { killsWorker: () => true }),
  ]
}
