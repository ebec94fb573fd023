// Random acts on several stores at once: all must give the same answers, and keep the records they acknowledged. The store
// contract plays known situations; a play mixes them.
import type { Clock } from '../agent/environment.ts'
import type { SessionEntry, Store } from '../agent/store.ts'
import type { SessionRecord } from '../machine/record.ts'
import { initialState } from '../machine/state.ts'
import type { Random } from './random.ts'
import { createRandom } from './random.ts'
import { createSnapshot, createSteppedClock, record } from './store-claims.ts'
import type { Act } from './store-player.ts'
import { Player } from './store-player.ts'

export interface StorePlay {
  /** Opens empty stores by name, whose leases use this clock and are equally long. Each is compared with the first. */
  open(clock: Clock): Promise<Readonly<Record<string, Store>>>
  readonly seed: number
  readonly acts: number
}

/** Closes the stores. @throws Error with the acts that led to the first answer that differs */
export async function playStores({ open, seed, acts }: StorePlay): Promise<void> {
  const random = createRandom(seed)
  const clock = createSteppedClock()
  const players = Object.entries(await open(clock)).map(([name, store]) => new Player(name, store))
  try {
    const leaseMs = players[0]?.store.leaseMs ?? 0
    const plot = new Plot(random, (share) => clock.step(Math.floor(leaseMs * share)))
    const lines: string[] = []
    for (let count = 1; count <= acts; count++) {
      const [words, act] = plot.next()
      const answers: string[] = []
      for (const player of players) answers.push(await player.answer(act))
      lines.push(`${words} -> ${answers[0]}`)
      for (const [at, { name, broken }] of players.entries()) {
        const wrong = broken ?? (answers[at] === answers[0] ? undefined : `answers ${answers[at]}`)
        if (wrong !== undefined)
          throw new Error(`seed ${seed}, act ${count}: ${name} ${wrong}\n${lines.slice(-TOLD_ACTS).join('\n')}`)
      }
      plot.learn(answers[0] ?? '')
    }
  } finally {
    for (const { store } of players) await store.close()
  }
}

const TOLD_ACTS = 40

/** An ownership that some store granted. Epochs differ between stores, so plays name them by number. */
interface Granted {
  readonly session: string
  readonly owner: string
  /** Position of its newest record. */
  pos: number
  /** Whoever left a session appends nothing. */
  place: 'open' | 'resting' | 'left'
}

const SESSIONS = ['a', 'b', 'ä/1'] as const
const CHILDREN = ['c1', 'c2'] as const
const NAMES = [...SESSIONS, ...CHILDREN] as const
const OWNERS = ['ann', 'bob', 'carl'] as const
const LISTS = ['all', 'some'] as const

/** Chooses acts, and knows what the first store has granted. */
class Plot {
  readonly #random: Random
  readonly #stepLeases: (share: number) => void
  readonly #granted: Granted[] = []
  /** Ownership that the next answer grants. */
  #asked: Pick<Granted, 'session' | 'owner'> | undefined
  /** Ownership that the next answer takes back. */
  #resumed: Granted | undefined
  #appended: { readonly to: Granted; readonly pos: number } | undefined
  #texts = 0

  constructor(random: Random, stepLeases: (share: number) => void) {
    this.#random = random
    this.#stepLeases = stepLeases
  }

  next(): readonly [string, Act] {
    this.#asked = this.#appended = this.#resumed = undefined
    const kind = this.#random.below(100)
    if (kind < 8) return this.#step()
    if (kind < 24) return this.#acquire()
    if (kind < 30) return this.#acquireUnder()
    if (kind < 52) return this.#append()
    if (kind < 64) return this.#leave()
    if (kind < 70) return this.#write()
    if (kind < 73) return this.#remove()
    if (kind < 84) return this.#keep()
    return this.#read()
  }

  learn(answer: string): void {
    const told: unknown = JSON.parse(answer)
    const asked = this.#asked
    if (asked && isRecordOf(told) && told['type'] === 'acquired')
      this.#granted.push({ ...asked, pos: Number(told['pos']), place: 'open' })
    if (this.#appended && told === this.#appended.pos) this.#appended.to.pos = told
    if (this.#resumed && told === true) this.#resumed.place = 'open'
  }

  #step(): readonly [string, Act] {
    const share = this.#random.pick([0.1, 0.5, 1, 2])
    this.#stepLeases(share)
    return [`step ${share} leases`, () => Promise.resolve()]
  }

  #acquire(): readonly [string, Act] {
    const session = this.#random.pick(this.#random.chance(0.9) ? SESSIONS : NAMES)
    const owner = this.#random.pick(OWNERS)
    const address = this.#random.chance(0.3) ? `ws://${owner}` : undefined
    this.#asked = { session, owner }
    return [`acquire ${session} ${owner} ${address ?? ''}`, (player) => player.acquire(session, owner, address)]
  }

  #acquireUnder(): readonly [string, Act] {
    const at = this.#pickGranted()
    const root = this.#granted[at]
    if (!root) return this.#acquire()
    const session = this.#random.pick(this.#random.chance(0.9) ? CHILDREN : NAMES)
    if (session === root.session) return this.#acquire()
    this.#asked = { session, owner: root.owner }
    return [
      `acquire ${session} ${root.owner} under ${root.session} #${at}`,
      (player) => player.acquire(session, root.owner, undefined, player.under(root.session, at)),
    ]
  }

  #append(): readonly [string, Act] {
    const at = this.#pickGranted()
    const to = this.#granted[at]
    if (to?.place !== 'open') return this.#acquire()
    const afterPos = this.#random.chance(0.9) ? to.pos : to.pos + this.#random.pick([-1, 1])
    const records = this.#records(afterPos + 1, 1 + this.#random.below(3))
    const brings = this.#random.below(3)
    const entry = brings === 0 ? undefined : brings === 1 && afterPos >= 0 ? 'same' : this.#entry()
    this.#appended = { to, pos: afterPos + records.length }
    return [
      `append #${at} ${to.session} after ${afterPos}: ${records.length} ${JSON.stringify(entry ?? null)}`,
      (player) => player.append({ session: to.session, at }, afterPos, records, entry),
    ]
  }

  #leave(): readonly [string, Act] {
    const owner = this.#random.pick(OWNERS)
    const at = this.#pickGranted()
    const of = this.#granted[at]
    const kind = this.#random.below(6)
    if (kind === 0 || !of) return [`renew ${owner}`, ({ store }) => store.renew(owner).then(sortHandovers)]
    const { session } = of
    if (kind === 1) return [`requestHandover ${session} ${owner}`, ({ store }) => store.requestHandover(session, owner)]
    if (kind === 2) {
      const left = of.place === 'open' ? this.#random.pick(['nothing', 'work'] as const) : 'nothing'
      of.place = 'left'
      return [`release #${at} ${session} ${left}`, (player) => player.store.release(session, player.epoch(at), left)]
    }
    if (kind < 5 && of.place === 'open') {
      of.place = 'resting'
      return [`rest #${at} ${session}`, async (player) => player.store.rest?.(session, player.epoch(at))]
    }
    if (of.place !== 'resting') return this.#read()
    this.#resumed = of
    const { owner: former, pos } = of
    return [
      `resume #${at} ${session} at ${pos}`,
      (player) => player.resume({ session, owner: former, epoch: player.epoch(at), pos }),
    ]
  }

  /** Copies and restores a log, of the epoch 1 that no store grants. */
  #write(): readonly [string, Act] {
    const session = this.#random.pick(NAMES)
    const from = this.#random.pick([0, 0, 1, 2])
    const texts = this.#random.chance(0.6) ? 'copy' : undefined
    const records = this.#records(from, 1 + this.#random.below(3), texts)
    const under = this.#random.chance(0.3) ? { root: this.#random.pick(NAMES) } : undefined
    const words = `${session} from ${from}: ${records.length} ${texts ?? 'new'} ${under?.root ?? ''}`
    if (this.#random.chance(0.7)) return [`put ${words}`, (player) => player.put(session, records, under)]
    return [`restore ${words}`, (player) => player.restore(session, records, under)]
  }

  #remove(): readonly [string, Act] {
    const session = this.#random.pick(NAMES)
    const owner = this.#random.chance(0.7) ? this.#random.pick(OWNERS) : undefined
    return [`remove ${session} ${owner ?? ''}`, (player) => player.remove(session, owner)]
  }

  /** Stores texts, rows and entries of a session. */
  #keep(): readonly [string, Act] {
    const session = this.#random.pick(NAMES)
    const [name, text] = [this.#random.pick(['x', 'y']), String(this.#random.below(3))]
    const list = this.#random.pick(LISTS)
    const pos = this.#random.below(5)
    const was = this.#random.chance(0.4) ? undefined : String(this.#random.below(3))
    const row = this.#random.chance(0.8) ? { body: text, list, atMs: this.#random.below(4) } : undefined
    const entry = this.#entry()
    switch (this.#random.below(4)) {
      case 0:
        return [`blob ${session} ${name} = ${text}`, ({ store }) => store.blobs.put(session, name, text)]
      case 1: {
        const of = this.#granted[this.#pickGranted()]
        if (of?.place !== 'open' || of.pos < 0) return this.#read()
        const snapshot = createSnapshot({ ...initialState(of.session), pos: of.pos })
        return [`snapshot ${of.session} at ${of.pos}`, ({ store }) => store.snapshots.put(of.session, snapshot)]
      }
      case 2:
        return [
          `swap ${session} ${name} ${was ?? '-'} ${JSON.stringify(row ?? null)}`,
          ({ store }) => store.outbox.swap(session, name, was, row),
        ]
      default:
        return [
          `put entry ${session} up to ${pos}: ${JSON.stringify(entry)}`,
          ({ store }) => store.entries.put(session, pos, entry),
        ]
    }
  }

  #read(): readonly [string, Act] {
    const session = this.#random.pick(NAMES)
    const list = this.#random.pick(LISTS)
    const order = this.#random.pick(['newest', 'oldest'] as const)
    const sinceMs = this.#random.chance(0.3) ? this.#random.below(4) : undefined
    const limit = 1 + this.#random.below(4)
    const query = { list, order, limit, ...(sinceMs !== undefined && { sinceMs }) }
    switch (this.#random.below(8)) {
      case 0:
        return [`read ${session}`, (player) => player.read(session)]
      case 1:
        return ['list', ({ store }) => sorted(store.list())]
      case 2:
        return [`children ${session}`, ({ store }) => sorted(store.children(session))]
      case 3:
        return ['recoverable', ({ store }) => sorted(store.listRecoverable())]
      case 4:
        return ['due', ({ store }) => store.listDue()]
      case 5:
        return [
          `beside ${session}`,
          async ({ store }) => [
            await store.blobs.names(session),
            await store.blobs.get(session, 'x'),
            await store.outbox.get(session, 'x'),
            await store.entries.get(session),
          ],
        ]
      case 6:
        return [`entries ${JSON.stringify(query)}`, (player) => player.pages(query)]
      default:
        return [
          `outdated, rows ${list}`,
          async ({ store }) => [await sorted(store.entries.outdated()), await store.outbox.find({ list, limit: 9 })],
        ]
    }
  }

  /** Mostly one of the newest. */
  #pickGranted(): number {
    const { length } = this.#granted
    return this.#random.chance(0.8) ? length - 1 - this.#random.below(Math.min(4, length)) : this.#random.below(length)
  }

  #records(from: number, count: number, word?: string): readonly SessionRecord[] {
    return Array.from({ length: count }, (_, index) => {
      const text = word ?? `text ${(this.#texts += 1)}`
      const dueMs =
        word || this.#random.chance(0.5) ? undefined : this.#random.chance(0.3) ? null : this.#random.below(5)
      return { ...record(from + index, 1, text), ...(dueMs !== undefined && { dueMs }) }
    })
  }

  #entry(): SessionEntry {
    const lists = LISTS.filter(() => this.#random.chance(0.6))
    const places = lists.map((list) => ({ list, atMs: this.#random.below(4), item: this.#random.below(2) }))
    return { body: JSON.stringify(this.#random.below(10)), places }
  }
}

function sortHandovers<Told extends { readonly handovers: readonly string[] }>(told: Told): Told {
  return { ...told, handovers: told.handovers.toSorted() }
}

/** Stores choose the order of their lists. */
async function sorted<Row extends { readonly session: string }>(rows: AsyncIterable<Row>): Promise<readonly Row[]> {
  const found: Row[] = []
  for await (const row of rows) found.push(row)
  return found.toSorted((one, other) => (one.session < other.session ? -1 : 1))
}

function isRecordOf(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
