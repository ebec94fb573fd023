// The servers that embed Baton, as processes, with a local provider behind them; the unmodified AI SDK chat talks to
// each. The Next.js server is built first, with the packages as published.
import { Chat } from '@ai-sdk/react'
import { startFakeAnthropic } from '@baton/testing/fake-anthropic'
import { leaveOut } from '@baton/testing/left-out'
import { startCommand } from '@baton/testing/start-command'
import type { UIMessage } from 'ai'
import { DefaultChatTransport } from 'ai'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { buildPackages } from '../../scripts/build.ts'

const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const NEXT_FOLDER = fileURLToPath(new URL('next/', import.meta.url))
const NEXT = `${NEXT_FOLDER}node_modules/next/dist/bin/next`
/** Telemetry is off, and a network request would fail. */
const OFFLINE = {
  NEXT_TELEMETRY_DISABLED: '1',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  HTTP_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1',
}

const lack = { why: 'it is not installed', remedy: 'Run npm ci --prefix examples/embed/next --ignore-scripts.' }
const hasNext = existsSync(NEXT) || leaveOut('the app of Next.js', lack, console.warn) !== undefined
const source = (name: string) => ({ command: ['--conditions=@baton/source', `${FOLDER}${name}.ts`], folder: FOLDER })
const servers = [
  { name: 'Hono', ...source('hono') },
  { name: 'Express', ...source('express') },
  ...(hasNext
    ? [{ name: 'Next.js', command: [NEXT, 'start', '-H', '127.0.0.1', '-p', '0'], folder: NEXT_FOLDER }]
    : []),
]

const ADDRESS = /http:\/\/127\.0\.0\.1:\d+/

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

beforeAll(async () => {
  if (!hasNext) return
  await buildPackages()
  const env = { ...process.env, ...OFFLINE, NODE_ENV: 'production' }
  await promisify(execFile)(process.execPath, [NEXT, 'build'], { cwd: NEXT_FOLDER, env, timeout: 240_000 })
})

async function start({ command, folder }: { readonly command: readonly string[]; readonly folder: string }) {
  const fake = await startFakeAnthropic(({ body }) =>
    JSON.stringify(body['messages']).includes('story')
      ? { text: 'Once upon a time there was a shop.', stallAfter: 6 }
      : { text: 'We open at nine.' },
  )
  closers.push(() => fake.close())
  const variables = {
    ...OFFLINE,
    PORT: '0',
    ANTHROPIC_API_KEY: 'key-of-a-test',
    ANTHROPIC_BASE_URL: fake.url,
  }
  const server = startCommand(process.execPath, { words: command, folder, variables })
  closers.push(async () => {
    server.kill('SIGTERM')
    await server.ended
  })
  const line = await server.untilLine((text) => ADDRESS.test(text))
  return { url: ADDRESS.exec(line)?.[0] ?? '', fake }
}

function openPage(url: string, id: string, messages: UIMessage[] = []): Chat<UIMessage> {
  return new Chat<UIMessage>({ id, messages, transport: new DefaultChatTransport({ api: `${url}/api/chat` }) })
}

function readText(page: Chat<UIMessage>): string {
  return (page.messages.at(-1)?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('')
}

test.each(servers)('$name: an answer, one that another page reads on, and a stop', async (server) => {
  const { url, fake } = await start(server)
  const page = openPage(url, 'c1')
  await page.sendMessage({ text: 'When do you open?' })
  expect([page.error, readText(page)]).toEqual([undefined, 'We open at nine.'])
  // A chat that has not begun has nothing to resume.
  const idle = openPage(url, 'c0')
  await idle.resumeStream()
  expect(idle.status).toBe('ready')

  const first = openPage(url, 'c2')
  const sent = first.sendMessage({ text: 'Tell me a story.' })
  await expect.poll(() => readText(first)).toContain('Once upon')
  const second = openPage(url, 'c2', structuredClone(first.messages.slice(0, 1)))
  const resumed = second.resumeStream()
  await expect.poll(() => readText(second)).toBe(readText(first))
  // A page that leaves does not stop anything; its own stop address does.
  await first.stop()
  await sent
  expect(second.status).toBe('streaming')
  const stopped = await fetch(`${url}/api/chat/c2/stop`, { method: 'POST' })
  expect(stopped.status).toBe(200)
  await resumed
  expect(second.status).toBe('ready')
  await expect.poll(fake.aborted).toBe(1)

  const listed = await fetch(`${url}/api/sessions/c2/messages`)
  expect(JSON.stringify(await listed.json())).toContain('Once upon')
  // Each of them checks the public name.
  const foreign = await fetch(`${url}/api/sessions`, { headers: { origin: 'https://eve.example' } })
  expect(foreign.status).toBe(403)
  expect((await fetch(url)).status).toBe(200)
})
