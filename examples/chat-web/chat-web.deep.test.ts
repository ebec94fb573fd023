// The chat page in a real browser: `useChat` of the AI SDK, unmodified, against the server.
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { CHROMIUM_ARGUMENTS, findChromium } from '@baton/testing/chromium'
import type { Browser, Page } from 'playwright-core'
import { chromium } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import chatAgent from './agent.ts'
import type { Started } from './server.ts'
import { startChat } from './server.ts'

const executablePath = findChromium('the chat page in a browser', (message) => console.warn(message))
const closers: (() => Promise<unknown>)[] = []
let browser: Browser | undefined
let checks = 0

beforeAll(async () => {
  if (executablePath !== undefined)
    browser = await chromium.launch({ executablePath, args: [...CHROMIUM_ARGUMENTS], timeout: 30_000 })
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})
afterAll(async () => {
  console.info(`useChat in a browser: ${checks} situations`)
  await browser?.close()
})

type Steps = Parameters<typeof createScriptedModel>[0]['steps']

async function open(steps: Steps, more: Partial<Parameters<typeof defineAgent>[0]> = {}) {
  const model = createScriptedModel({ steps, capabilities: { images: true } })
  const started = await startChat(defineAgent({ ...chatAgent, ...more, model }))
  closers.push(started.stop)
  return { page: await openPage(started), started, model }
}

async function openPage({ url }: Started, hash = ''): Promise<Page> {
  const context = await (browser as Browser).newContext() // the test is skipped without one
  closers.push(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  await page.goto(`${url}${hash}`)
  await page.getByLabel('Message', { exact: true }).waitFor()
  checks += 1
  return page
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text)
  await page.keyboard.press('Enter')
}

const answers = (page: Page) => page.getByLabel('Agent', { exact: true })
const call = (name: string, input: object = {}) => ({ name, arguments: { ...input } })

test.skipIf(!executablePath)('text, and another answer', async () => {
  const { page } = await open([{ text: 'Good morning.' }, { text: 'Good evening.' }])
  await say(page, 'hi')
  await page.getByText('Good morning.').waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('Good evening.').waitFor()
  expect(await page.getByText('Good morning.').count()).toBe(0)
})

test.skipIf(!executablePath)('a tool of the server and one of the page, in one step', async () => {
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

test.skipIf(!executablePath).each([
  ['Allow', 'output-available'],
  ['Deny', 'output-denied'],
])('an approval: %s', async (button, state) => {
  const { page } = await open([{ calls: [call('note.save', { text: 'milk' })] }, { text: 'So be it.' }])
  await say(page, 'note: milk')
  await page.getByRole('button', { name: button }).click()
  await page.getByText('So be it.').waitFor()
  expect(await page.locator(`.tool[data-state="${state}"]`).count()).toBe(1)
})

test.skipIf(!executablePath)('an edit of what was said', async () => {
  const { page } = await open([{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }])
  await say(page, 'first')
  await page.getByText('One.').waitFor()
  await say(page, 'second')
  await page.getByText('Two.').waitFor()
  await page.getByRole('button', { name: 'Edit' }).first().click()
  await page.getByLabel('Change what you said').fill('first, changed')
  await page.keyboard.press('Enter')
  await page.getByText('Three.').waitFor()
  expect(await answers(page).count()).toBe(1)
  await page.reload()
  await page.getByText('Three.').waitFor()
  expect(await page.getByRole('log').getByText('first, changed').count()).toBe(1)
})

test.skipIf(!executablePath)('a reload in mid-answer, and a second tab', async () => {
  const gate = Promise.withResolvers<void>()
  const wait = tool({
    name: 'wait',
    description: 'waits',
    input: { type: 'object', properties: {} },
    effect: 'pure',
    execute: async () => {
      await gate.promise
      return 'ready'
    },
  })
  const steps = [{ text: 'Wait a moment.', calls: [call('wait')] }, { text: 'Here it is.' }]
  const { page, started } = await open(steps, { tools: [wait] })
  await say(page, 'go')
  await page.getByText('Wait a moment.').waitFor()
  await page.reload()
  await page.getByText('Wait a moment.').waitFor()
  const other = await openPage(started, new URL(page.url()).hash)
  await other.getByText('Wait a moment.').waitFor()
  gate.resolve()
  for (const one of [page, other]) {
    await one.getByText('Here it is.').waitFor()
    expect(await answers(one).count()).toBe(1)
    expect(await one.getByText('Wait a moment.').count()).toBe(1)
  }
})

test.skipIf(!executablePath)('a lost network: the page goes on when it is visible again', async () => {
  const gate = Promise.withResolvers<void>()
  const wait = tool({
    name: 'wait',
    description: 'waits',
    input: { type: 'object', properties: {} },
    effect: 'pure',
    execute: async () => {
      await gate.promise
      return 'ready'
    },
  })
  const steps = [{ text: 'Hold on.', calls: [call('wait')] }, { text: 'Back again.' }]
  const { page } = await open(steps, { tools: [wait] })
  await say(page, 'go')
  await page.getByText('Hold on.').waitFor()
  await page.context().setOffline(true)
  gate.resolve()
  await page.context().setOffline(false)
  await page.reload()
  await page.getByText('Back again.').waitFor()
  expect(await answers(page).count()).toBe(1)
})

test.skipIf(!executablePath)('stop keeps what was said', async () => {
  const { page } = await open([{ text: 'A long story', hangs: 'until-aborted' }])
  await say(page, 'tell me')
  await page.getByText('A long story').waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('button', { name: 'Send' }).waitFor()
  expect(await page.getByText('A long story').count()).toBe(1)
})

test.skipIf(!executablePath)('a question of a tool', async () => {
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

test.skipIf(!executablePath)('a picture in', async () => {
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

test.skipIf(!executablePath)('an error of the server is told', async () => {
  const { page } = await open([])
  await say(page, 'hi')
  await page.getByRole('alert').waitFor()
})
