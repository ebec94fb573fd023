// The user interrupts the voice at every word and in every phase of a tool: the history contains what was played, each
// call settles once, and nothing is done or said twice.
import { test } from 'vitest'
import { createMemoryKind } from '../host-contract/local-kind.ts'
import { createWorkflowKind } from '../host-contract/host-kinds.ts'
import { checkCells } from './check-cells.test-kit.ts'

const KINDS = [createMemoryKind(), createWorkflowKind('workflow')]
const CASES = KINDS.flatMap((kind) => ([1, 2] as const).map((version) => [kind.name, version, kind] as const))

test.each(CASES)('%s, version %i', async (_, version, kind) => {
  console.log(await checkCells(kind, version))
})
