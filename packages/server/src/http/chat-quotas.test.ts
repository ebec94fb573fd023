// Quotas of a principal and of an address for chats, concurrent and per minute, over the handler and its socket.
import type { Agent } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { afterEach, expect, test } from 'vitest'
import { createMemorySocket } from '../websocket/memory-socket.ts'
import { createSlowTool, findTool, startChats } from './chat.test-kit.ts'
import { createChatSocket } from './chat-socket.ts'
import type { HttpLimits } from './handler-parts.ts'

const running: { stop(): unknown }[] = []
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop()
})

function createTalker(): Agent {
  return defineAgent({ name: 'a', model: createScriptedModel({ steps: () => ({ text: 'At nine.' }) }) })
}

function start(limits: Partial<HttpLimits>, agent = createTalker()) {
  let nowMs = 0
  const chats = startChats({
    agent,
    handler: {
      limits,
      authenticate: ({ headers }) => ({ id: headers.get('x-user') ?? 'anonymous' }),
      clock: { nowMs: () => nowMs },
    },
  })
  running.push(chats)
  const ask = async (user: string, path = '/sessions', init: { body?: object; address?: string } = {}) => {
    const { body, address } = init
    const request = new Request(`http://localhost/api${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { 'x-user': user, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const response = await chats.handler(request, { address: address ?? user })
    return { response, status: response.status, after: response.headers.get('retry-after') }
  }
  const say = (user: string, chat: string, address?: string) =>
    ask(user, '/chat', { body: createBody(chat), ...(address !== undefined && { address }) })
  const pass = (ms: number): void => {
    nowMs += ms
  }
  return { ...chats, ask, say, pass }
}

function createBody(chat: string): object {
  return { id: chat, messages: [{ id: `${chat}-1`, role: 'user', parts: [{ type: 'text', text: 'Hello' }] }] }
}

test('too many requests of a principal get 429, which says after how long they pass', async () => {
  const { ask, pass } = start({ principalRequestsPerMinute: 2 })
  expect([(await ask('ann')).status, (await ask('ann')).status]).toEqual([200, 200])
  const refused = await ask('ann')
  expect([refused.status, refused.after]).toEqual([429, '30'])
  expect(await refused.response.json()).toMatchObject({
    error: { code: 'rate_limited', message: 'a principal may send 2 requests a minute; try again in 30 s' },
  })
  expect((await ask('bob')).status).toBe(200)
  pass(30_000)
  expect([(await ask('ann')).status, (await ask('ann')).status]).toEqual([200, 429])
})

test('too many requests from an address get 429 before authentication; useChat gets the reason as text', async () => {
  const { ask, say } = start({ addressRequestsPerMinute: 1 })
  expect((await ask('ann', '/sessions', { address: '2001:db8::1' })).status).toBe(200)
  const refused = await say('bob', 'c', '2001:db8::2')
  expect([refused.status, refused.after]).toEqual([429, '60'])
  expect(await refused.response.text()).toBe('an address may send 1 requests a minute; try again in 60 s')
  expect(refused.response.headers.get('x-baton-error')).toBe('rate_limited')
})

test('anonymous callers are counted by address only', async () => {
  const { ask } = start({ principalRequestsPerMinute: 1 })
  expect([(await ask('anonymous')).status, (await ask('anonymous')).status]).toEqual([200, 200])
})

test('too many bytes of a principal or of an address are not even parsed', async () => {
  const { ask, pass } = start({ principalBytesPerMinute: 200, addressBytesPerMinute: 300 })
  const body = { title: 'x'.repeat(100) }
  const send = async (user: string) => await ask(user, '/chat', { body, address: '10.0.0.1' })
  expect([(await send('ann')).status, (await send('ann')).status]).toEqual([400, 429])
  expect([(await send('bob')).status, (await send('eve')).status]).toEqual([400, 429])
  pass(60_000)
  expect((await send('eve')).status).toBe(400)
})

test('a turn counts until it ends, even if it is no longer read; a busy session accepts more', async () => {
  const { slow, open } = createSlowTool()
  const model = createScriptedModel({
    steps: (_, at) => (at === 0 ? { calls: [{ name: 'slow', arguments: {} }] } : { text: 'Done.' }),
  })
  const { say, host } = start({ principalTurns: 1 }, defineAgent({ name: 'a', model, tools: [slow] }))
  const first = await say('ann', 'c1')
  await first.response.body?.cancel()
  const refused = await say('ann', 'c2')
  expect([refused.status, refused.after, await refused.response.text()]).toEqual([
    429,
    '1',
    'a principal may have 1 turns at once; wait until one ends',
  ])
  expect(refused.response.headers.get('x-baton-error')).toBe('quota_exceeded')
  expect(await host.has?.('c2')).toBe(false)
  expect((await say('bob', 'b1')).status).toBe(200)
  open()
  await expect.poll(async () => (await say('ann', 'c2')).status).toBe(200)
})

test('a turn that waits for its page does not count, and its result is never refused', async () => {
  const place = tool({ name: 'place', description: 'place', input: { type: 'object' }, effect: 'pure' })
  const steps = [{ calls: [{ name: 'place', arguments: {} }] }, { text: 'One.' }, { text: 'Two.' }]
  const agent = defineAgent({ name: 'a', model: createScriptedModel({ steps }), tools: [place] })
  const { say } = start({ principalTurns: 1 }, agent)
  const asked = await say('ann', 'c1')
  expect(await asked.response.text()).toContain('tool-input-available')
  expect((await say('ann', 'c2')).status).toBe(200)
})

test('the result that a waiting turn needs is taken while another turn of its address runs', async () => {
  const place = tool({ name: 'place', description: 'place', input: { type: 'object' }, effect: 'pure' })
  const { slow, open } = createSlowTool()
  const steps = ['place', 'slow'].map((name) => ({ calls: [{ name, arguments: {} }] }))
  const model = createScriptedModel({ steps: [...steps, { text: 'In Rome.' }, { text: 'Done.' }] })
  const { say, openPage, ask } = start({ addressTurns: 1 }, defineAgent({ name: 'a', model, tools: [place, slow] }))
  const page = openPage('c1', { sendAutomaticallyWhen: () => false })
  await page.sendMessage({ text: 'where?' })
  await say('anonymous', 'c2')
  const { toolCallId } = findTool(page, 'place') as { readonly toolCallId: string }
  await page.addToolOutput({ tool: 'place', toolCallId, output: 'Rome' })
  const brought = await ask('anonymous', '/chat', { body: { id: 'c1', messages: page.messages } })
  expect([brought.status, await brought.response.text()]).toEqual([200, expect.stringContaining('In Rome.')])
  open()
})

test('too many streams of a principal get 429; one that ends makes room', async () => {
  const { slow, open } = createSlowTool()
  const steps = () => ({ calls: [{ name: 'slow', arguments: {} }] })
  const model = createScriptedModel({ steps: [steps(), { text: 'A' }, { text: 'B' }] })
  const { say, ask } = start({ principalStreams: 1 }, defineAgent({ name: 'a', model, tools: [slow] }))
  const first = await say('ann', 'c1')
  const refused = await ask('ann', '/sessions/c1/events')
  expect([refused.status, refused.after]).toEqual([429, '1'])
  open()
  await first.response.text()
  expect((await say('ann', 'c2')).status).toBe(200)
})

test('the socket of chats has the same bounds, told as errors of their requests', async () => {
  const { host } = start({})
  const open = createChatSocket(host, { limits: { principalRequestsPerMinute: 2, addressBytesPerMinute: 1000 } })
  const connect = (user: string, address: string) => {
    const { socket, sent, deliver } = createMemorySocket()
    open(socket, { id: user }, address)
    const send = async (frame: object): Promise<string> => {
      const { length } = sent
      deliver(JSON.stringify({ requestId: `${length}`, ...frame }))
      await expect.poll(() => sent.slice(length).join()).toMatch(/"(?:error|end|no-active)"/)
      return sent.slice(length).join()
    }
    return send
  }
  const send = connect('ann', '10.0.0.1')
  expect(await send({ type: 'resume', id: 'none' })).toContain('no-active')
  expect(await send({ type: 'send', ...createBody('s1') })).toMatch(/At .*nine\./)
  expect(await send({ type: 'resume', id: 'none' })).toContain('a principal may send 2 requests a minute; try again in')
  const other = connect('bob', '10.0.0.2')
  expect(await other({ type: 'resume', id: 'none', more: 'x'.repeat(940) })).toContain('no-active')
  expect(await other({ type: 'resume', id: 'none' })).toContain('an address may send 1000 bytes a minute')
})
