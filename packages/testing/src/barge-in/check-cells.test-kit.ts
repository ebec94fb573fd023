// Plays cells one after another, and says which one did not end as it must.
import { expect } from 'vitest'
import type { HostKind } from '../host-contract/host-kind.ts'
import type { Cell } from './cells.ts'
import { listCells, nameCell } from './cells.ts'
import type { Version } from './play.ts'
import { expectPlayed, playCell, suits } from './play.ts'

export async function checkCell(kind: HostKind, version: Version, cell: Cell): Promise<void> {
  const name = nameCell(cell)
  expect({ [name]: await playCell(kind, version, cell) }).toEqual({ [name]: expectPlayed(version, cell) })
}

/** Says how many it played. */
export async function checkCells(kind: HostKind, version: Version): Promise<string> {
  const cells = listCells().filter((cell) => suits(version, cell))
  for (const cell of cells) await checkCell(kind, version, cell)
  return `barge-in: ${cells.length} interrupts, ${kind.name}, version ${version}`
}
