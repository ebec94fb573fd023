// The notices of a host: which destinations hear of a session's records, when they are due, and what was given up.
import type { DeadNotices, FoundRow, NoticeDestination } from '@baton/core/internal'
import {
  BatonError,
  checkFields,
  checkKinds,
  describeValue,
  isJsonObject,
  NOTICE_TYPES,
  parseJson,
} from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import { describeThrown } from '../describe-thrown.ts'
import type { LooksOptions } from './due-looks.ts'
import { DueLooks } from './due-looks.ts'
import type { NoticeLaneOptions } from './notice-lane.ts'
import { NoticeLane } from './notice-lane.ts'
import { DEAD_LIST, nameDead, readDead } from './notice-rows.ts'
import { readNotices } from './read-notices.ts'

export interface NoticesOptions extends Omit<NoticeLaneOptions, 'destination' | 'onDue'> {
  readonly destinations: readonly NoticeDestination[]
}

/** Milliseconds that attempts may take to end while the host stops. */
const STOP_MS = 5000
/** Milliseconds after which a failed write to the outbox is made again. */
const WRITE_AGAIN_MS = 5000
const DEAD_LIMIT = 50
const DEAD_LIMIT_MAX = 200

export class Notices {
  readonly #lanes: ReadonlyMap<string, NoticeLane>
  readonly #init: NoticesOptions
  readonly #looks: DueLooks
  /** Writes to the outbox in progress, by session. */
  readonly #writing = new Map<string, Promise<void>>()
  /** Sessions with a write that failed, until it is made again. */
  readonly #unnoted = new Set<string>()

  constructor(init: NoticesOptions) {
    this.#init = init
    this.#looks = new DueLooks({ ...init, what: 'due notices', look: () => this.#look() })
    const onDue = (dueMs: number): void => this.#looks.note(dueMs)
    this.#lanes = new Map(
      init.destinations.map((destination) => [destination.name, new NoticeLane({ ...init, destination, onDue })]),
    )
  }

  /** Begins to send the notices of closed sessions and dead hosts. */
  start(options?: LooksOptions): void {
    if (this.#lanes.size > 0) this.#looks.start(options)
  }

  /**
   * Called when a session has been opened, before it does anything more. `fromPos`: the first record of this process.
   * What a dead host did not note is noted in the background.
   * @throws BatonError `store_failed`, `log_damaged`
   */
  async begin(session: string, fromPos: number): Promise<void> {
    if (this.#lanes.size === 0) return
    await Promise.all([...this.#lanes.values()].map((lane) => lane.begin(session, fromPos)))
    this.#looks.start()
    for (const lane of this.#lanes.values()) this.#write(session, lane.check(session))
  }

  /** Called for each record that this host commits. */
  note(session: string, record: SessionRecord): void {
    if (this.#lanes.size === 0) return
    const notices = readNotices(record)
    for (const lane of this.#lanes.values())
      if (notices.some((notice) => lane.wants(notice))) this.#write(session, lane.mark(session))
  }

  /**
   * Called by a host without owners of sessions, after it has put these records: once it resolves, the outbox knows of them.
   * It may be repeated. @throws BatonError `store_failed`, `log_damaged`
   */
  async noteStored(session: string, records: readonly SessionRecord[]): Promise<void> {
    const [first] = records
    if (!first || this.#lanes.size === 0) return
    const notices = records.flatMap(readNotices)
    await Promise.all(
      [...this.#lanes.values()].map(async (lane) => {
        await lane.begin(session, first.pos)
        if (notices.some((notice) => lane.wants(notice))) await lane.mark(session)
      }),
    )
  }

  /** Resolves to whether the outbox knows of everything that the session has to tell. Never rejects. */
  settled(session: string): Promise<boolean> | undefined {
    const writing = this.#writing.get(session)
    if (!writing && !this.#unnoted.has(session)) return undefined
    return Promise.resolve(writing).then(() => !this.#unnoted.has(session))
  }

  async stop(): Promise<void> {
    this.#looks.stop()
    await Promise.all([...this.#writing.values(), ...[...this.#lanes.values()].map((lane) => lane.stop(STOP_MS))])
  }

  /** Makes a write that fails again, soon: a person may be waited for. */
  #write(session: string, work: Promise<void>): void {
    const { log, clock } = this.#init
    const written = work.catch((cause: unknown) => {
      log.warn('the notices of a session could not be noted', { session, cause: describeThrown(cause) })
      this.#unnoted.add(session)
      this.#looks.note(clock.nowMs() + WRITE_AGAIN_MS)
    })
    const all: Promise<void> = Promise.all([this.#writing.get(session), written]).then(() => {
      if (this.#writing.get(session) === all) this.#writing.delete(session)
    })
    this.#writing.set(session, all)
  }

  #noteAgain(): void {
    for (const session of this.#unnoted) {
      this.#unnoted.delete(session)
      for (const lane of this.#lanes.values()) this.#write(session, lane.mark(session))
    }
  }

  async #look(): Promise<{ readonly nextMs: number; readonly isDone: boolean }> {
    this.#noteAgain()
    const looked = await Promise.all([...this.#lanes.values()].map((lane) => lane.look()))
    return {
      nextMs: Math.min(...looked.map(({ nextMs }) => nextMs)),
      isDone: looked.every(({ isDone }) => isDone),
    }
  }

  /** The methods of the host. */
  readonly methods: DeadNotices = {
    dead: async (query = {}) => {
      checkFields(query, { what: 'notices.dead', code: 'invalid_option', fields: new Set(Object.keys(DEAD_KINDS)) })
      checkKinds(query, { what: 'notices.dead', code: 'invalid_option', kinds: DEAD_KINDS })
      const { cursor, limit = DEAD_LIMIT } = query
      const after = cursor === undefined ? {} : { after: readPlace(cursor) }
      const found = await this.#init.store.outbox.find({ list: DEAD_LIST, limit, ...after })
      const last = found.length === limit ? found.at(-1) : undefined
      return { dead: found.flatMap((row) => readDead(row) ?? []), ...(last && { cursor: writePlace(last) }) }
    },
    redeliver: async (dead) => {
      checkDead(dead, 'redeliver')
      const { destination, notice } = await this.#findDead(dead)
      const lane = this.#lanes.get(destination)
      if (!lane) throw createUnknownError(`this host has no destination of notices named "${destination}"`)
      const failure = await lane.send(notice)
      if (failure)
        throw new BatonError({ code: 'api_unavailable', message: `${destination} did not take it: ${failure.message}` })
      await this.methods.drop(dead)
    },
    drop: async (dead) => {
      checkDead(dead, 'drop')
      const { destination, notice } = dead
      const { outbox } = this.#init.store
      const [session, name] = [notice.data.session, nameDead(destination, notice.id)]
      const body = await outbox.get(session, name)
      if (body !== undefined) await outbox.swap(session, name, body)
    },
  }

  async #findDead({ destination, notice }: Parameters<DeadNotices['redeliver']>[0]) {
    const body = await this.#init.store.outbox.get(notice.data.session, nameDead(destination, notice.id))
    const dead = body === undefined ? undefined : readDead({ body })
    if (!dead) throw createUnknownError(`${destination} has no dead notice ${notice.id}`)
    return dead
  }
}

/** @throws BatonError `invalid_option` for anything that is not an entry of the list, such as its id */
function checkDead(dead: unknown, method: string): void {
  const { destination, notice } = isJsonObject(dead) ? dead : {}
  const { id, data } = isJsonObject(notice) ? notice : {}
  const isEntry = typeof destination === 'string' && typeof id === 'string' && isJsonObject(data)
  if (isEntry && typeof data['session'] === 'string') return
  throw new BatonError({
    code: 'invalid_option',
    message: `notices.${method} takes an entry of notices.dead(), with its destination and notice, not ${describeValue(dead)}`,
    hint: `Write: for (const one of (await host.notices.dead()).dead) await host.notices.${method}(one).`,
  })
}

const DEAD_KINDS = {
  cursor: 'text',
  limit: { unit: 'notices', least: 1, most: DEAD_LIMIT_MAX },
} as const

function createUnknownError(message: string): BatonError {
  return new BatonError({ code: 'invalid_option', message, hint: 'List the dead notices again.' })
}

function writePlace({ atMs, session, name }: FoundRow): string {
  return JSON.stringify([atMs, session, name])
}

/** @throws BatonError `invalid_option` */
function readPlace(cursor: string): Pick<FoundRow, 'atMs' | 'session' | 'name'> {
  const parsed = parseJson(cursor)
  const [atMs, session, name] = parsed.ok && Array.isArray(parsed.value) ? (parsed.value as readonly unknown[]) : []
  if (Number.isSafeInteger(atMs) && typeof session === 'string' && typeof name === 'string')
    return { atMs: Number(atMs), session, name }
  throw new BatonError({
    code: 'invalid_option',
    message: `notices.dead has no page ${describeValue(cursor)}`,
    hint: 'Pass the cursor of the page before, or none for the first page.',
  })
}

const NAME = /^[A-Za-z0-9._-]{1,64}$/
const TIMEOUT_MS = { least: 100, most: 120_000 }
const RETRIES_MAX = 20

/** @throws BatonError `invalid_option` */
export function checkDestinations(notify: unknown): asserts notify is readonly NoticeDestination[] {
  if (!Array.isArray(notify)) throw wrong(`notify must be an array of destinations, not ${describeValue(notify)}`)
  const names = new Set<string>()
  for (const one of notify as readonly unknown[]) {
    if (!isJsonObject(one) || typeof one['send'] !== 'function')
      throw wrong(`notify must have destinations with a name and a function send, not ${describeValue(one)}`)
    const { name, types = [], retriesMs = [], timeoutMs = TIMEOUT_MS.most } = one as Readonly<Record<string, unknown>>
    if (typeof name !== 'string' || !NAME.test(name))
      throw wrong(
        `the name of a destination must be 1 to 64 letters, digits, ".", "_" or "-", not ${describeValue(name)}`,
        "Write webhook({ name: 'audit', url, secret }).",
      )
    if (names.has(name))
      throw wrong(
        `notify has two destinations named "${name}"`,
        `Give one of them another name, such as ${name}-2: the store keeps by it what was delivered.`,
      )
    names.add(name)
    const known: readonly unknown[] = NOTICE_TYPES
    const unknown: unknown = Array.isArray(types) ? types.find((type) => !known.includes(type)) : types
    if (unknown !== undefined)
      throw wrong(
        `types of "${name}" must be an array of kinds of notices, without ${describeValue(unknown)}`,
        `The kinds are ${NOTICE_TYPES.join(', ')}.`,
      )
    const isDelay = (ms: unknown): boolean => typeof ms === 'number' && ms >= 0 && ms <= 86_400_000
    if (!Array.isArray(retriesMs) || retriesMs.length > RETRIES_MAX || !retriesMs.every(isDelay))
      throw wrong(
        `retriesMs of "${name}" must be an array of at most ${RETRIES_MAX} delays up to a day, not ${describeValue(retriesMs)}`,
        'Write retriesMs: [5_000, 60_000], in milliseconds.',
      )
    if (typeof timeoutMs !== 'number' || !(timeoutMs >= TIMEOUT_MS.least && timeoutMs <= TIMEOUT_MS.most))
      throw wrong(
        `timeoutMs of "${name}" must be ${TIMEOUT_MS.least} to ${TIMEOUT_MS.most} milliseconds, not ${describeValue(timeoutMs)}`,
        'Write timeoutMs: 15_000.',
      )
  }
}

const NOTIFY_FORM = 'Write notify: [webhook({ url, secret })] of @baton/notices/webhook, or notify: [slack.notices].'

function wrong(message: string, hint = NOTIFY_FORM): BatonError {
  return new BatonError({ code: 'invalid_option', message, hint })
}
