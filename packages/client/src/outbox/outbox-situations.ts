// The contract of every outbox, as situations that run anywhere: in Node, and in a page.
import type { Outbox, OutboxEntry, OutboxPlace } from './outbox.ts'

/** Throws if the outbox behaves differently. */
export type OutboxSituation = (outbox: Outbox) => Promise<void>

export const OUTBOX_SITUATIONS: Readonly<Record<string, OutboxSituation>> = {
  'what a copy has left is the next one’s, oldest first': async (outbox) => {
    const first = join(outbox, 'next')
    first.place.save(createInput('b', 2))
    first.place.save(createInput('a', 1))
    first.place.save(createResult('call', 3))
    await first.place.leave()
    const second = join(outbox, 'next')
    await second.until(3)
    expectIds(second, ['a', 'b', 'call'])
    expectSame(second.left[2], createResult('call', 3))
    await second.place.leave()
  },
  'what was removed, or saved again, is not left twice': async (outbox) => {
    const first = join(outbox, 'removed')
    first.place.save(createInput('a', 1))
    first.place.save(createInput('b', 2))
    first.place.save(createInput('b', 2))
    first.place.save(createResult('a', 3))
    first.place.remove('input', 'a')
    first.place.remove('input', 'unknown')
    await first.place.leave()
    const second = join(outbox, 'removed')
    await second.until(2)
    expectIds(second, ['b', 'a'])
    await second.place.leave()
  },
  'another scope is told nothing': async (outbox) => {
    const first = join(outbox, 'one')
    first.place.save(createInput('a', 1))
    await first.place.leave()
    const other = join(outbox, 'other')
    const same = join(outbox, 'one')
    await same.until(1)
    expectIds(other, [])
    await other.place.leave()
    await same.place.leave()
  },
  'a copy that lives keeps its own': async (outbox) => {
    const first = join(outbox, 'lives')
    first.place.save(createInput('a', 1))
    const second = join(outbox, 'lives')
    second.place.save(createInput('b', 2))
    await second.place.leave()
    // The second copy's entries show that its reading has finished.
    const third = join(outbox, 'lives')
    await Promise.race([first.until(1), third.until(1)])
    expectIds({ left: [...first.left, ...third.left] }, ['b'])
    await third.place.leave()
    await first.place.leave()
  },
  'of two copies with entries, what the one has left is told, and the other keeps its own': async (outbox) => {
    const lives = join(outbox, 'two')
    lives.place.save(createInput('kept', 1))
    const leaves = join(outbox, 'two')
    leaves.place.save(createInput('left', 2))
    await leaves.place.leave()
    const heir = join(outbox, 'two')
    heir.place.save(createInput('own', 3))
    await Promise.race([heir.until(1), lives.until(1)])
    expectIds({ left: [...heir.left, ...lives.left] }, ['left'])
    await heir.place.leave()
    await lives.place.leave()
  },
  'what is adopted and not sent is left once more': async (outbox) => {
    for (const _ of [1, 2, 3]) {
      const copy = join(outbox, 'again')
      if (_ === 1) copy.place.save(createInput('a', 1))
      else await copy.until(1)
      await copy.place.leave()
    }
    const last = join(outbox, 'again')
    await last.until(1)
    expectIds(last, ['a'])
    last.place.remove('input', 'a')
    await last.place.leave()
    const none = join(outbox, 'again')
    none.place.save(createInput('b', 2))
    await none.place.leave()
    expectIds(none, [])
  },
  'a large entry comes back as it was': async (outbox) => {
    const large = createInput('large', 1, 'é'.repeat(300_000))
    const first = join(outbox, 'large')
    first.place.save(large)
    await first.place.leave()
    const second = join(outbox, 'large')
    await second.until(1)
    expectSame(second.left[0], large)
    await second.place.leave()
  },
}

interface Joined {
  readonly place: OutboxPlace
  readonly left: readonly OutboxEntry[]
  /** Resolves once it has been left this many entries. */
  readonly until: (entries: number) => Promise<void>
}

function join(outbox: Outbox, scope: string): Joined {
  const left: OutboxEntry[] = []
  let wake = (): void => {}
  const place = outbox.join({
    scope,
    onLeft: (entries) => {
      left.push(...entries)
      wake()
    },
    onBroken: (cause) => {
      throw new Error(`the outbox is broken: ${String(cause)}`)
    },
  })
  const until = async (entries: number): Promise<void> => {
    while (left.length < entries)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
  }
  return { place, left, until }
}

function createInput(id: string, atMs: number, content = 'hello'): OutboxEntry {
  return { kind: 'input', id, atMs, type: 'input.send', given: { input: id, content } }
}

function createResult(id: string, atMs: number): OutboxEntry {
  return { kind: 'result', id, atMs, outcome: { output: { done: true } }, device: 'phone' }
}

function expectIds({ left }: Pick<Joined, 'left'>, ids: readonly string[]): void {
  expectSame(
    left.map(({ id }) => id),
    ids,
  )
}

function expectSame(found: unknown, wanted: unknown): void {
  const [one, other] = [JSON.stringify(found), JSON.stringify(wanted)]
  if (one !== other) throw new Error(`found ${one.slice(0, 300)}, and not ${other.slice(0, 300)}`)
}
