// Four fronts, one log: a conversation with a client tool, an approval with changed arguments, another agent that uses a
// client tool and asks too, and an interrupt produces the same log, whether it came from a program, a version 2 app, an AI SDK chat page, or an editor.
import { client as createEditor, methods } from '@agentclientprotocol/sdk'
import { Chat } from '@ai-sdk/react'
import type { Store } from '@baton/core'
import { canonicalLog } from '@baton/core/machine'
import type { Fact } from '@baton/core/machine'
import { createScriptedModel } from '@baton/core/testing'
import { openSession } from '@baton/client'
import type { LocalHost } from '@baton/host'
import type { Agent, Tool } from '@baton/host'
import { createHost, createMemoryStore, createNodeEnvironment, defineAgent, delegate, tool } from '@baton/host'
import { serveAcpOverStdio } from '@baton/server/acp'
import { createHandler } from '@baton/server/http'
import { createWebSocketFront } from '@baton/server/websocket'
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithToolCalls } from 'ai'
import { PassThrough, Readable, Writable } from 'node:stream'
import { ndJsonStream } from '@agentclientprotocol/sdk'
import { expect, test } from 'vitest'

const SESSION = 'conversation'
const COLOR = { color: 'red' }
const PLACE = { city: 'Rome' }
const ANN = { to: 'ann' }

function createAgent() {
  const pick = tool({
    name: 'pick_color',
    description: 'Picks a colour.',
    input: { type: 'object', properties: {} },
    effect: 'idempotent',
  })
  const mail = tool({
    name: 'mail',
    description: 'Mails.',
    input: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
    approval: true,
    execute: ({ to }) => `sent to ${String(to)}`,
  })
  const model = createScriptedModel({
    steps: [
      { text: 'I ask.', calls: [{ name: 'pick_color', arguments: {} }] },
      { text: 'Red.' },
      { calls: [{ name: 'mail', arguments: { to: 'bob' } }] },
      { text: 'Sent.' },
      { calls: [{ name: 'helper', arguments: { task: 'Write to Bob from here.' } }] },
      { text: 'Helped.' },
      { text: 'I think', hangs: 'until-aborted' },
    ],
  })
  const help = delegate({ agent: createHelper(mail), description: 'Helps.' })
  return defineAgent({ name: 'shop', model, tools: [pick, mail, help] })
}

/** Looks up its place with a client tool, and then writes the mail. */
function createHelper(mail: Tool): Agent {
  const find = tool({
    name: 'find_place',
    description: 'Says where this is.',
    input: { type: 'object', properties: {} },
    effect: 'once',
  })
  const steps = [
    { calls: [{ name: 'find_place', arguments: {} }] },
    { calls: [{ name: 'mail', arguments: { to: 'bob' } }] },
    { text: 'Written from Rome.' },
  ]
  return defineAgent({ name: 'helper', model: createScriptedModel({ steps }), tools: [find, mail] }) as Agent
}

/** Sends the four messages, runs the tools, changes the mails to Ann's, and interrupts the last answer. */
type Front = (host: LocalHost, agent: ReturnType<typeof createAgent>) => Promise<void>

const inProcess: Front = async (host) => {
  const session = await host.session(SESSION)
  await session.attach({ pick_color: () => COLOR, find_place: () => PLACE })
  await session.send('Pick').answer
  for (const text of ['Mail', 'Help'])
    for await (const event of session.send(text))
      if (event.type === 'approval-requested')
        await session.decide({ approvalId: event.approvalId, decision: 'edit', input: ANN })
  let said = ''
  for await (const event of session.send('Think')) {
    if (event.type === 'text') said += event.text
    if (event.type === 'text' && said.endsWith('think')) await session.interrupt({ reason: 'stop' })
  }
}

const version2: Front = async (host) => {
  const front = createWebSocketFront(host, { port: 0 })
  const { url } = await front.listen()
  const client = openSession({ url, session: SESSION, tools: { pick_color: () => COLOR, find_place: () => PLACE } })
  const isThinking = Promise.withResolvers<void>()
  client.on('event', (event) => {
    if (event.type === 'approval-requested')
      void client.decide({ approvalId: event.approvalId, decision: 'edit', input: ANN })
    if (event.type === 'text' && event.text.includes('think')) isThinking.resolve()
  })
  await client.send('Pick').answer
  await client.send('Mail').answer
  await client.send('Help').answer
  const last = client.send('Think').answer
  await isThinking.promise
  await client.interrupt()
  await last
  client.close()
  await front.close()
}

const chatPage: Front = async (host) => {
  const handler = createHandler(host)
  const fetch = async (address: string | URL | Request, init?: RequestInit): Promise<Response> =>
    await handler(
      address instanceof Request ? new Request(address, init) : new Request(new URL(address, 'http://localhost'), init),
    )
  const post = (path: string, body?: object): Promise<Response> =>
    fetch(`/api/chat/${SESSION}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
  const page = new Chat({
    id: SESSION,
    transport: new DefaultChatTransport({ fetch }),
    sendAutomaticallyWhen: (chat) => lastAssistantMessageIsCompleteWithToolCalls(chat),
    onToolCall: ({ toolCall }) => {
      const { toolName, toolCallId } = toolCall
      const output = toolName === 'pick_color' ? COLOR : toolName === 'find_place' ? PLACE : undefined
      if (output) void page.addToolOutput({ tool: toolName, toolCallId, output })
    },
  })
  const says = (text: string): boolean => JSON.stringify(page.messages.at(-1)).includes(text)
  const until = async (holds: () => boolean): Promise<void> => {
    await expect.poll(holds, { interval: 5 }).toBe(true)
  }
  await page.sendMessage({ text: 'Pick' })
  await until(() => says('Red.') && page.status === 'ready')
  await page.sendMessage({ text: 'Mail' })
  const change = async (): Promise<void> => {
    const part = page.messages.at(-1)?.parts.find(({ type }) => type === 'tool-mail') as { approval: { id: string } } // of this tool
    await post('approvals', { approvalId: part.approval.id, decision: 'edit', input: ANN })
    await page.resumeStream()
  }
  await change()
  await page.sendMessage({ text: 'Help' })
  await until(() => says('approval-requested') && page.status === 'ready')
  await change()
  await until(() => says('Helped.') && page.status === 'ready')
  const last = page.sendMessage({ text: 'Think' })
  await until(() => says('think'))
  await post('stop')
  await last
}

const editor: Front = async (host, agent) => {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const server = serveAcpOverStdio(host, { agent, input, output, newId: createIds() })
  const isThinking = Promise.withResolvers<void>()
  const app = createEditor()
    .onNotification(methods.client.session.update, ({ params: { update } }) => {
      if (JSON.stringify(update).includes('think')) isThinking.resolve()
    })
    .onRequest(methods.client.session.requestPermission, () => ({
      outcome: { outcome: 'selected', optionId: 'allow' },
      _meta: { 'baton/input': { to: 'ann' } },
    }))
    .onRequest(
      '_baton/call_tool',
      (params: unknown) => params,
      ({ params }) => ({ output: (params as { readonly name: string }).name === 'pick_color' ? COLOR : PLACE }),
    )
  const stream = ndJsonStream(Writable.toWeb(input), Readable.toWeb(output) as ReadableStream<Uint8Array>)
  await app.connectWith(stream, async (connection) => {
    const clientCapabilities = { _meta: { 'baton/clientTools': true } }
    await connection.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities })
    const { sessionId } = await connection.request(methods.agent.session.new, { cwd: '/work', mcpServers: [] })
    const say = (text: string) =>
      connection.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] })
    await say('Pick')
    await say('Mail')
    await say('Help')
    const last = say('Think')
    await isThinking.promise
    await connection.notify(methods.agent.session.cancel, { sessionId })
    expect(await last).toEqual({ stopReason: 'cancelled' })
  })
  await server.close()
}

/** The first id is the session's. */
function createIds(): () => string {
  let count = 0
  return () => (count++ === 0 ? SESSION : `id-${count}`)
}

async function play(front: Front): Promise<readonly Fact[]> {
  const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) })
  const store: Store = createMemoryStore()
  const agent = createAgent()
  const host = createHost({ environment, agent, store })
  await front(host, agent)
  await host.stop()
  const records = []
  for await (const record of store.read(SESSION, 0)) records.push(record)
  return canonicalLog(records)
}

/** Front-specific parts of the log: names that each front assigns, and who was connected when. */
function neutral(facts: readonly Fact[]): readonly unknown[] {
  const ids = new Map<unknown, string>()
  for (const fact of facts) if ('inputId' in fact) ids.set(fact.inputId, `input-${ids.size + 1}`)
  return facts
    .filter(({ type }) => !OF_FRONTS.has(type))
    .map((fact) =>
      JSON.parse(
        JSON.stringify(fact, (key, value: unknown) => {
          if (key === 'reason' && fact.type === 'interrupt-accepted') return undefined
          if (key === 'principal') return undefined
          // A chat page explicitly sends empty settings.
          if (key === 'settings' && JSON.stringify(value) === '{}') return undefined
          // Ids of calls below begin with the random name of their log.
          if (typeof value === 'string' && BELOW.test(value)) return value.replace(BELOW, 'call_below_')
          return ids.get(value) ?? value
        }),
      ),
    )
}

const BELOW = /call_[0-9a-f]{8}_/

/** Describing a session, and clients connecting and disconnecting, are not part of the conversation. */
const OF_FRONTS: ReadonlySet<string> = new Set([
  'session-described',
  'client-attached',
  'client-detached',
  'client-tools-set',
])

const FRONTS: Readonly<Record<string, Front>> = { 'version 2': version2, 'a chat page': chatPage, 'an editor': editor }

test.each(Object.entries(FRONTS))('the log of %s is that of a program', async (_name, front) => {
  expect(neutral(await play(front))).toEqual(neutral(await play(inProcess)))
})

test('the log has the client tool, the changed mail and the interrupt', async () => {
  const text = JSON.stringify(neutral(await play(inProcess)))
  expect(text).toContain('{\\"color\\":\\"red\\"}')
  expect(text).toContain('sent to ann')
  expect(text).toContain('{\\"city\\":\\"Rome\\"}')
  expect(text).toContain('Written from Rome.')
  expect(text).toContain('I think')
})
