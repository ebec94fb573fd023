// Two servers over one PostgreSQL store, and a page whose requests reach either of them. The network is cut at the
// moments of a turn, and the server that runs the turn dies at the moments of its log. In the end the page, the
// unmodified `useChat` of the AI SDK, shows what the log has, and each effect has happened once.
import { findPostgres, startPostgres } from '@baton/testing/postgres'
import type { PostgresServer } from '@baton/testing/postgres'
import type { KillPlan } from '@baton/testing/kill-plan'
import { chooseRotating, describeRotation } from '@baton/testing/depth'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countNotices, expectLogShown, openBrowser, say } from './chat-web.test-kit.ts'
import { expectEffects } from './check-journey.test-kit.ts'
import { loseUntilTold, startFlakyNetwork } from './flaky-network.test-kit.ts'
import type { Point } from './journey.test-kit.ts'
import { LAST_TEXT, POINTS, SHOWN_BY } from './journey.test-kit.ts'
import { bundlePage } from './server.ts'
import { startTwoServers } from './two-servers.test-kit.ts'

const { hasBrowser, openPage } = openBrowser()
const programs = findPostgres('the chat page over two servers', console.warn)

const TRANSPORTS = ['', '?over=websocket'] as const
/** Number of situations that are played concurrently. */
const AT_ONCE = 4
/**
 * Milliseconds that the page has for a call: a call that must run once and never reached the page ends within this
 * time.
 */
const PAGE_MS = 4000
/** Number of records in the journey's log. */
const RECORDS = 18
interface LostWord {
  readonly word: 'message' | 'results' | 'decision'
  readonly how: 'deaf' | 'mute'
}

const LOST_WORDS = (['message', 'results', 'decision'] as const).flatMap((word) =>
  (['deaf', 'mute'] as const).map((how): LostWord => ({ word, how })),
)
/** The point at which the turn waits until the message is lost. */
const STOPS: Readonly<Record<LostWord['word'], Point | undefined>> = {
  message: 'before the first token',
  results: 'before the page hears of its calls',
  decision: undefined,
}
const PLANS = Array.from({ length: RECORDS }, (_, at) => at).flatMap((at): readonly KillPlan[] => [
  { at, moment: 'before', laterMs: 0 },
  { at, moment: 'after', laterMs: 0 },
  { at, moment: 'later', laterMs: 4 },
])

const allow = (page: Page) => page.getByRole('button', { name: 'Allow', exact: true })

async function expectEnd(page: Page): Promise<void> {
  await page.getByText(LAST_TEXT).waitFor()
  await page.getByRole('button', { name: 'Try again' }).waitFor()
}

describe.skipIf(!hasBrowser || programs === undefined)('a chat over two servers', () => {
  let postgres: PostgresServer
  let pageProgram: string
  let passedOn = 0
  beforeAll(async () => {
    pageProgram = await bundlePage()
    postgres = await startPostgres(programs ?? '')
  })
  afterAll(() => postgres.close())

  const open = async (
    query: string,
    more: { readonly stopAt?: Point | undefined; readonly plan?: KillPlan; readonly pageMs?: number },
  ) => {
    const servers = await startTwoServers(postgres, pageProgram, more)
    const network = await startFlakyNetwork(servers.port)
    const page = await openPage(network.url, { query })
    const close = async (): Promise<void> => {
      await page.context().close()
      await network.stop()
      await servers.stop()
    }
    return { servers, network, page, close }
  }

  type Opened = Awaited<ReturnType<typeof open>>

  /** Loses the page's message, or the answer to it. */
  const loseWord = async ({ servers, network, page }: Opened, { word, how }: LostWord): Promise<void> => {
    if (word === 'message') network.break(how)
    await say(page, 'go')
    if (word === 'results') {
      await servers.reached()
      network.break(how)
      servers.goOn()
    } else if (word === 'decision') {
      await allow(page).waitFor()
      network.break(how)
      await allow(page).click()
    }
    await loseUntilTold(network, page)
    servers.goOn()
    network.mend()
    if (word !== 'decision') await allow(page).click()
  }

  const cutAt = async ({ servers, network, page }: Opened, point: Point): Promise<void> => {
    await say(page, 'go')
    const isAllowedBefore = POINTS.indexOf(point) >= POINTS.indexOf('while the approved tool runs')
    if (isAllowedBefore) await allow(page).click()
    await servers.reached()
    if (SHOWN_BY[point]) await page.getByText(SHOWN_BY[point]).first().waitFor({ state: 'attached' })
    network.break('cut')
    await page.getByText('The connection is lost').waitFor()
    servers.goOn()
    network.mend()
    if (!isAllowedBefore) await allow(page).click()
  }

  const playCut = async ([moment, query]: readonly [Point | LostWord, string]): Promise<void> => {
    const isPoint = typeof moment === 'string'
    const opened = await open(query, { stopAt: isPoint ? moment : STOPS[moment.word] })
    await (isPoint ? cutAt(opened, moment) : loseWord(opened, moment))
    const { servers, network, page, close } = opened
    await expectEnd(page)
    passedOn += servers.countPassedOn()
    const [said, answer, ...more] = await expectLogShown(page, network)
    expect([said?.texts, answer?.calls, more]).toEqual([['go'], Array(4).fill('output-available'), []])
    expect(servers.readEffects()).toEqual(['look', 'note.save'])
    expect(await countNotices(page)).toBe(1)
    await close()
  }

  test('is whole, wherever the network is cut', async () => {
    const all = TRANSPORTS.flatMap((query) => [...POINTS, ...LOST_WORDS].map((moment) => [moment, query] as const))
    const cuts = chooseRotating(all)
    await playAll(cuts, playCut)
    expect(passedOn).toBeGreaterThan(cuts.length / 2)
    console.info(
      `chat over two servers: the network was cut at ${cuts.length} of ${all.length} moments (${describeRotation()}), ` +
        `${passedOn} requests were passed on`,
    )
  })

  const playKilled = async ([plan, query]: readonly [KillPlan, string]): Promise<void> => {
    const { servers, network, page, close } = await open(query, { plan, pageMs: PAGE_MS })
    await say(page, 'go')
    await allow(page).click({ timeout: 60_000 })
    await servers.killed()
    await expectEnd(page)
    await expectEffects(page, network.url, servers.readEffects())
    await close()
  }

  test('is whole, wherever the server that runs the turn is killed', async () => {
    const kills = chooseRotating(PLANS.map((plan, index) => [plan, TRANSPORTS[index % 2] ?? ''] as const))
    await playAll(kills, playKilled)
    console.info(
      `chat over two servers: the server was killed at ${kills.length} of ${PLANS.length} moments (${describeRotation()})`,
    )
  })
})

async function playAll<Item>(items: readonly Item[], play: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items]
  const work = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift())
      try {
        await play(item)
      } catch (cause) {
        throw new Error(`${JSON.stringify(item)} failed`, { cause })
      }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}
