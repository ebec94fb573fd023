// All states of a small world of one tree, breadth first, and the rules that hold in each.
import { restsAsChild } from '@baton/core/machine'
import { nameHelp } from './handshake-log.ts'
import type { Log } from './handshake-log.ts'
import type { Successor, World, WorldOptions } from './handshake-world.ts'
import { Handshake, nameWorld } from './handshake-world.ts'

export interface Search {
  readonly states: number
  readonly depth: number
  /** Number of ends by the claim that the root's model has read, and by the acts of the tool. */
  readonly ends: ReadonlyMap<string, number>
  /** The first broken rule, and the steps to it. */
  readonly failure?: { readonly rule: string; readonly story: readonly string[] }
  /** Whether every state was seen. */
  readonly isWhole: boolean
}

interface Seen {
  readonly from: string
  readonly name: string
}

/** @param most states to look at; a failure ends the search */
export function search(options: WorldOptions, most = Infinity): Search {
  const handshake = new Handshake(options)
  const first = handshake.begin()
  const seen = new Map<string, Seen>([[nameWorld(first), { from: '', name: '' }]])
  const ends = new Map<string, number>()
  let frontier: readonly World[] = [first]
  let [states, depth] = [0, 0]
  while (frontier.length > 0) {
    const next: World[] = []
    for (const world of frontier) {
      const successors = handshake.successors(world)
      states += 1
      const rule = findFault(handshake, world, successors)
      if (rule !== undefined) {
        const story = tellStory(seen, nameWorld(world))
        return { states, depth, ends, failure: { rule, story }, isWhole: false }
      }
      if (isOver(world, successors)) count(ends, `${world.logs[0]?.claim ?? 'open'}, acted ${world.acts}`)
      for (const { world: reached, name } of successors) {
        const key = nameWorld(reached)
        if (seen.has(key)) continue
        seen.set(key, { from: nameWorld(world), name })
        next.push(reached)
      }
    }
    if (states > most) return { states, depth, ends, isWhole: false }
    frontier = next
    depth += 1
  }
  return { states, depth, ends, isWhole: true }
}

function count(ends: Map<string, number>, end: string): void {
  ends.set(end, (ends.get(end) ?? 0) + 1)
}

function tellStory(seen: ReadonlyMap<string, Seen>, last: string): readonly string[] {
  const story: string[] = []
  for (let at = seen.get(last); at && at.name !== ''; at = seen.get(at.from)) story.unshift(at.name)
  return story
}

function isOver(world: World, successors: readonly Successor[]): boolean {
  return world.logs[0]?.state.children.length === 0 && successors.every(({ by }) => by !== 'inside')
}

/** The first broken rule of a state. */
function findFault(handshake: Handshake, world: World, successors: readonly Successor[]): string | undefined {
  const { logs, acts } = world
  const [root] = logs
  if (!root) return undefined
  const own = world.fault ?? logs.find((log) => log?.fault !== undefined)?.fault
  return own ?? checkClaim(root, acts) ?? checkCursors(logs) ?? checkEnd(handshake, world, successors)
}

/** Nothing is called undone that was done, nor the reverse; and an approval is not called a refusal. */
function checkClaim({ claim, counts }: Log, acts: number): string | undefined {
  if (acts > 0 && (claim === 'undone' || claim === 'denied')) return `the model was told ${claim}, but it acted`
  if (claim === 'done' && acts === 0) return 'the model was told that it is done, but nothing happened'
  if (claim === 'denied' && counts.has('approved')) return 'a person approved, and the model was told that nobody did'
  return undefined
}

function checkCursors(logs: World['logs']): string | undefined {
  for (const [level, log] of logs.entries()) {
    const above = logs[level - 1]
    if (!log || !above) continue
    if ((log.state.parent?.pos ?? -1) > above.pos) return `level ${level} heard of the future`
    if ((above.state.children[0]?.pos ?? -1) > log.pos) return `level ${level - 1} read the future`
  }
  return undefined
}

function checkEnd(handshake: Handshake, world: World, successors: readonly Successor[]): string | undefined {
  const { logs, processes } = world
  const [root] = logs
  if (!root) return undefined
  const isClosed = root.state.children.length === 0
  const isActing = processes.some(({ job, holds }) => job === 'begun' && holds[handshake.leaf] === 'valid')
  if (isClosed && isActing) return 'a tool is about to act in a closed child'
  const isOwned = processes.some(({ holds }) => holds[0] === 'valid')
  if (!isOwned || successors.some(({ by }) => by === 'inside')) return undefined
  if (!isClosed) return isWaiting(root) ? undefined : 'nothing goes on, and the root waits for its child'
  const work = logs.findIndex((log, level) => level > 0 && log && log.pos > 0 && !restsAsChild(log.state))
  if (work > 0) return `level ${work} is left at work`
  return checkTotals(logs)
}

/** A person, or a client, has something to do. */
function isWaiting({ state }: Log): boolean {
  return state.relayed.some(({ deadline, call }) => deadline !== null || (call && call.state !== 'settled'))
}

/** Compares the count of the root with the use of all sessions below. */
function checkTotals(logs: World['logs']): string | undefined {
  const [root, ...below] = logs
  const used = below.reduce((sum, log) => sum + (log?.tokens ?? 0), 0)
  const closed = root && findClosed(root)
  if (closed === undefined || closed === used) return undefined
  return `the sessions below used ${used} tokens, and the root counted ${closed}`
}

function findClosed(root: Log): number | undefined {
  for (let at: Log | null = root; at; at = at.before)
    for (const fact of at.record.facts)
      if (fact.type === 'child-reported' && fact.callId === nameHelp(0)) return fact.spent.tokens
  return undefined
}
