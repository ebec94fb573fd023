// Plays cells one after another, and reports any unexpected end.
import { expect } from 'vitest'
import type { HostKind } from '../host-contract/host-kind.ts'
import type { Cell, ToolKind } from './cells.ts'
import { listCells, nameCell } from './cells.ts'
import type { Version } from './play.ts'
import { expectPlayed, playCell, suits } from './play.ts'

export async function checkCell(kind: HostKind, version: Version, cell: Cell): Promise<void> {
  const name = nameCell(cell)
  expect({ [name]: await playCell(kind, version, cell) }).toEqual({ [name]: expectPlayed(version, cell) })
}

/**
 * Over a service with its own time: a call that may finish has two seconds of it after the next input. On a loaded
 * machine its result may be too late, and the model reads that the call may have run. Everything else must be the same.
 */
export async function checkCellOfService(kind: HostKind, version: Version, cell: Cell): Promise<void> {
  const name = nameCell(cell)
  const played = await playCell(kind, version, cell)
  const inTime = expectPlayed(version, cell)
  const late = LATE[cell.tool]
  const isLate = late !== undefined && played.asked[0]?.result === late
  const expected = isLate ? { ...inTime, asked: inTime.asked.map((told) => ({ ...told, result: late })) } : inTime
  expect({ [name]: played }).toEqual({ [name]: expected })
}

const LATE: Partial<Readonly<Record<ToolKind, string>>> = {
  finish: 'Error: cancelled (it may have run)',
  client: 'Error: tool_result_unknown (it may have run)',
}

/** Reports how many were played. */
export async function checkCells(kind: HostKind, version: Version): Promise<string> {
  const cells = listCells().filter((cell) => suits(version, cell))
  for (const cell of cells) await checkCell(kind, version, cell)
  return `barge-in: ${cells.length} interrupts, ${kind.name}, version ${version}`
}
