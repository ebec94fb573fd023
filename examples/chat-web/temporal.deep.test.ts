// The chat page, the AI SDK's `useChat`, over a real Temporal service, PostgreSQL and Redis. Its gateway, its worker or
// both are killed, its network is cut, it moves to another gateway or is reloaded, at every kind of moment of a turn.
// It continues by itself, ends up showing what the log has, and no effect happens twice.
import { chooseRotating, describeRotation } from '@baton/testing/depth'
import { startServices } from '@baton/testing/services'
import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { countNotices, expectLogShown, openBrowser, say, untilTurnEnds } from './chat-web.test-kit.ts'
import type { FlakyNetwork } from './flaky-network.test-kit.ts'
import { startFlakyNetwork } from './flaky-network.test-kit.ts'
import { LAST_TEXT, POINTS, SHOWN_BY } from './journey.test-kit.ts'
import type { ChatPlace } from './temporal-place.test-kit.ts'
import { openChatPlace } from './temporal-place.test-kit.ts'

/**
 * How long a test waits for the page to show a text, in milliseconds: Temporal notices a killed worker after
 * `KILLED_MS`.
 */
const SHOW_MS = 240_000
const { hasBrowser, openPage, closers } = openBrowser(SHOW_MS)
const what = 'the chat page over Temporal'
const services = hasBrowser ? await startServices(what, (message) => console.warn(message)) : undefined

const MOMENTS = [...POINTS, 'while the approval waits'] as const
type Moment = (typeof MOMENTS)[number]
const TRANSPORTS = ['', '?over=websocket'] as const
/** Number of pages that wait at their moments together when an event affects all of them. */
const AT_ONCE = 8
/**
 * Work counts as lost after this many milliseconds of silence: in tests that do not kill workers, and in tests that do.
 * A busy machine must not be mistaken for a dead worker: a pure tool would run twice.
 */
const PATIENT_MS = 120_000
const KILLED_MS = 25_000

interface OpenedPage {
  readonly session: string
  readonly moment: Moment
  readonly page: Page
  readonly network: FlakyNetwork
}

interface Strike {
  readonly name: string
  readonly killsWorker: boolean
  /**
   * Ends when all pages are connected again, and the sessions may continue. Returns the tabs that were opened next to
   * the pages.
   */
  readonly play: (place: ChatPlace, pages: readonly OpenedPage[]) => Promise<readonly OpenedPage[] | void>
}

const allow = ({ page }: OpenedPage) => page.getByRole('button', { name: 'Allow', exact: true })
const isAllowedBefore = ({ moment }: OpenedPage): boolean =>
  moment !== 'while the approval waits' && POINTS.indexOf(moment) >= POINTS.indexOf('while the approved tool runs')

/** A page with a pending approval does not listen. */
const seeLoss = (pages: readonly OpenedPage[]): Promise<unknown> =>
  onEach(
    pages.filter(({ moment }) => moment !== 'while the approval waits'),
    ({ page }) => page.getByText('The connection is lost').waitFor(),
  )

const seeShown = ({ page, moment }: OpenedPage): Promise<void> => {
  const text = moment === 'while the approval waits' ? 'It rains.' : SHOWN_BY[moment]
  return text === undefined ? Promise.resolve() : page.getByText(text).first().waitFor({ state: 'attached' })
}

/** One of them runs each day: `temporal-kills` kills at every event, too. */
const KILLS: readonly Strike[] = [
  {
    name: 'its gateway is killed',
    killsWorker: false,
    play: async (place, pages) => {
      await place.kill('gateway')
      await seeLoss(pages)
      place.goOn()
      await place.start('gateway')
    },
  },
  {
    name: 'its worker is killed',
    killsWorker: true,
    play: async (place) => {
      await place.kill('worker')
      place.goOn()
      await place.start('worker')
    },
  },
  {
    name: 'its gateway and its worker are killed',
    killsWorker: true,
    play: async (place, pages) => {
      await Promise.all([place.kill('gateway'), place.kill('worker')])
      await seeLoss(pages)
      place.goOn()
      await Promise.all([place.start('gateway'), place.start('worker')])
    },
  },
]

/** Two of them run each day. */
const BREAKS: readonly Strike[] = [
  {
    name: 'its network is cut',
    killsWorker: false,
    play: async (place, pages) => {
      for (const { network } of pages) network.break('cut')
      await seeLoss(pages)
      // The page receives later what it misses in the meantime.
      place.goOn()
      for (const { network } of pages) network.mend()
    },
  },
  {
    name: 'it moves to another gateway',
    killsWorker: false,
    play: async (place, pages) => {
      await place.start('other gateway')
      for (const { network } of pages) {
        network.lead(place.ports[1])
        network.break('cut')
      }
      await seeLoss(pages)
      for (const { network } of pages) network.mend()
      await onEach(pages, async (one) => {
        await one.page.getByText('The connection is lost').waitFor({ state: 'hidden' })
        await seeShown(one)
      })
      place.goOn()
    },
  },
  {
    name: 'it has a second tab, at another gateway',
    killsWorker: false,
    play: async (place, pages) => {
      await place.start('other gateway')
      const tabs = await Promise.all(
        pages.map(async ({ session, moment, page }) => {
          const { search } = new URL(page.url())
          return await openTab(place.ports[1], { session, moment, query: search })
        }),
      )
      await onEach(tabs, seeShown)
      place.goOn()
      return tabs
    },
  },
  {
    name: 'it is loaded again',
    killsWorker: false,
    play: async (place, pages) => {
      await onEach(pages, async (one) => {
        await one.page.reload()
        await seeShown(one)
      })
      place.goOn()
    },
  },
]

const STRIKES: readonly Strike[] = [...chooseRotating(KILLS), ...chooseRotating(BREAKS, 2)]

/** Continues after a page fails, so that the report names its moment. @throws Error of the first failure */
async function onEach(pages: readonly OpenedPage[], play: (one: OpenedPage) => Promise<unknown>): Promise<void> {
  const failures: Error[] = []
  await Promise.all(
    pages.map((one) =>
      play(one).catch((cause: unknown) => {
        const why = cause instanceof Error ? cause.message : String(cause)
        failures.push(new Error(`${one.moment}, ${one.page.url()}: ${why}`, { cause }))
      }),
    ),
  )
  const [first] = failures
  if (first) throw first
}

async function openAt(place: ChatPlace, moment: Moment, query: string): Promise<OpenedPage> {
  const session = randomUUID()
  if (moment !== 'while the approval waits') place.stopAt(session, moment)
  return await openTab(place.ports[0], { session, moment, query })
}

async function openTab(
  port: number,
  { session, moment, query }: Pick<OpenedPage, 'session' | 'moment'> & { readonly query: string },
): Promise<OpenedPage> {
  const network = await startFlakyNetwork(port)
  closers.push(network.stop)
  const page = await openPage(network.url, { query, hash: `#${session}` })
  return { session, moment, page, network }
}

interface Expected {
  readonly killsWorker: boolean
  /** Tabs of the same chat; they may have acted instead of the page. */
  readonly tabs: readonly OpenedPage[]
}

async function expectWhole(place: ChatPlace, one: OpenedPage, { killsWorker, tabs }: Expected): Promise<void> {
  const { page, session, moment, network } = one
  await untilTurnEnds(page, network)
  await page.getByText(LAST_TEXT).waitFor()
  await page.getByRole('button', { name: 'Try again' }).waitFor()
  const [said, answer, ...more] = await expectLogShown(page, network)
  // It is unknown whether a tool of a dead worker had its effect; a tool that runs once is not run again.
  const saved = killsWorker && moment === 'while the approved tool runs' ? 'output-error' : 'output-available'
  const done = 'output-available'
  expect([said?.texts, answer?.calls, more]).toEqual([['go'], [done, done, done, saved], []])
  expect(place.readEffects(session)).toEqual(['look', 'note.save'])
  let notices = await countNotices(page)
  for (const tab of tabs) {
    // It stops listening when the approval is pending, and does not learn what another tab decides.
    if (!isAllowedBefore(tab)) await tab.page.reload()
    await tab.page.getByText(LAST_TEXT).waitFor()
    await expectLogShown(tab.page, tab.network)
    notices += await countNotices(tab.page)
  }
  expect(notices).toBe(1)
}

async function playStruck(place: ChatPlace, strike: Strike, moments: readonly (readonly [Moment, string])[]) {
  const pages = await Promise.all(moments.map(([moment, query]) => openAt(place, moment, query)))
  await onEach(pages, async (one) => {
    await say(one.page, 'go')
    if (isAllowedBefore(one)) await allow(one).click()
    await (one.moment === 'while the approval waits' ? allow(one).waitFor() : place.reached(one.session))
    await seeShown(one)
  })
  const { killsWorker } = strike
  const tabs = (await strike.play(place, pages)) ?? []
  await onEach(pages, async (one) => {
    if (!isAllowedBefore(one)) await allow(one).click()
    await expectWhole(place, one, { killsWorker, tabs: tabs.filter(({ session }) => session === one.session) })
  })
}

/** `deadly` has its workers killed, `calm` does not. */
let places: { readonly deadly: ChatPlace; readonly calm: ChatPlace } | undefined
beforeAll(async () => {
  if (services)
    places = {
      deadly: await openChatPlace(services, { heartbeatMs: KILLED_MS }),
      calm: await openChatPlace(services, { heartbeatMs: PATIENT_MS }),
    }
})
afterAll(async () => {
  await places?.deadly.close()
  await places?.calm.close()
  await services?.close()
})

const moments = TRANSPORTS.flatMap((query) => MOMENTS.map((moment) => [moment, query] as const))

test.skipIf(!services).each(STRIKES.map((strike) => [strike.name, strike] as const))('%s', async (name, strike) => {
  const place = strike.killsWorker ? places?.deadly : places?.calm
  if (!place) throw new Error('there are no services')
  const chosen = chooseRotating(moments)
  await Promise.all([place.start('gateway'), place.start('worker')])
  try {
    for (let done = 0; done < chosen.length; done += AT_ONCE)
      await playStruck(place, strike, chosen.slice(done, done + AT_ONCE))
  } catch (cause) {
    throw new Error(`${String(cause)}\nThe processes said: ${place.errors()}`, { cause })
  }
  console.info(
    `chat over Temporal: ${name} at ${chosen.length} of ${moments.length} moments; ${describeRotation()}; ` +
      'effects once, the page shows the log',
  )
})
