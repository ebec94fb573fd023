// The console's page in Chromium, over a real host and the console's own server: lists, timelines, decisions, replays, costs
// and acts, in light and dark, on a desktop and on a phone.
import { frontOf } from '@baton/core/internal'
import axe from 'axe-core'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { ask } from './console.test-kit.ts'
import { DESKTOP, PHONE, show, useBrowser } from './opened-page.test-kit.ts'

const { executablePath, start, open, play } = useBrowser((message) => console.warn(message))

test.skipIf(!executablePath)('the list shows a new session, and what it waits for, while one looks at it', async () => {
  const started = await start()
  const page = await open(started)
  await page.getByText('No session fits.').waitFor()
  await ask(started.host, 'refund-A17', 'refunds', 'Please refund my order A-17.')
  await page.getByRole('option', { name: /refund-A17 waits for a person: pay 400 EUR to ann/ }).waitFor()
  await page.getByRole('link', { name: /Inbox 1 waits for a person/ }).waitFor()
  expect(await page.evaluate(() => location.href)).not.toContain('token')
  await page.getByLabel('Search').fill('nobody')
  await page.getByText('No session fits.').waitFor()
  await page.getByLabel('Search').fill('REFUND')
  await page.getByRole('option', { name: /refund-A17/ }).waitFor()
  await page.getByLabel('Activity').selectOption('running')
  await page.getByText('No session fits.').waitFor()
})

test.skipIf(!executablePath)('a session that waits: where its call is, and everything about it', async () => {
  const started = await start()
  await play(started)
  const page = await open(started)
  await page.getByRole('option', { name: /refund-A17/ }).click()
  const where = page.getByRole('list', { name: 'Where is my call' })
  await expect
    .poll(() => where.textContent())
    .toMatch(
      /^pay 400 EUR to ann — waiting .+ for a person’s approval; it is denied in 9 min .+ unless someone decides$/,
    )
  await page.getByRole('option', { name: /^pay/ }).click()
  const inspector = page.getByRole('complementary', { name: 'Selected row' })
  expect(await inspector.textContent()).toMatch(/"euro": 400.*mail\.read/s)
  await page.keyboard.press('r')
  await expect.poll(() => inspector.textContent()).toContain('"type": "approval-requested"')
  // The address leads to the row again.
  await page.reload()
  await expect.poll(() => inspector.textContent()).toContain('"euro": 400')
  await show(page, '#/sessions/photo-1/timeline')
  await expect
    .poll(() => where.textContent())
    .toMatch(/^camera — offered to the client program-.+ of ann .+ ago and not claimed yet; the call fails in .+$/)
})

test.skipIf(!executablePath)(
  'the calls of a child stand below its call, and the model that answered after the failure has its row',
  async () => {
    const started = await start()
    await play(started)
    const page = await open(started)
    await show(page, '#/sessions/research-B2/timeline')
    await page.getByRole('option', { name: /^orders\.find .*B-2/ }).click()
    await page.keyboard.press('r')
    await page
      .getByText(/^Record \d+ of the child$/)
      .first()
      .waitFor()
    await page.getByText(/"type": "call-settled"/).waitFor()
    await show(page, '#/sessions/fallback/timeline')
    await page
      .getByRole('option', { name: /^scripted\/first failed, and the next model is asked \(model_overloaded/ })
      .waitFor()
    await page.getByRole('option', { name: /^scripted\/second answered/ }).waitFor()
    await show(page, '#/sessions/fallback/conversation')
    await page.getByText('The second model answers.').waitFor()
  },
)

test.skipIf(!executablePath)(
  'a manager approves another sum: a wrong one is refused while typing, it is paid once, and the log names who',
  async () => {
    const started = await start()
    await play(started)
    const page = await open(started)
    await show(page, '#/inbox')
    await page.getByRole('option', { name: /pay 400 EUR to ann/ }).click()
    await page.getByText('mail.read').waitFor()
    await page.getByRole('button', { name: /Edit the arguments/ }).click()
    const editor = page.getByLabel('Arguments as JSON')
    const approve = page.getByRole('button', { name: 'Approve the change' })
    await editor.fill('{ "euro": 4000, "to": "ann" }')
    await page.getByText('euro: must be at most 500').waitFor()
    expect(await approve.isDisabled()).toBe(true)
    await editor.fill('{\n  "euro": 40,\n  "to": "ann"\n}')
    const change = page.getByRole('group', { name: 'Change of the arguments' })
    expect(await change.textContent()).toMatch(/−\s+"euro": 400,\+\s+"euro": 40,/)
    await page.getByLabel('Note for people').fill('the invoice says 40')
    await approve.click()
    await page.getByRole('option', { name: /pay 400 EUR to ann changed and approved by maria/ }).waitFor()
    await expect.poll(() => started.paid).toEqual([{ euro: 40, to: 'ann' }])
    await page.getByRole('link', { name: 'Open in the session' }).click()
    await page.getByText('changed and approved by maria (note: the invoice says 40)').first().waitFor()
    expect(started.paid).toHaveLength(1)
  },
)

test.skipIf(!executablePath)('a request that somebody else decides says who it was', async () => {
  const started = await start()
  await play(started)
  const page = await open(started)
  await show(page, '#/inbox')
  await page.getByRole('option', { name: /pay 400 EUR/ }).click()
  const session = await started.host.session('refund-A17', { principal: { id: 'ann' } })
  const [request] = await session.approvals()
  await session.decide({ approvalId: request?.approvalId ?? '', decision: 'deny', reason: 'too much' })
  await page.getByRole('option', { name: /pay 400 EUR to ann denied by ann: too much/ }).waitFor()
  expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0)
})

test.skipIf(!executablePath)('the keyboard is enough: to the inbox, to the request, and to the decision', async () => {
  const started = await start()
  await play(started)
  const page = await open(started)
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('g')
  await page.keyboard.press('i')
  const place = await page.getByRole('option', { name: /write refunds\.md/ }).getAttribute('aria-posinset')
  for (let at = 0; at < Number(place); at += 1) await page.keyboard.press('j')
  await page.getByRole('group', { name: 'Change of refunds.md' }).waitFor()
  await page.keyboard.press('a')
  await page.keyboard.press('Enter')
  await page.getByRole('option', { name: /write refunds\.md approved by maria/ }).waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('s')
  await page.getByRole('option', { name: /note-1/ }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.getByRole('listbox', { name: 'Timeline' }).waitFor()
})

test.skipIf(!executablePath)(
  'the replay: the request of each step, what changed between two, a test case, and a comparison',
  async () => {
    const started = await start()
    await play(started)
    const page = await open(started, 'manager-token', {
      ...DESKTOP,
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    await show(page, '#/sessions/refund-A17/replay')
    await page.getByRole('button', { name: 'Request', exact: true }).click()
    await page.getByText('You refund returned orders.').waitFor()
    await page.getByRole('button', { name: 'What changed' }).click()
    const change = page.getByRole('group', { name: 'Difference of the requests' })
    await expect.poll(() => change.textContent()).toMatch(/\+## tool\+\[result call_\w+\] \{"order":"A-17"/)
    await page.getByRole('button', { name: 'Copy as a test case' }).click()
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain('createScriptedModel({')
    await page.keyboard.press('k')
    await page.getByRole('button', { name: 'Open then' }).click()
    await expect
      .poll(() => page.getByRole('complementary', { name: 'Record' }).textContent())
      .toMatch(/scripted\/large — writing for/)
    await page.getByLabel('Session to compare with').fill('fallback')
    await page.keyboard.press('Enter')
    await page.getByText(/\d+ of \d+ lines differ/).waitFor()
    await page.getByRole('option', { name: /The second model answers/ }).click()
    await page
      .getByRole('region', { name: 'Selected lines' })
      .getByText(/The second model answers/)
      .waitFor()
  },
)

test.skipIf(!executablePath)('costs by agent, model and tool, and as CSV', async () => {
  const started = await start()
  await play(started)
  const page = await open(started)
  await show(page, '#/cost')
  await page.getByRole('row', { name: /^refunds 2 2,200 140 \$0\.0087/ }).waitFor()
  await page.getByRole('row', { name: /^scripted\/second 1 900 60/ }).waitFor()
  await page.getByRole('row', { name: /^orders\.find refunds 1 0/ }).waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ])
  expect(download.suggestedFilename()).toMatch(/^cost-\d{4}-\d\d-\d\d\.csv$/)
})

test.skipIf(!executablePath)('an act asks once and names the operator; who may only see has no acts', async () => {
  const started = await start()
  await play(started)
  const page = await open(started)
  await show(page, '#/sessions/refund-A17/timeline')
  await page.getByRole('button', { name: 'Interrupt' }).click()
  const dialog = page.getByRole('dialog', { name: 'Interrupt the turn?' })
  await expect.poll(() => dialog.textContent()).toContain('done in your name, maria')
  await page.keyboard.press('Escape')
  await page
    .getByText(/pay 400 EUR to ann/)
    .first()
    .waitFor()
  expect((await started.host.approvals()).approvals).toHaveLength(2)
  await page.getByRole('button', { name: 'Interrupt' }).click()
  await dialog.getByRole('button', { name: 'Interrupt' }).click()
  await page.getByText('The turn was interrupted.').waitFor()
  await page.getByRole('option', { name: /^turn 1 interrupted/ }).waitFor()
  await page.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await page.getByText('The session was removed.').waitFor()
  expect(await started.host.has('refund-A17')).toBe(false)

  const reader = await open(started, 'support-token')
  await show(reader, '#/sessions/note-1/timeline')
  await reader.getByRole('option', { name: /^notes\.write/ }).waitFor()
  expect(await reader.getByRole('button', { name: /Interrupt|Fork|Export|Remove|Retry/ }).count()).toBe(0)
  await show(reader, '#/inbox')
  await reader.getByRole('option', { name: /write refunds\.md/ }).click()
  await reader.getByText('You may see this request and not decide it.').waitFor()
  expect(await reader.getByRole('button', { name: /Approve|Deny/ }).count()).toBe(0)
})

test.skipIf(!executablePath)('who has no role, and what does not exist, is told so', async () => {
  const started = await start()
  const page = await open(started)
  await show(page, '#/sessions/nobody/timeline')
  await page.getByRole('alert').getByText('there is no such session').waitFor()
  await page.evaluate(() => sessionStorage.clear())
  await page.reload()
  await page.getByRole('heading', { name: 'The console is closed to you' }).waitFor()
  expect(await page.getByRole('listbox').count()).toBe(0)
})

test.skipIf(!executablePath)('a paused session continues by the button', async () => {
  const started = await start()
  const { session } = await ask(started.host, 'photo-1', 'photos', 'What do you see?')
  await frontOf(session).control('pause')
  const page = await open(started)
  await show(page, '#/sessions/photo-1/timeline')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Continue' }).click()
  await page.getByText('The session continues.').waitFor()
  await expect.poll(async () => (await session.info()).activity).not.toBe('paused')
  await page.getByRole('button', { name: 'Continue' }).waitFor({ state: 'detached' })
})

test.skipIf(!executablePath)(
  'a server that is gone for a while, a token that has expired, and the address of the next server',
  async () => {
    const started = await start()
    await play(started)
    const page = await open(started)
    const lost = page.getByRole('alert').filter({ hasText: 'may be out of date' })
    await page.context().setOffline(true)
    started.cut()
    await lost.getByText(/The server has not been reached since \d\d:\d\d:\d\d; the page tries again\./).waitFor()
    await page.getByRole('option', { name: /refund-A17/ }).waitFor()
    await show(page, '#/sessions/refund-A17/timeline')
    await page.getByText('the server cannot be reached').waitFor()
    expect(await page.getByText('The log is empty.').count()).toBe(0)
    await page.context().setOffline(false)
    await lost.waitFor({ state: 'detached' })
    await page.getByRole('option', { name: /^pay/ }).waitFor()

    started.expire('manager-token')
    started.cut()
    await lost.getByText('Your token is not valid any more.').waitFor()
    await page.getByLabel(/^Token, or the address/).fill(started.address('support-token'))
    await page.getByRole('button', { name: 'Open' }).click()
    await page.getByText('sam').waitFor()
    await page.getByRole('option', { name: /^pay/ }).waitFor()

    // A tab that has the page gets another address of it: only what is after `#` differs.
    await page.evaluate((to) => void (location.href = to), started.address('manager-token'))
    await page.getByRole('heading', { name: 'The console is closed to you' }).waitFor()
    expect(await page.evaluate(() => location.href)).not.toContain('token=')
  },
)

test.skipIf(!executablePath)('retry, rewind, fork, export and the end of a task do what they say', async () => {
  const started = await start()
  await (
    await ask(started.host, 'fallback', 'broken', 'Hello?')
  ).turn.answer
  await (
    await ask(started.host, 'index-1', 'indexer', 'Index the orders.')
  ).turn.answer
  const page = await open(started)
  const confirm = async (act: string): Promise<void> => {
    await page.getByRole('button', { name: act }).click()
    await page.getByRole('dialog').getByRole('button', { name: act }).click()
  }
  await show(page, '#/sessions/index-1/timeline')
  await page
    .getByRole('list', { name: 'Where is my call' })
    .getByText(/^index — running in the background for /)
    .waitFor()
  await page.getByRole('option', { name: /^index/ }).click()
  await confirm('Cancel the task')
  await page.getByRole('option', { name: /^index cancelled/ }).waitFor()
  await page
    .getByText(/cancelled by maria/)
    .first()
    .waitFor()

  await show(page, '#/sessions/fallback/timeline')
  await page.getByRole('option', { name: /^turn 1 answered/ }).waitFor()
  const [download] = await Promise.all([page.waitForEvent('download'), confirm('Export')])
  expect(download.suggestedFilename()).toBe('fallback.json')
  await confirm('Retry')
  await page.getByRole('option', { name: /^turn 2 / }).waitFor()
  await page
    .getByRole('option', { name: /^“Hello\?”/ })
    .first()
    .click()
  await confirm('Rewind to here')
  await page.getByText('The conversation went back.').waitFor()
  await page.getByRole('link', { name: 'Conversation' }).click()
  await page.getByText('Nobody has said anything.').waitFor()
  await confirm('Fork')
  await page.getByText('The session was forked.').waitFor()
  await expect.poll(() => page.evaluate(() => location.hash)).not.toContain('/fallback/')
})

test.skipIf(!executablePath)('what a tool returns stays text: no element, no turned line, no escape code', async () => {
  const started = await start()
  await play(started)
  const page = await open(started)
  for (const hash of ['timeline', 'conversation', 'replay']) {
    await show(page, `#/sessions/refund-A17/${hash}`)
    await page
      .getByText(/orders\.find/)
      .first()
      .waitFor()
    expect(await page.locator('main img').count()).toBe(0)
  }
  await show(page, '#/sessions/refund-A17/timeline')
  await page.getByRole('option', { name: /^mail\.read/ }).click()
  const inspector = page.getByRole('complementary', { name: 'Selected row' })
  await expect
    .poll(() => inspector.textContent())
    .toMatch(/<img src=x onerror="globalThis\.hacked = true"> ⟨U\+202E⟩gnp\.exe ⟨U\+001B⟩\[31mred/)
  expect(await page.evaluate('globalThis.hacked')).toBeUndefined()
})

/** Turns whose records are 10,000 together: five each. */
const LONG_TURNS = 2000
const FRAMES = 300

test.skipIf(!executablePath)(
  'a session of 10,000 records: a link leads to any row, and a scroll draws only what is seen',
  async () => {
    const started = await start()
    const session = await started.host.session('long', { agent: 'long', principal: { id: 'ann' } })
    for (let turn = 0; turn < LONG_TURNS; turn += 1) await session.send(`question ${turn}`).answer
    const page = await open(started)
    await show(page, '#/sessions/long/timeline/turn-1500')
    const list = page.getByRole('listbox', { name: 'Timeline' })
    await list.getByRole('option', { name: /^turn 1500 answered/, selected: true }).waitFor()
    await page.keyboard.press(']')
    await list.getByRole('option', { name: /^turn 1501 answered/, selected: true }).waitFor()
    expect(await list.getByRole('option').count()).toBeLessThan(100)
    await page.keyboard.press('Escape')
    for (const name of ['Timeline', 'Records']) {
      await show(page, `#/sessions/long/${name === 'Timeline' ? 'timeline' : 'replay'}`)
      const one = page.getByRole('listbox', { name })
      await one.getByRole('option').first().waitFor()
      const { frames, workMs } = await scroll(page, one)
      const { p50 = 0, p95 = 0 } = frames
      console.info(
        `${name} of 10,000 records: a frame takes ${workMs.toFixed(1)} ms of scripts, styles and layout; between frames ${p50.toFixed(1)} ms (median), ${p95.toFixed(1)} ms (95 %)`,
      )
      expect(await one.getByRole('option').count()).toBeLessThan(100)
    }
  },
)

/** Scrolls 50 pixels a frame. `workMs`: what one frame costs the main thread: scripts, styles and layout. */
async function scroll(page: Page, list: Locator) {
  const metrics = await page.context().newCDPSession(page)
  await metrics.send('Performance.enable')
  const readWork = async (): Promise<number> => {
    const { metrics: all } = await metrics.send('Performance.getMetrics')
    const work = all.filter(({ name }) => /^(?:Script|Layout|RecalcStyle)Duration$/.test(name))
    return 1000 * work.reduce((sum, { value }) => sum + value, 0)
  }
  await list.evaluate((element) => void (element.scrollTop = 0))
  const beforeMs = await readWork()
  const times = await list.evaluate(async (element, count) => {
    const between: number[] = []
    let last = performance.now()
    await new Promise<void>((resolve) => {
      const step = (): void => {
        between.push(performance.now() - last)
        last = performance.now()
        element.scrollTop += 50
        if (between.length < count) requestAnimationFrame(step)
        else resolve()
      }
      requestAnimationFrame(step)
    })
    return between.toSorted((a, b) => a - b)
  }, FRAMES)
  const workMs = ((await readWork()) - beforeMs) / FRAMES
  return { frames: { p50: times[FRAMES / 2], p95: times[Math.floor(FRAMES * 0.95)] }, workMs }
}

const VIEWS = {
  sessions: ['#/sessions', 'refund-A17'],
  timeline: ['#/sessions/refund-A17/timeline/turn-1', 'Raw records'],
  conversation: ['#/sessions/refund-A17/conversation', 'I look at the order and the mail.'],
  replay: ['#/sessions/refund-A17/replay/2', '2 of 5'],
  compare: ['#/compare/refund-A17/fallback', 'lines differ'],
  inbox: ['#/inbox', 'write refunds.md'],
  failures: ['#/failures', 'the key is not valid'],
  cost: ['#/cost', 'By agent'],
} as const
/** Nothing is wider than the page, except inside boxes that scroll. */
const IS_NARROW =
  'document.documentElement.scrollWidth <= innerWidth && [...document.querySelectorAll("main *")].every((one) => one.getBoundingClientRect().right <= innerWidth + 1 || one.closest(".table-scroll, .difference, .compare, .row-bar, .unseen"))'
const LOOKS = (['light', 'dark'] as const).flatMap((colorScheme) => [
  ['desktop', colorScheme, { ...DESKTOP, colorScheme }] as const,
  ['phone', colorScheme, { ...PHONE, colorScheme }] as const,
])

test.skipIf(!executablePath).each(LOOKS)(
  'every view on a %s in %s: no violation of WCAG 2.2 AA, and nothing beside the page',
  async (_size, _scheme, look) => {
    const started = await start()
    await play(started)
    await (await ask(started.host, 'ann-1', 'refused', 'Hello?')).turn.answer.catch(() => {})
    const page = await open(started, 'manager-token', look)
    for (const [name, [hash, text]] of Object.entries(VIEWS)) {
      await show(page, hash)
      await page.getByText(text).first().waitFor()
      expect({ [name]: await findViolations(page) }).toEqual({ [name]: [] })
      expect({ [name]: await page.evaluate(IS_NARROW) }).toEqual({ [name]: true })
    }
    await page.getByRole('link', { name: /Inbox/ }).click()
    await page.getByRole('option', { name: /pay 400 EUR/ }).click()
    await page.getByRole('button', { name: /Edit the arguments/ }).click()
    await page.getByLabel('Arguments as JSON').fill('{ "euro": "much" }')
    await page.getByText('euro: must be a number').waitFor()
    expect({ decision: await findViolations(page) }).toEqual({ decision: [] })
    await page.getByRole('button', { name: 'Close' }).click()
    await show(page, '#/sessions/refund-A17/timeline')
    await page.getByRole('button', { name: 'Interrupt' }).click()
    await page.getByRole('dialog').waitFor()
    expect({ dialog: await findViolations(page) }).toEqual({ dialog: [] })
  },
)

async function findViolations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  return await page.evaluate<readonly string[]>(
    `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html, any }) => id + ': ' + html.slice(0, 200) + ' ' + (any[0]?.message ?? ''))))`,
  )
}
