// Builds wire messages of two alternating speakers: consecutive messages of one speaker are merged.
import type { HistoryEncoder } from './histories.ts'

export interface TakingTurns<Role, Block, Wire> extends Pick<HistoryEncoder<Wire>, 'wire'> {
  say(role: Role, blocks: readonly Block[]): void
}

interface Group<Role, Block> {
  readonly role: Role
  readonly blocks: Block[]
}

/**
 * @param finish turns a speaker's blocks into a valid message; `undefined` if nothing is left, as if the speaker had
 * said nothing
 */
export function createTakingTurns<Role, Block, Wire>(
  finish: (role: Role, blocks: readonly Block[]) => Wire | undefined,
): TakingTurns<Role, Block, Wire> {
  /** The last one may still grow; the others are finished. */
  const groups: Group<Role, Block>[] = []
  const finished: Wire[] = []
  const finishLast = (): void => {
    const last = groups.at(-1)
    const wire = last && finish(last.role, last.blocks)
    if (wire !== undefined) finished.push(wire)
    else if (groups.pop()) finished.pop()
  }
  return {
    say(role, blocks) {
      if (blocks.length === 0) return
      if (groups.at(-1)?.role !== role) finishLast()
      const last = groups.at(-1)
      if (last?.role === role) last.blocks.push(...blocks)
      else groups.push({ role, blocks: [...blocks] })
    },
    wire() {
      const last = groups.at(-1)
      const wire = last && finish(last.role, last.blocks)
      return wire === undefined ? [...finished] : [...finished, wire]
    },
  }
}
