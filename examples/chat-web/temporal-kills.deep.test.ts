// The chat page, the AI SDK's `useChat`, over a real Temporal service, PostgreSQL and Redis. Its worker is killed
// around every record of a turn, and its gateway around every event that it writes to the page. Pages at different
// places of their turns wait there together, and one kill affects all of them. In the end each page shows what the log
// has, and each effect has happened once.
import { chooseRotating, describeRotation } from '@baton/testing/depth'
import type { KillPlan } from '@baton/testing/kill-plan'
import { startServices } from '@baton/testing/services'
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser, say, untilTurnEnds } from './chat-web.test-kit.ts'
import { checkRequests, checkSettlements, countUnknown, expectEffects } from './check-journey.test-kit.ts'
import type { FlakyNetwork } from './flaky-network.test-kit.ts'
import { startFlakyNetwork } from './flaky-network.test-kit.ts'
import type { Point } from './journey.test-kit.ts'
import { LAST_TEXT } from './journey.test-kit.ts'
import type { ChatPlace } from './temporal-place.test-kit.ts'
import { openChatPlace } from './temporal-place.test-kit.ts'

/** How long a test waits for the page to show a text, in milliseconds. */
const SHOW_MS = 240_000
/** Interval of checks in milliseconds. */
const LOOK_MS = 50
const { hasBrowser, openPage, closers } = openBrowser(SHOW_MS)
const services = hasBrowser ? await startServices('chats over Temporal, killed anywhere', console.warn) : undefined

/** A worker's work is lost after this many milliseconds of silence. */
const HEARTBEAT_MS = 10_000
/**
 * Milliseconds that a page has for a call: a call that must run once and never reached the page ends within this time.
 */
const PAGE_MS = 20_000
/** Milliseconds until a process dies `later`. */
const LATER_MS = 4
/** Records of the journey's log, and events that a gateway writes in it, in an undisturbed run. */
const RECORDS = 21
const EVENTS = 41
/**
 * The minimum share of places that must be reached: fewer records are written if they are combined, and then the last
 * places are missing.
 */
const THERE = 0.6
/** Number of pages that one kill affects. */
const AT_ONCE = 14
const TRANSPORTS = ['', '?over=websocket'] as const
const MOMENTS = ['before', 'after', 'later'] as const

interface Kill {
  readonly where: Point | (KillPlan & { readonly at: number })
  readonly query: string
}

/** Kills at every third and every fifth place cover every moment and both transports. */
const listKills = (first: number, count: number): readonly Kill[] =>
  Array.from({ length: count }, (_, index) => index).flatMap((index) =>
    MOMENTS.map((_moment, offset): Kill => {
      const moment = MOMENTS[(index + offset) % MOMENTS.length] ?? 'before'
      const where = { at: first + index, moment, laterMs: moment === 'later' ? LATER_MS : 0 }
      return { where, query: TRANSPORTS[(index + offset) % TRANSPORTS.length] ?? '' }
    }),
  )

/** Tried every day: the tool has acted, and its outcome was not recorded. */
const AFTER_EFFECTS = TRANSPORTS.map((query): Kill => ({ where: 'while the approved tool runs', query }))

interface OpenedPage {
  readonly kill: Kill
  readonly session: string
  readonly page: Page
  readonly network: FlakyNetwork
  /** Resolves when the approved tool was allowed; the page may ask at any time. */
  readonly allowed: Promise<void>
}

let place: ChatPlace
beforeAll(async () => {
  if (services) place = await openChatPlace(services, { heartbeatMs: HEARTBEAT_MS, pageMs: PAGE_MS })
})
afterAll(async () => {
  await place.close()
  await services?.close()
})

async function openAt(kill: Kill, standAt: (session: string, network: FlakyNetwork) => void): Promise<OpenedPage> {
  const session = randomUUID()
  const network = await startFlakyNetwork(place.ports[0])
  closers.push(network.stop)
  const page = await openPage(network.url, { query: kill.query, hash: `#${session}` })
  standAt(session, network)
  await say(page, 'go')
  const allowed = page.getByRole('button', { name: 'Allow', exact: true }).click()
  allowed.catch(() => {}) // awaited with the end of the turn
  return { kill, session, page, network, allowed }
}

/** False if its turn has ended without such a place. @throws Error on timeout */
async function stands({ page }: OpenedPage, isThere: () => boolean): Promise<boolean> {
  const untilMs = performance.now() + SHOW_MS
  for (let looks = 1; !isThere(); looks++) {
    if (looks % 20 === 0 && (await page.getByRole('button', { name: 'Try again' }).isVisible())) return isThere()
    if (performance.now() > untilMs) throw new Error('it came neither to its place nor to its end')
    await wait(LOOK_MS)
  }
  return true
}

/**
 * Returns whether the server has reported an error to the page, as it does after a minute: after a reload, the page
 * continues from the log.
 */
async function endTurn({ page, session, network, allowed }: OpenedPage): Promise<boolean> {
  const refused = page.getByRole('alert').waitFor()
  const ended = allowed.then(() => page.getByText(LAST_TEXT).waitFor())
  const isRefused = await Promise.race([refused.then(() => true), ended.then(() => false)])
  if (isRefused) {
    await page.reload()
    const isTaken = (await place.readLog(session)).some(({ input }) => input.type === 'user-input')
    if (!isTaken) await say(page, 'go')
    await ended
  }
  await untilTurnEnds(page, network)
  await page.getByRole('button', { name: 'Try again' }).waitFor()
  return isRefused
}

/** Waits for all pages, and reports the place and the content of a failed one. @throws Error */
async function onEach<Value>(pages: readonly OpenedPage[], play: (one: OpenedPage) => Promise<Value>) {
  const ends = await Promise.allSettled(pages.map(play))
  const values: Value[] = []
  for (const [index, one] of pages.entries()) {
    const end = ends[index]
    if (end?.status === 'fulfilled') values.push(end.value)
    else {
      const log = (await place.readLog(one.session)).map(({ facts }) => facts.map(({ type }) => type).join(' '))
      const shown = await one.page.locator('main').innerText()
      const about = { ...one.kill, session: one.session, shown, log }
      throw new Error(`${JSON.stringify(about)}: ${String(end?.reason)}`, { cause: end?.reason })
    }
  }
  return values
}

/** Pages wait at their places, are struck together, and continue to their ends. */
async function playStruck(
  pages: readonly OpenedPage[],
  isThere: (one: OpenedPage) => boolean,
  strike: () => Promise<void>,
): Promise<Counts> {
  const stood = await onEach(pages, (one) => stands(one, () => isThere(one)))
  await strike()
  const refused = await onEach(pages, endTurn)
  const unknown = await onEach(pages, expectWhole)
  return {
    stood: stood.filter(Boolean).length,
    refused: refused.filter(Boolean).length,
    unknown: unknown.reduce((sum, count) => sum + count, 0),
  }
}

interface Counts {
  /** Pages that had reached their places when the process was killed. */
  readonly stood: number
  /** Pages that showed an error and were reloaded. */
  readonly refused: number
  /** Calls with an unknown outcome. */
  readonly unknown: number
}

/** Returns how many calls have an unknown outcome. */
async function expectWhole({ page, session, network }: OpenedPage): Promise<number> {
  const log = await place.readLog(session)
  checkRequests(log, place.countRequests(session))
  checkSettlements(log)
  await expectEffects(page, network.url, place.readEffects(session))
  return countUnknown(log)
}

async function inGroups(
  kills: readonly Kill[],
  play: (group: readonly Kill[]) => Promise<Counts>,
): Promise<Counts & { readonly words: string }> {
  const counts = { stood: 0, refused: 0, unknown: 0 }
  try {
    await Promise.all([place.start('gateway'), place.start('worker')])
    for (let done = 0; done < kills.length; done += AT_ONCE) {
      const own = await play(kills.slice(done, done + AT_ONCE))
      for (const name of ['stood', 'refused', 'unknown'] as const) counts[name] += own[name]
      for (const close of closers.splice(0).reverse()) await close()
    }
  } catch (cause) {
    throw new Error(`${String(cause)}\nThe processes said: ${place.errors()}`, { cause })
  }
  const { stood, refused, unknown } = counts
  const words = `at ${stood} of ${kills.length} places; ${unknown} calls unknown, ${refused} pages loaded again after an error`
  return { ...counts, words: `${words}; ${describeRotation()}` }
}

test.skipIf(!services)('it is whole, wherever its worker is killed', async () => {
  const kills = [...AFTER_EFFECTS, ...chooseRotating(listKills(0, RECORDS))]
  const { stood, unknown, words } = await inGroups(kills, async (group) => {
    const pages = await Promise.all(group.map((kill) => openAt(kill, (session) => place.stopAt(session, kill.where))))
    return await playStruck(
      pages,
      ({ session }) => place.hasReached(session),
      async () => {
        await place.strikeWorker()
        await place.start('worker')
      },
    )
  })
  console.info(`chat over Temporal: its worker was killed around records, ${words}`)
  expect(stood).toBeGreaterThan(kills.length * THERE)
  expect(unknown).toBeGreaterThanOrEqual(AFTER_EFFECTS.length)
})

test.skipIf(!services)('it is whole, wherever its gateway is killed', async () => {
  const kills = chooseRotating(listKills(1, EVENTS))
  const { stood, words } = await inGroups(kills, async (group) => {
    const pages = await Promise.all(
      group.map((kill) =>
        openAt(kill, (session, network) => {
          // Anything after the event is not even in the log.
          if (typeof kill.where === 'object') network.standAt(kill.where, () => place.stopAt(session, 'at once'))
        }),
      ),
    )
    const counts = await playStruck(
      pages,
      ({ network }) => network.isStanding(),
      async () => {
        for (const { network } of pages) network.goOn()
        await wait(LATER_MS)
        await place.kill('gateway')
        place.goOn()
        await place.start('gateway')
      },
    )
    // Server tools run in the worker, which survives.
    for (const { session } of pages) expect(place.readEffects(session)).toEqual(['look', 'note.save'])
    return counts
  })
  console.info(`chat over Temporal: its gateway was killed around events, ${words}`)
  expect(stood).toBeGreaterThan(kills.length * THERE)
})
