// The contract of outboxes, for the one in a page's database; and behaviour specific to pages.
import { findChromium } from '@baton/testing/chromium'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { bundleForPage } from '../bundle.test-kit.ts'
import { createPageWorld, launch, untilOutboxHas } from '../page.test-kit.ts'
import { OUTBOX_SITUATIONS } from './outbox-situations.ts'

const executablePath = findChromium('the outbox in a browser', (message) => console.warn(message))
const closers: (() => unknown)[] = []
let browser: Browser | undefined
let files: Readonly<Record<string, string>>

beforeAll(async () => {
  const bundle = await bundleForPage(
    `import { createIndexedDbOutbox } from '@baton/client'
     import { OUTBOX_SITUATIONS } from './outbox/outbox-situations.ts'
     globalThis.createOutbox = createIndexedDbOutbox
     globalThis.play = async (name) => {
       await OUTBOX_SITUATIONS[name](createIndexedDbOutbox({ name }))
       return 'ok'
     }
     globalThis.join = (scope) => {
       const left = (globalThis.left = [])
       globalThis.broken = []
       globalThis.place = createIndexedDbOutbox().join({
         scope,
         onLeft: (entries) => left.push(...entries.map(({ id }) => id)),
         onBroken: (cause) => broken.push(String(cause)),
       })
     }
     globalThis.save = (id) => place.save({ kind: 'input', id, atMs: Date.now(), type: 'input.send', given: { input: id, content: id } })
     globalThis.isReady = true`,
    false,
  )
  files = bundle.files
  if (executablePath !== undefined) browser = await launch(executablePath)
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})
afterAll(async () => {
  await browser?.close()
})

async function openWorld() {
  if (!browser) throw new Error('there is no browser')
  const world = await createPageWorld(browser, files)
  closers.push(() => world.close())
  const open = async () => {
    const page = await world.openPage()
    await page.waitForFunction('globalThis.isReady')
    return page
  }
  return { ...world, open }
}

test.skipIf(!executablePath).each(Object.keys(OUTBOX_SITUATIONS))('%s', async (name) => {
  const { open, complaints } = await openWorld()
  const page = await open()
  expect(await page.evaluate(`play(${JSON.stringify(name)})`)).toBe('ok')
  expect(complaints).toEqual([])
})

test.skipIf(!executablePath)('a page that is loaded again finds what it has said', async () => {
  const { open } = await openWorld()
  const page = await open()
  await page.evaluate("join('s'); save('a'); save('b')")
  await untilOutboxHas(page, 2)
  await page.evaluate("place.remove('input', 'a')")
  await untilOutboxHas(page, 1)
  await page.reload()
  await page.waitForFunction('globalThis.isReady')
  await page.evaluate("join('s')")
  await page.waitForFunction('left.length > 0')
  expect(await page.evaluate('left')).toEqual(['b'])
})

test.skipIf(!executablePath)(
  'a page takes nothing of one that lives, and all of it when that one is closed',
  async () => {
    const { open } = await openWorld()
    const first = await open()
    await first.evaluate("join('s'); save('a')")
    const second = await open()
    await second.evaluate("join('s'); save('b')")
    const third = await open()
    await third.evaluate("join('s')")
    expect(await second.evaluate('left')).toEqual([])
    await first.close()
    const takers = [second, third]
    const taken = await Promise.race(takers.map((page) => page.waitForFunction('left.length > 0').then(() => page)))
    expect(await taken.evaluate('left')).toEqual(['a'])
    const other = takers.find((page) => page !== taken)
    expect(await other?.evaluate('left')).toEqual([])
    expect(await other?.evaluate('broken')).toEqual([])
  },
)

test.skipIf(!executablePath)('a browser without a database says that nothing is kept', async () => {
  const { open } = await openWorld()
  const page = await open()
  await page.evaluate("Object.defineProperty(globalThis, 'indexedDB', { value: undefined }); join('s'); save('a')")
  await page.waitForFunction('broken.length > 0')
  expect(await page.evaluate('broken')).toEqual(['Error: this browser has no IndexedDB'])
})
