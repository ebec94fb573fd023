// Ten questions of an engineer on call, each answered by the page from its first view, with a few clicks or keys.
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { ask, attachPhone } from './console.test-kit.ts'
import { show, useBrowser } from './opened-page.test-kit.ts'

const { executablePath, closers, start, open, play } = useBrowser((message) => console.warn(message))

/** The page after sessions that wait, failed and ended, and `refund-A17`, whose payment a manager corrects. */
async function openOffice(): Promise<Page> {
  const started = await start()
  await play(started)
  for (const [id, owner] of [
    ['ann-1', 'ann'],
    ['bob-1', 'bob'],
  ] as const) {
    const session = await started.host.session(id, { agent: 'refused', principal: { id: owner } })
    await session.send('Hello?').answer.catch(() => {})
    await session.close()
  }
  return await open(started)
}

/** A client that holds the call of the camera. */
async function openWithHolder(): Promise<Page> {
  const started = await start()
  await ask(started.host, 'photo-1', 'photos', 'What do you see?')
  const phone = await attachPhone(started.host, 'photo-1')
  closers.push(() => phone.detach())
  await expect.poll(() => phone.calls().length).toBe(1)
  const [call] = phone.calls()
  await phone.claim(call?.callId ?? '')
  return await open(started)
}

/** Waits for words of the row, request or record that is selected. */
async function read(page: Page, words: string | RegExp): Promise<void> {
  const text = (): Promise<string | null> => page.getByRole('complementary').textContent()
  await expect.poll(text).toMatch(words)
}

const row = (page: Page, name: RegExp) => page.getByRole('option', { name }).first()

test.skipIf(!executablePath)('1: why a session waits, and until when: two clicks', async () => {
  const page = await openOffice()
  await row(page, /refund-A17 waits for a person: pay 400 EUR to ann/).click()
  await expect
    .poll(() => page.getByRole('list', { name: 'Where is my call' }).textContent())
    .toMatch(/waiting .+ for a person’s approval; it is denied in \d+ min/)
  await row(page, /^pay/).click()
  await read(page, /Approvalopen, expires in \d+ min/)
})

test.skipIf(!executablePath)('2: what a turn cost, with the agents that worked for it: two clicks', async () => {
  const page = await openOffice()
  await row(page, /research-B2/).click()
  await row(page, /^turn 1/).click()
  // 900 in and 60 out, then 1,300 in and 80 out: 3,600 and 5,100 millionths; for each of the two agents.
  await read(page, 'Cost$0.0087')
  await read(page, /Other agents2,340 tokens, \$0\.0087Cost of all\$0\.0174/)
})

test.skipIf(!executablePath)('3: which model answered after a failure, and what had failed: two clicks', async () => {
  const page = await openOffice()
  await row(page, /fallback/).click()
  await row(page, /^turn 1/).click()
  await read(page, 'Answered byscripted/second')
  await read(page, 'Failedscripted/first: model_overloaded, the provider is busy')
})

test.skipIf(!executablePath)('4: which tool is the slowest of the week: one click', async () => {
  const page = await openOffice()
  await page.getByRole('link', { name: 'Cost' }).click()
  await page.getByRole('button', { name: '7 days', pressed: true }).waitFor()
  const tools = page.getByRole('region', { name: 'Tools, the slowest first' })
  await tools.getByRole('row', { name: /orders\.find refunds 1 0/ }).waitFor()
  await tools.getByRole('columnheader', { name: 'Slowest' }).waitFor()
})

test.skipIf(!executablePath)('5: which sessions of ann failed, and why: one click and a name', async () => {
  const page = await openOffice()
  await page.getByRole('link', { name: 'Failures' }).click()
  await page.getByText('refused for bob').waitFor()
  await page.getByLabel('Principal').fill('ann')
  await page.keyboard.press('Enter')
  await page.getByText('refused for bob').waitFor({ state: 'detached' })
  const failed = page.getByRole('listitem').filter({ hasText: 'refused for ann' })
  await expect.poll(() => failed.count()).toBe(1)
  expect(await failed.textContent()).toContain('The turn failed: model_auth_failed, the key is not valid')
  await failed.getByRole('link', { name: 'ann-1' }).click()
  await row(page, /^turn 1 failed: model_auth_failed/).waitFor()
  // The same by keys, and the code of the cost view leads here.
  await page.keyboard.press('g')
  await page.keyboard.press('c')
  await page.getByRole('link', { name: 'model_auth_failed' }).click()
  await page.getByText('refused for bob').waitFor()
})

test.skipIf(!executablePath)('6: which tool tainted a payment, and what it had read: two clicks', async () => {
  const page = await openOffice()
  await page.getByRole('link', { name: /Inbox/ }).click()
  await row(page, /pay 400 EUR/).click()
  await read(page, 'mail.read {"customer":"ann"}')
  await page.getByRole('link', { name: 'mail.read' }).click()
  await read(page, 'Please refund to DE89')
})

test.skipIf(!executablePath)(
  '7: what the model got in step 2, and what changed from step 1: three clicks',
  async () => {
    const page = await openOffice()
    await row(page, /refund-A17/).click()
    await row(page, /^step 2/).click()
    await page.getByRole('link', { name: 'The request as the model got it' }).click()
    await read(page, /the request of step 2 \(attempt 2, scripted\/large\).*You refund returned orders\./s)
    await page.getByRole('button', { name: 'What changed' }).click()
    await expect
      .poll(() => page.getByRole('group', { name: 'Difference of the requests' }).textContent())
      .toMatch(/\+## tool\+\[result call_\w+\] \{"order":"A-17"/)
  },
)

test.skipIf(!executablePath)('8: which client holds a call, and since when: two clicks', async () => {
  const page = await openWithHolder()
  await row(page, /photo-1 waits for a client/).click()
  await expect
    .poll(() => page.getByRole('list', { name: 'Where is my call' }).textContent())
    .toMatch(/^camera — running on the client program-.+ of ann for .+; the call fails in /)
  await row(page, /^camera/).click()
  await read(page, /Claimed byprogram-.*\d\d:\d\d:\d\d\.\d{3}running on program-.+still open/s)
})

test.skipIf(!executablePath)('9: who approved a payment, when, with which note and edit: two clicks', async () => {
  const page = await openOffice()
  await show(page, '#/inbox')
  await row(page, /pay 400 EUR/).click()
  await page.getByRole('button', { name: /Edit the arguments/ }).click()
  await page.getByLabel('Arguments as JSON').fill('{ "euro": 40, "to": "ann" }')
  await page.getByLabel('Note for people').fill('the invoice says 40')
  await page.getByRole('button', { name: 'Approve the change' }).click()
  await row(page, /changed and approved by maria/).waitFor()
  await show(page, '#/sessions')

  await row(page, /refund-A17/).click()
  await row(page, /^pay/).click()
  await read(page, /changed and approved by maria \(note: the invoice says 40\), \d{4}-\d\d-\d\d \d\d:\d\d:\d\d/)
  await read(page, /−\s*"euro": 400,\+\s*"euro": 40,/)
})

test.skipIf(!executablePath)('10: what a delegated agent does, and where its tokens went: three clicks', async () => {
  const page = await openOffice()
  await row(page, /research-B2/).click()
  await row(page, /^reader/).click()
  await read(page, 'Below it2,340 tokens, 1 calls, $0.0087')
  await page
    .getByRole('option', { name: /^turn 1/ })
    .nth(1)
    .click()
  await read(page, /step 190060\$0\.0036step 21,30080\$0\.0051/)
  await page.getByRole('complementary').getByRole('link', { name: 'step 2' }).click()
  await read(page, 'Answered byscripted/small')
  // Its own request, and its own log.
  await page.getByRole('link', { name: 'What changed since the request before' }).click()
  await expect
    .poll(() => page.getByRole('group', { name: 'Difference of the requests' }).textContent())
    .toMatch(/\{"order":"B-2"/)
  await page.getByLabel('Log', { exact: true }).selectOption({ label: 'research' })
  await row(page, /session began with research/).waitFor()
})
