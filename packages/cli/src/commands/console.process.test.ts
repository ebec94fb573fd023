// `baton console` and `baton serve` as two processes over one file, and the console and signed events of `baton serve`.
import type { StartedCommand } from '@baton/testing/start-command'
import { startCommand } from '@baton/testing/start-command'
import { signWebhook, importWebhookKey, decodeWebhookSecret } from '@baton/runtime'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openPage, post } from './console-page.test-kit.ts'

const BATON = fileURLToPath(new URL('../../bin/baton.mjs', import.meta.url))

let folder: string
let commands: StartedCommand[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-console-'))
  commands = []
})
afterEach(async () => {
  for (const command of commands) {
    command.kill('SIGKILL')
    await command.ended
  }
  rmSync(folder, { recursive: true })
})

async function start(words: readonly string[]): Promise<{ readonly command: StartedCommand; readonly url: string }> {
  const command = startCommand(process.execPath, {
    words: [BATON, ...words, '--store', `sqlite:${join(folder, 'store.db')}`, '--json'],
    folder,
    variables: { XDG_DATA_HOME: folder, HOME: folder },
  })
  commands.push(command)
  const line = await command.untilLine((said) => said.includes('"listening"'))
  return { command, url: (JSON.parse(line) as { readonly url: string }).url }
}

async function serve(words: readonly string[] = []): Promise<string> {
  const { url } = await start(['serve', '--port', '0', '--model', 'offline', ...words])
  return url.replace(/^ws(.*)\/ws$/, 'http$1')
}

async function say(server: string, chat: string): Promise<void> {
  const messages = [{ id: `${chat}-1`, role: 'user', parts: [{ type: 'text', text: 'hello' }] }]
  const response = await post(`${server}/api/chat`, {}, { id: chat, messages })
  expect((await response.text()).trimEnd()).toMatch(/\[DONE\]$/)
}

test('the console reads the file of a running server, and changes nothing', async () => {
  const server = await serve()
  await say(server, 'kitchen')
  const { url, command } = await start(['console'])
  const page = openPage(url)
  expect(await page.read('me')).toMatchObject({ powers: ['see'] })
  expect(await page.read('sessions?all=true')).toMatchObject({ sessions: [{ id: 'kitchen', activity: 'idle' }] })
  expect(await page.read('sessions/kitchen')).toMatchObject({ model: 'offline' })
  await say(server, 'garden')
  await expect
    .poll(() => page.read('sessions?all=true'))
    .toMatchObject({ sessions: [{ id: 'garden' }, { id: 'kitchen' }] })
  expect(await page.read('sessions/garden/requests/1')).toMatchObject({
    model: 'offline',
    request: { messages: [{ role: 'user', parts: [{ type: 'text', text: 'hello' }] }] },
    notes: [expect.stringContaining('is not known here')],
  })
  expect((await page.act('sessions/kitchen/retry')).status).toBe(403)
  expect((await fetch(`${page.base}api/me`)).status).toBe(401)
  command.kill('SIGINT')
  expect(await command.ended).toEqual({ code: 0, signal: null })
})

test('with --act the console changes a session of the same file, and the log names it', async () => {
  const server = await serve()
  await say(server, 'kitchen')
  const { url } = await start(['console', '--act', '--model', 'offline'])
  const page = openPage(url)
  expect(await page.read('me')).toMatchObject({ powers: ['see', 'decide', 'act', 'export', 'remove'] })
  expect((await page.act('sessions/kitchen/retry')).status).toBe(200)
  expect(JSON.stringify(await page.read('sessions/kitchen/log'))).toContain('"by":"console"')
  await say(server, 'garden')
  await expect.poll(() => page.read('sessions?all=true&search=garden')).toMatchObject({ sessions: [{ id: 'garden' }] })
})

test('serve has the console for its operators alone, and takes signed events', async () => {
  const secret = `whsec_${Buffer.from('a-secret-of-the-shop-0123').toString('base64')}`
  writeFileSync(join(folder, 'mia.token'), 'the-token-of-mia-1\n')
  writeFileSync(join(folder, 'root.token'), 'the-token-of-root-1\n')
  writeFileSync(join(folder, 'shop.secret'), `${secret}\n`)
  writeFileSync(
    join(folder, 'agent.mjs'),
    `import { defineAgent } from ${JSON.stringify(import.meta.resolve('@baton/core'))}
export default defineAgent({ name: 'desk', model: 'offline', events: { 'order.paid': {} } })\n`,
  )
  const operators = ['--console', 'mia=mia.token', '--console', 'root=root.token', '--console-powers', 'root=all']
  const server = await serve(['--agent', 'agent.mjs', ...operators, '--webhook', 'shop=shop.secret'])
  await say(server, 'kitchen')
  const ask = async (path: string, token: string): Promise<unknown> =>
    await (await fetch(`${server}/console/api/${path}`, { headers: { authorization: `Bearer ${token}` } })).json()
  expect(await ask('me', 'the-token-of-mia-1')).toMatchObject({ principal: { id: 'mia' }, powers: ['see'] })
  expect(await ask('me', 'the-token-of-root-1')).toMatchObject({ principal: { id: 'root' } })
  expect(await ask('me', 'guessed-by-somebody')).toMatchObject({ error: { code: 'unauthorized' } })
  // The chats of the same server know nothing of operators.
  const token = { authorization: 'Bearer the-token-of-root-1' }
  expect((await fetch(`${server}/api/sessions/kitchen/log`, { headers: token })).status).toBe(404)
  const body = JSON.stringify({ type: 'order.paid', data: { id: 7 } })
  const key = await importWebhookKey(decodeWebhookSecret('secret', secret))
  const signed = await signWebhook(key, { id: 'msg_1', atMs: Date.now(), body })
  const event = `${server}/api/sessions/kitchen/events`
  const headers = { ...signed, 'content-type': 'application/json' }
  expect((await fetch(event, { method: 'POST', headers, body })).status).toBe(202)
  expect((await fetch(event, { method: 'POST', headers, body: `${body} ` })).status).toBe(401)
  expect(JSON.stringify(await ask('sessions/kitchen/log', 'the-token-of-mia-1'))).toContain('order.paid')
})

test.each([
  ['a token that is too short', ['--console', 'mia=short.token'], 'must contain a token of 16 characters or more'],
  ['a file that is missing', ['--console', 'mia=none.token'], 'none.token cannot be read'],
  ['a secret in another form', ['--webhook', 'shop=short.token'], 'whsec_'],
])('serve refuses %s, in one line', async (_what, words, message) => {
  writeFileSync(join(folder, 'short.token'), 'short\n')
  const command = startCommand(process.execPath, {
    words: [BATON, 'serve', '--port', '0', '--store', 'memory:', '--model', 'offline', ...words],
    folder,
    variables: { XDG_DATA_HOME: folder, HOME: folder },
  })
  commands.push(command)
  expect(await command.ended).toEqual({ code: 1, signal: null })
  expect(command.errors()).toContain(message)
})
