// The network between the page and its server breaks at every kind of moment of a turn. In the end the page shows what
// the log has, and nothing has happened twice. The page is the AI SDK's `useChat`, with both of its transports.
import type { Page } from 'playwright-core'
import { chooseRotating } from '@baton/testing/depth'
import { expect, test } from 'vitest'
import { countNotices, expectLogShown, openBrowser, say, untilTurnEnds } from './chat-web.test-kit.ts'
import { loseUntilTold, startFlakyNetwork } from './flaky-network.test-kit.ts'
import type { JourneyOptions, Point } from './journey.test-kit.ts'
import { createGate, createJourney, LAST_TEXT, POINTS, SHOWN_BY } from './journey.test-kit.ts'
import { startChat } from './server.ts'

const { hasBrowser, openPage, closers } = openBrowser()

async function startJourney(query: string, point?: Point, more: Partial<JourneyOptions> = {}) {
  const effects: string[] = []
  const gate = createGate(point)
  const started = await startChat(createJourney({ pass: gate.pass, note: (tool) => void effects.push(tool), ...more }))
  closers.push(started.stop, gate.open)
  const network = await startFlakyNetwork(started.port)
  closers.push(network.stop)
  const page = await openPage(network.url, { query })
  return { started, effects, gate, network, page }
}

type Journey = Awaited<ReturnType<typeof startJourney>>

const allow = (page: Page) => page.getByRole('button', { name: 'Allow', exact: true })

async function expectWhole({ page, started, effects }: Journey): Promise<void> {
  await untilTurnEnds(page, started)
  await page.getByText(LAST_TEXT).waitFor()
  await page.getByRole('button', { name: 'Try again' }).waitFor()
  const [said, answer, ...more] = await expectLogShown(page, started)
  expect([said?.texts, answer?.calls, more]).toEqual([['go'], Array(4).fill('output-available'), []])
  expect(effects).toEqual(['look', 'note.save'])
  expect(await countNotices(page)).toBe(1)
}

/** The page runs its calls, and their results are lost on the way. */
async function loseResults({ page, network, gate }: Journey, how: 'deaf' | 'mute'): Promise<void> {
  await say(page, 'go')
  await gate.reached
  network.break(how)
  gate.open()
  await loseUntilTold(network, page)
  network.mend()
}

const transports = ['', '?over=websocket']

test
  .skipIf(!hasBrowser)
  .each(chooseRotating(transports.flatMap((query) => POINTS.map((point) => [point, query] as const))))(
  'it is cut %s %s',
  async (point, query) => {
    const journey = await startJourney(query, point)
    const { page, network, gate } = journey
    await say(page, 'go')
    const isAllowedBefore = POINTS.indexOf(point) >= POINTS.indexOf('while the approved tool runs')
    if (isAllowedBefore) await allow(page).click()
    await gate.reached
    if (SHOWN_BY[point]) await page.getByText(SHOWN_BY[point]).first().waitFor({ state: 'attached' })
    network.break('cut')
    await page.getByText('The connection is lost').waitFor()
    // The page receives later what it misses in the meantime.
    gate.open()
    network.mend()
    if (!isAllowedBefore) await allow(page).click()
    await expectWhole(journey)
  },
)

const lost = (['deaf', 'mute'] as const).flatMap((how) => transports.map((query) => [how, query] as const))

test.skipIf(!hasBrowser).each(lost)('a message meets a network that is %s %s', async (how, query) => {
  const journey = await startJourney(query, 'before the first token')
  const { page, network, gate } = journey
  network.break(how)
  await say(page, 'go')
  await loseUntilTold(network, page)
  network.mend()
  gate.open()
  await allow(page).click()
  await expectWhole(journey)
})

test.skipIf(!hasBrowser).each(lost)('the results of the page meet a network that is %s %s', async (how, query) => {
  const journey = await startJourney(query, 'before the page hears of its calls')
  const { page } = journey
  await loseResults(journey, how)
  await allow(page).click()
  await expectWhole(journey)
})

test.skipIf(!hasBrowser).each(lost.slice(0, 2))(
  'results are lost and the page is loaded again: what runs once did so once %s %s',
  async (how, query) => {
    const journey = await startJourney(query, 'before the page hears of its calls', { pageMs: 5000 })
    const { page } = journey
    await loseResults(journey, how)
    await page.reload()
    await allow(page).click()
    await page.getByText(LAST_TEXT).waitFor()
    const [, answer] = await expectLogShown(page, journey.started)
    // The page changes its theme again; the log does not know whether the notice was pinned.
    expect(answer?.calls).toEqual(['output-available', 'output-available', 'output-error', 'output-available'])
    expect(await countNotices(page)).toBe(1)
  },
)

test.skipIf(!hasBrowser).each(transports)('it is cut while the approval waits %s', async (query) => {
  const journey = await startJourney(query)
  const { page, network } = journey
  await say(page, 'go')
  await allow(page).waitFor()
  network.break('cut')
  network.mend()
  await allow(page).click()
  await expectWhole(journey)
})

test.skipIf(!hasBrowser).each(lost)('the decision meets a network that is %s %s', async (how, query) => {
  const journey = await startJourney(query)
  const { page, network } = journey
  await say(page, 'go')
  await allow(page).waitFor()
  network.break(how)
  await allow(page).click()
  await loseUntilTold(network, page)
  network.mend()
  await expectWhole(journey)
})

test.skipIf(!hasBrowser)('the browser itself is offline for a while', async () => {
  const journey = await startJourney('', 'in a text')
  const { page, gate } = journey
  await say(page, 'go')
  await page.getByText('Let me').first().waitFor()
  await page.context().setOffline(true)
  journey.network.break('cut')
  await page.getByText('The connection is lost').waitFor()
  gate.open()
  journey.network.mend()
  await page.context().setOffline(false)
  await allow(page).click()
  await expectWhole(journey)
})
