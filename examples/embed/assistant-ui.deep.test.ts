// assistant-ui over the chat front: its own transport and runtime, unmodified, in a real browser.
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost } from '@baton/host'
import { createHandler, createNodeListener } from '@baton/server/http'
import { leaveOut } from '@baton/testing/left-out'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { call, findMessageBox, openBrowser, say } from '../chat-web/chat-web.test-kit.ts'
import { bundlePage } from '../chat-web/server.ts'

const FOLDER = fileURLToPath(new URL('assistant-ui/', import.meta.url))
const TSC = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url))
const lack = {
  why: 'it is not installed',
  remedy: 'Run npm ci --prefix examples/embed/assistant-ui --ignore-scripts.',
}
const isInstalled =
  existsSync(`${FOLDER}node_modules`) || leaveOut('the page with assistant-ui', lack, console.warn) !== undefined

const { hasBrowser, openPage, closers } = openBrowser()
const canRun = hasBrowser && isInstalled

let script = ''
beforeAll(async () => {
  if (!canRun) return
  await promisify(execFile)(process.execPath, [TSC, '-p', FOLDER])
  script = await bundlePage(new URL('assistant-ui/page.tsx', import.meta.url))
})

const INPUT = { type: 'object', properties: {} } as const
const TOOLS = [
  tool({ name: 'time.now', description: 'The time', input: INPUT, effect: 'pure', execute: () => 'noon' }),
  tool({ name: 'note.save', description: 'Saves', input: INPUT, approval: true, execute: () => 'saved' }),
  tool({ name: 'page.theme', description: 'Light or dark', input: INPUT, effect: 'idempotent' }),
]

async function open(steps: Parameters<typeof createScriptedModel>[0]['steps']) {
  const model = createScriptedModel({ steps })
  const host = createHost({ agent: defineAgent({ name: 'shop', model, tools: TOOLS }) })
  const api = createNodeListener(createHandler(host))
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/api/')) return api(request, response)
    const isScript = request.url === '/page.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8')
    response.end(
      isScript ? script : '<!doctype html><div id="root"></div><script type="module" src="/page.js"></script>',
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(async () => {
    server.closeAllConnections()
    server.close()
    await host.stop()
  })
  const { port } = server.address() as AddressInfo // it listens on a port
  const page = await openPage(`http://127.0.0.1:${port}/`)
  const messages = async () => {
    const { sessions } = await host.sessions()
    return await (await host.session(sessions[0]?.id ?? 'none')).messages()
  }
  return { page, model, messages }
}

test.skipIf(!canRun)('text, and another answer', async () => {
  const { page, messages } = await open([{ text: 'Good morning.' }, { text: 'Good evening.' }])
  await say(page, 'hi')
  await page.getByText('Good morning.').waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('Good evening.').waitFor()
  expect(await page.getByText('Good morning.').count()).toBe(0)
  expect(JSON.stringify(await messages())).not.toContain('Good morning.')
})

test.skipIf(!canRun)('a tool of the server and one of the page, in one step, each once', async () => {
  const steps = [
    { text: 'Let me.', calls: [call('time.now'), call('page.theme', { theme: 'dark' })] },
    { text: 'Dark it is.' },
  ]
  const { page, model } = await open(steps)
  await say(page, 'make it dark')
  await page.getByText('Dark it is.').waitFor()
  expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
  expect(await page.locator('.tool').allTextContents()).toEqual([
    'time.now: "noon"',
    'page.theme: {"done":"it is dark now"}',
  ])
  expect(model.requests).toHaveLength(2)
  expect(JSON.stringify(model.requests[1]?.messages)).toContain('it is dark now')
})

test.skipIf(!canRun).each([
  ['Allow', 'saved'],
  ['Deny', 'denied'],
])('an approval: %s', async (button, told) => {
  const { page, model } = await open([{ calls: [call('note.save')] }, { text: 'So be it.' }, { text: 'Next.' }])
  await say(page, 'note: milk')
  await page.getByRole('button', { name: button }).click()
  await page.getByText('So be it.').waitFor()
  expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain(told)
  await findMessageBox(page).waitFor()
  await say(page, 'and now?')
  await page.getByText('Next.').waitFor()
})
