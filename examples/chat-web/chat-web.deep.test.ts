// The chat page in a real browser: the unmodified `useChat` of the AI SDK, against the server.
import { tool } from '@baton/core'
import { expect, test } from 'vitest'
import {
  call,
  countNotices,
  createGatedTool,
  expectLogShown,
  findAnswers,
  openBrowser,
  say,
} from './chat-web.test-kit.ts'

const { hasBrowser, open, openPage, openServer } = openBrowser()

test.skipIf(!hasBrowser)('text, and another answer', async () => {
  const { page } = await open([{ text: 'Good morning.' }, { text: 'Good evening.' }])
  await say(page, 'hi')
  await page.getByText('Good morning.').waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('Good evening.').waitFor()
  expect(await page.getByText('Good morning.').count()).toBe(0)
})

test.skipIf(!hasBrowser)('a tool of the server and one of the page, in one step', async () => {
  const steps = [
    { text: 'Let me.', calls: [call('time.now'), call('page.theme', { theme: 'dark' })] },
    { text: 'Dark it is.' },
  ]
  const { page, model } = await open(steps)
  await say(page, 'make it dark')
  await page.getByText('Dark it is.').waitFor()
  expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
  expect(await page.locator('.tool[data-state="output-available"]').count()).toBe(2)
  expect(JSON.stringify(model.requests[1]?.messages)).toContain('it is dark now')
})

test.skipIf(!hasBrowser).each([
  ['Allow', 'output-available'],
  ['Deny', 'output-denied'],
])('an approval: %s', async (button, state) => {
  const { page } = await open([{ calls: [call('note.save', { text: 'milk' })] }, { text: 'So be it.' }])
  await say(page, 'note: milk')
  await page.getByRole('button', { name: button }).click()
  await page.getByText('So be it.').waitFor()
  expect(await page.locator(`.tool[data-state="${state}"]`).count()).toBe(1)
})

test.skipIf(!hasBrowser)('an edit of what was said', async () => {
  const { page } = await open([{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }])
  await say(page, 'first')
  await page.getByText('One.').waitFor()
  await say(page, 'second')
  await page.getByText('Two.').waitFor()
  await page.getByRole('button', { name: 'Edit' }).first().click()
  await page.getByLabel('Change what you said').fill('first, changed')
  await page.keyboard.press('Enter')
  await page.getByText('Three.').waitFor()
  expect(await findAnswers(page).count()).toBe(1)
  await page.reload()
  await page.getByText('Three.').waitFor()
  expect(await page.getByRole('log').getByText('first, changed').count()).toBe(1)
})

test.skipIf(!hasBrowser)('a reload in mid-answer, and a second tab', async () => {
  const { wait, open: openGate } = createGatedTool()
  const steps = [{ text: 'Wait a moment.', calls: [call('wait')] }, { text: 'Here it is.' }]
  const { page, started } = await open(steps, { tools: [wait] })
  await say(page, 'go')
  await page.getByText('Wait a moment.').waitFor()
  await page.reload()
  await page.getByText('Wait a moment.').waitFor()
  const other = await openPage(started.url, { hash: new URL(page.url()).hash })
  await other.getByText('Wait a moment.').waitFor()
  openGate()
  for (const one of [page, other]) {
    await one.getByText('Here it is.').waitFor()
    expect(await findAnswers(one).count()).toBe(1)
    expect(await one.getByText('Wait a moment.').count()).toBe(1)
  }
})

test.skipIf(!hasBrowser)('stop keeps what was said', async () => {
  const { page } = await open([{ text: 'A long story', hangs: 'until-aborted' }])
  await say(page, 'tell me')
  await page.getByText('A long story').waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('button', { name: 'Send' }).waitFor()
  expect(await page.getByText('A long story').count()).toBe(1)
})

test.skipIf(!hasBrowser)('a question of a tool', async () => {
  const order = tool({
    name: 'order',
    description: 'orders',
    input: { type: 'object', properties: {} },
    effect: 'idempotent',
    execute: async (_input, { ask }) =>
      JSON.stringify(
        await ask({
          message: 'Which size?',
          schema: { type: 'object', properties: { size: { enum: ['S', 'M'] } }, required: ['size'] },
        }),
      ),
  })
  const { page, model } = await open([{ calls: [call('order')] }, { text: 'Ordered.' }], { tools: [order] })
  await say(page, 'a shirt')
  await page.getByRole('button', { name: 'M', exact: true }).click()
  await page.getByText('Ordered.').waitFor()
  expect(JSON.stringify(model.requests[1]?.messages)).toContain('M')
})

test.skipIf(!hasBrowser)('a picture in', async () => {
  const { page, model } = await open([{ text: 'A dot.' }])
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const buffer = Buffer.from(png, 'base64')
  await page.getByLabel('Attach a file').setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer })
  await say(page, 'what is it?')
  await page.getByText('A dot.').waitFor()
  expect(JSON.stringify(model.requests[0]?.messages)).toContain(png)
  await page.reload()
  const image = page.locator('article img')
  await image.waitFor()
  expect(await page.evaluate("document.querySelector('article img').naturalWidth")).toBe(1)
})

test.skipIf(!hasBrowser)('an error of the server is told', async () => {
  const { page } = await open([])
  await say(page, 'hi')
  await page.getByRole('alert').waitFor()
})

const theme = { name: 'page.theme', arguments: { theme: 'dark' } }
const notice = { name: 'page.notice', arguments: { text: 'Milk' } }

test.skipIf(!hasBrowser)('two calls of the page in one step', async () => {
  const { page, started, model } = await open([{ text: 'Both.', calls: [theme, notice] }, { text: 'Both are done.' }])
  await say(page, 'dark, and a notice')
  await page.getByText('Both are done.').waitFor()
  await expectLogShown(page, started)
  expect(await countNotices(page)).toBe(1)
  const told = JSON.stringify(model.requests[1]?.messages)
  expect([told.includes('it is dark now'), told.includes('it is pinned')]).toEqual([true, true])
})

test.skipIf(!hasBrowser)('a call of the page while a second tab reads along: one of them runs it', async () => {
  const { wait, open: openGate } = createGatedTool()
  const steps = [{ text: 'Wait.', calls: [call('wait')] }, { calls: [notice] }, { text: 'Pinned.' }]
  const pin = tool({
    name: 'page.notice',
    description: 'pins',
    input: { type: 'object', properties: { text: { type: 'string' } } },
    effect: 'once',
  })
  const { page, started } = await open(steps, { tools: [wait, pin] })
  await say(page, 'go')
  await page.getByText('Wait.').waitFor()
  const other = await openPage(started.url, { hash: new URL(page.url()).hash })
  await other.getByText('Wait.').waitFor()
  openGate()
  for (const one of [page, other]) await one.getByText('Pinned.').waitFor()
  for (const one of [page, other]) await expectLogShown(one, started)
  expect((await countNotices(page)) + (await countNotices(other))).toBe(1)
})

const save = call('note.save', { text: 'milk' })

test.skipIf(!hasBrowser)('an approval with other arguments', async () => {
  const { page, started, model } = await open([{ calls: [save] }, { text: 'So be it.' }])
  await say(page, 'note: milk')
  await page.getByRole('button', { name: 'Change' }).click()
  await page.getByLabel('Changed input').fill('{ "text": 7 }')
  await page.getByRole('button', { name: 'Allow this' }).click()
  await page.getByRole('alert').waitFor() // it does not fit the tool
  await page.getByLabel('Changed input').fill('{ "text": "bread" }')
  await page.getByRole('button', { name: 'Allow this' }).click()
  await page.getByText('So be it.').waitFor()
  await expectLogShown(page, started)
  expect(JSON.stringify(model.requests[1]?.messages)).toContain('saved 5 characters')
})

test.skipIf(!hasBrowser)('an approval expires: the page says so by itself', async () => {
  const { page, started, model } = await open([{ calls: [save] }, { text: 'Nobody was there.' }], {
    limits: { approvalMs: 500 },
  })
  await say(page, 'note: milk')
  await page.getByText('Nobody was there.').waitFor()
  await expectLogShown(page, started)
  expect(await page.getByRole('button', { name: 'Allow' }).count()).toBe(0)
  expect(JSON.stringify(model.requests[1]?.messages)).not.toContain('saved')
})

test.skipIf(!hasBrowser)('an approval that has expired is given', async () => {
  const { page, started, model } = await open([{ calls: [save] }, { text: 'Nobody was there.' }], {
    limits: { approvalMs: 2000 },
  })
  await say(page, 'note: milk')
  await page.getByRole('button', { name: 'Allow' }).waitFor()
  // The page's clock is paused, so the page does not know.
  await page.clock.install()
  await page.clock.pauseAt(Date.now() + 1000)
  await expect.poll(() => model.requests.length).toBe(2)
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.getByText('Nobody was there.').waitFor()
  await expectLogShown(page, started)
  expect(JSON.stringify(model.requests[1]?.messages)).not.toContain('saved')
})

test.skipIf(!hasBrowser)('an answer that is a value: what did not fit is not shown', async () => {
  const output = {
    type: 'object',
    properties: { verdict: { enum: ['yes', 'no'] } },
    required: ['verdict'],
    additionalProperties: false,
  } as const
  const { page, started } = await open([{ text: '{"verdict":"perhaps"}' }, { text: '{"verdict":"yes"}' }], { output })
  await say(page, 'is it?')
  await page.getByText('{"verdict":"yes"}').waitFor()
  await expectLogShown(page, started)
})

test.skipIf(!hasBrowser)('the server refuses: the page says why, and does not try again', async () => {
  const { page } = await open([{ text: 'Never.' }])
  let asked = 0
  await page.route('**/api/chat', async (route) => {
    asked += 1
    await route.fulfill({ status: 400, contentType: 'text/plain', body: 'this is not allowed here' })
  })
  await say(page, 'hi')
  await page.getByRole('alert').getByText('this is not allowed here').waitFor()
  expect([asked, await page.getByText('The connection is lost').count()]).toEqual([1, 0])
})

test.skipIf(!hasBrowser)(
  'a message that is said while the page asks what to resume is sent after it, once',
  async () => {
    const { started } = await openServer([{ text: 'Good morning.' }])
    const asked = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<void>()
    const posts: string[] = []
    const page = await openPage(started.url, {
      prepare: async (blank) => {
        await blank.route('**/api/chat/*/stream', async (route) => {
          asked.resolve()
          await answered.promise
          await route.continue()
        })
        blank.on('request', (request) => request.method() === 'POST' && posts.push(request.url()))
      },
    })
    await asked.promise
    await say(page, 'hello')
    await page.getByText('is sent when the chat is up to date').waitFor()
    expect(posts).toEqual([])
    answered.resolve()
    await findAnswers(page).getByText('Good morning.').waitFor()
    const shown = await expectLogShown(page, started)
    expect(shown.map(({ texts }) => texts)).toEqual([['hello'], ['Good morning.']])
  },
)
