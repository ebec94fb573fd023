// Situations: what a host must do, as named cases, each with its own world for any kind of host.
import type { Fact } from '@baton/core/machine'
import { canonicalLog } from '@baton/core/machine'
import type { ContractWorld, ContractWorldOptions, HostKind } from './host-kind.ts'

/** The stage of a situation. */
export interface Stage {
  readonly kind: string
  createWorld(init: ContractWorldOptions): Promise<ContractWorld>
}

export type Act = (stage: Stage) => Promise<void>
/** Situations by name. */
export type Situations = Readonly<Record<string, Act>>

export interface HostCase {
  readonly name: string
  /**
   * Plays the situation in new worlds and stops their hosts. Returns the canonical log of each world's session.
   * @throws Error if the outcome is wrong
   */
  run(): Promise<readonly (readonly Fact[])[]>
}

export function listHostCases(kind: HostKind, situations: Situations): readonly HostCase[] {
  return Object.entries(situations).map(([name, act]) => ({ name, run: () => play(kind, act) }))
}

/** One situation per row; `%s` in the name is replaced by the first value of the row. */
export function forEachRow<Row extends [unknown, ...unknown[]]>(
  name: string,
  rows: readonly (readonly [...Row])[],
  act: (stage: Stage, row: readonly [...Row]) => Promise<void>,
): Situations {
  return Object.fromEntries(
    rows.map((row): [string, Act] => [name.replace('%s', String(row[0])), (stage) => act(stage, row)]),
  )
}

async function play(kind: HostKind, act: Act): Promise<readonly (readonly Fact[])[]> {
  const worlds: ContractWorld[] = []
  const unhandled: unknown[] = []
  const note = (cause: unknown): void => void unhandled.push(cause)
  process.on('unhandledRejection', note)
  try {
    await act({
      kind: kind.name,
      createWorld: async (init) => {
        const world = await kind.createWorld(init)
        worlds.push(world)
        return world
      },
    })
    for (const { host, time } of worlds) await time.until(host.stop())
    await new Promise<void>((resolve) => void setImmediate(resolve))
  } finally {
    process.off('unhandledRejection', note)
  }
  if (unhandled.length > 0) throw new Error('a rejection was not handled', { cause: unhandled[0] })
  return await Promise.all(worlds.map(async (world) => canonicalLog(await world.records())))
}
