// Chats with a server over real sockets, without a terminal: events and available commands.
import type { Tool } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createNodeEnvironment } from '@baton/host'
import { createWebSocketFront } from '@baton/server/websocket'
import { afterEach, expect, test } from 'vitest'
import type { AskPerson, ChatPartner, Conversation, ConversationTurn, OnAside } from '../terminal/conversation.ts'
import { createRemoteChat } from './remote-chat.ts'

const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) })
const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

type Steps = Parameters<typeof createScriptedModel>[0]['steps']
const NO_INPUT = { type: 'object', properties: {} } as const

async function serve(steps: Steps, tools: readonly Tool[] = [], token?: string): Promise<string> {
  const model = createScriptedModel({ steps, timers: environment.timers })
  const host = createHost({ environment, agent: defineAgent({ name: 'a', model, tools: [...tools] }) })
  const log = { info: () => {}, warn: () => {} }
  const front = createWebSocketFront(host, { ...environment, log, port: 0, ...(token !== undefined && { token }) })
  closers.push(() => host.stop())
  closers.push(() => front.close())
  return (await front.listen()).url
}

const NOBODY: AskPerson = () => Promise.reject(new Error('nobody is there'))

function join(url: string, askPerson: AskPerson = NOBODY, token?: string): ChatPartner {
  return createRemoteChat({ url, token, askPerson, onNews: () => {} })
}

async function open(partner: ChatPartner, session = 's', onAside: OnAside = () => {}): Promise<Conversation> {
  const conversation = await partner.open(session, onAside)
  closers.push(() => conversation.close())
  return conversation
}

/** Records a turn's events, and answers approvals and questions as they arrive. */
async function watch(conversation: Conversation, turn: ConversationTurn): Promise<readonly string[]> {
  const shown: string[] = []
  for await (const event of turn) {
    if (event.type === 'text') shown.push(event.text)
    if (event.type === 'call') shown.push(`${event.call.name} ${event.call.status}`)
    if (event.type === 'approval-requested') await conversation.decide(event.approvalId, 'always')
    if (event.type === 'question-asked')
      await conversation.controls?.answer({ questionId: event.questionId, value: { card: 'red' } })
    if (event.type === 'turn-finished') shown.push(event.stop)
  }
  return shown
}

test('text, the tools of the server with an approval and a question, and a tool of the person', async () => {
  const pay = tool({
    name: 'pay',
    description: 'pays',
    input: NO_INPUT,
    approval: true,
    execute: async (_, { ask }) => JSON.stringify(await ask({ message: 'Which card?', schema: NO_INPUT })),
  })
  const look = tool({ name: 'look', description: 'looks', input: NO_INPUT })
  const url = await serve(
    [
      { text: 'I pay.', calls: [{ name: 'pay', arguments: {} }] },
      { calls: [{ name: 'look', arguments: {} }] },
      { text: 'Done.' },
    ],
    [pay, look],
  )
  const asked: string[] = []
  const partner = join(url, ({ name, arguments: given }) => {
    asked.push(`${name} ${given}`)
    return Promise.resolve('a red one')
  })
  const conversation = await open(partner)
  const turn = conversation.send('Pay, then look')
  const shown = await watch(conversation, turn)
  expect(shown.filter((line) => !/proposed|waiting|running|awaiting/.test(line))).toEqual([
    'I pay.',
    'pay settled',
    'look settled',
    'Done.',
    'end',
  ])
  expect(await turn.answer).toEqual({ outcome: 'answered' })
  expect(asked).toEqual(['look {}'])
})

test('what was said is asked again, taken back, copied and counted', async () => {
  let count = 0
  const url = await serve(() => ({ text: `answer ${(count += 1)}`, usage: { inputTokens: 3, outputTokens: 2 } }))
  const conversation = await open(join(url))
  const { controls } = conversation
  if (!controls) throw new Error('a session on a server has controls')
  await expect(controls.retry()).rejects.toMatchObject({ code: 'unknown_input' })
  await expect(controls.undo()).rejects.toMatchObject({ code: 'unknown_input' })
  expect(await watch(conversation, conversation.send('one'))).toEqual(['answer 1', 'end'])
  expect(await watch(conversation, await controls.retry())).toEqual(['answer 2', 'end'])
  expect(await watch(conversation, conversation.send('two'))).toEqual(['answer 3', 'end'])
  expect(await controls.usage()).toMatchObject({ inputTokens: 6, outputTokens: 4 })
  expect((await controls.status()).context.used).toBeGreaterThan(0)
  const copy = await open(join(url), await controls.fork())
  expect(copy.about).toEqual([expect.stringMatching(/^continuing session .*: 2 turns so far, model /)])
  expect(await controls.undo()).toBe('two')
  expect(await watch(conversation, conversation.send('three'))).toEqual(['answer 4', 'end'])
})

test('a failed turn gives its reason, and an interrupted one says so', async () => {
  const pieces = Array.from({ length: 2000 }, () => 'and ')
  const url = await serve([{ pieces, pieceMs: 2 }])
  const conversation = await open(join(url))
  const turn = conversation.send('talk')
  for await (const event of turn) if (event.type === 'text') break
  await conversation.interrupt()
  expect(await turn.answer).toEqual({ outcome: 'interrupted' })
  const failing = conversation.send('more')
  await watch(conversation, failing)
  await expect(failing.answer).rejects.toMatchObject({ name: 'BatonError' })
  await expect(conversation.setModel('unknown')).rejects.toMatchObject({ name: 'BatonError' })
  expect(await conversation.setModel(undefined)).toMatch(/^model ./)
})

test('a turn that was running when the chat ended continues in the next chat', async () => {
  const gate = Promise.withResolvers<string>()
  const wait = tool({ name: 'wait', description: 'waits', input: NO_INPUT, execute: () => gate.promise })
  const url = await serve([{ text: 'I wait.', calls: [{ name: 'wait', arguments: {} }] }, { text: 'Done.' }], [wait])
  const first = await open(join(url))
  for await (const event of first.send('wait')) if (event.type === 'call' && event.call.status === 'running') break
  await first.close()
  const second = await open(join(url))
  if (!second.resumed) throw new Error('a turn is running')
  const shown = watch(second, second.resumed)
  gate.resolve('waited')
  expect(await shown).toEqual(['I wait.', 'wait running', 'wait settled', 'Done.', 'end'])
  expect(await second.resumed.answer).toEqual({ outcome: 'answered' })
  expect((await open(join(url))).resumed).toBeUndefined()
})

test('the error says whether a server is missing, wants a token, or is not one', async () => {
  await expect(join('ws://127.0.0.1:9/ws').open('s', () => {})).rejects.toThrow(
    'no server answers at ws://127.0.0.1:9/ws',
  )
  const url = await serve([], [], 'secret')
  await expect(join(url).open('s', () => {})).rejects.toThrow('it may require a token')
  await expect(join(url, NOBODY, 'wrong').open('s', () => {})).rejects.toThrow('it may require another token')
  await open(join(url, NOBODY, 'secret'))
})

test('what a call in the background does after its turn comes as an aside, and its open approval to whoever joins', async () => {
  const report = tool({
    name: 'report',
    description: 'writes',
    input: NO_INPUT,
    effect: 'once',
    background: true,
    approval: true,
    execute: () => 'three pages',
  })
  const url = await serve(
    [{ calls: [{ name: 'report', arguments: {} }] }, { text: 'I write.' }, { text: 'Three pages.' }],
    [report],
  )
  const first = await open(join(url))
  const turn = first.send('report')
  const shown: string[] = []
  for await (const event of turn) if (event.type === 'text') shown.push(event.text)
  expect(shown).toEqual(['I write.'])
  const asides: string[] = []
  const done = Promise.withResolvers<void>()
  const second = await open(join(url), 's', (event) => {
    if (event?.type === 'call' && event.call.result) asides.push(`${event.call.name} ${event.call.result.type}`)
    if (event?.type === 'text') asides.push(event.text)
    if (event?.type === 'turn-finished') done.resolve()
  })
  expect(second.resumed).toBeUndefined()
  const [waiting] = second.waiting?.approvals ?? []
  expect(waiting?.call).toMatchObject({ name: 'report', input: {} })
  await second.decide(waiting?.approvalId ?? '', 'approve')
  await done.promise
  expect(asides.join('|')).toBe('report ok|Three |pages.')
})
