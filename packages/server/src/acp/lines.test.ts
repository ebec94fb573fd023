// A client that only knows lines of JSON, and clients that send nonsense, too much, or nothing.
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createMemoryStore, createNodeEnvironment } from '@baton/host'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test, vi } from 'vitest'
import type { AcpLimits } from './options.ts'
import { serveAcpOverStdio } from './stdio.ts'

interface Message {
  readonly id?: unknown
  readonly method?: string
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
  readonly params?: { readonly update?: Readonly<Record<string, unknown>> }
}

function start(limits: Partial<AcpLimits> = {}, store = createMemoryStore()) {
  const model = createScriptedModel({
    steps: ({ messages }) =>
      JSON.stringify(messages.at(-1)).includes('think')
        ? { text: 'I think', hangs: 'until-aborted' }
        : { text: 'Hello.' },
  })
  const agent = defineAgent({ name: 'coder', model })
  const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) })
  const host = createHost({ environment, agent, store })
  const [input, output] = [new PassThrough(), new PassThrough()]
  const server = serveAcpOverStdio(host, { agent, input, output, limits })
  const messages: Message[] = []
  let wake = Promise.withResolvers<void>()
  createInterface({ input: output }).on('line', (line) => {
    messages.push(JSON.parse(line) as Message) // whatever it is
    wake.resolve()
    wake = Promise.withResolvers()
  })
  const until = async (find: (message: Message) => boolean): Promise<Message> => {
    for (;;) {
      const found = messages.find(find)
      if (found) return found
      await wake.promise
    }
  }
  const write = (line: string): void => void input.write(`${line}\n`)
  const say = (id: unknown, method: string, params?: object): Promise<Message> => {
    write(JSON.stringify({ jsonrpc: '2.0', id, method, ...(params && { params }) }))
    return until((message) => message.id === id && message.method === undefined)
  }
  const stop = async (): Promise<void> => {
    input.end()
    await server.ended
    await host.stop()
  }
  return { host, server, input, output, messages, until, write, say, stop, store }
}

const PLACE = { cwd: '/work', mcpServers: [] }
const textPrompt = (sessionId: unknown, text: string) => ({ sessionId, prompt: [{ type: 'text', text }] })

test('a turn in plain lines', async () => {
  const { say, messages, stop } = start()
  expect((await say(0, 'initialize', { protocolVersion: 1 })).result).toMatchObject({ protocolVersion: 1 })
  const { result } = await say('a', 'session/new', PLACE)
  const answer = await say(2, 'session/prompt', textPrompt(result?.['sessionId'], 'Hi'))
  expect(answer.result).toEqual({ stopReason: 'end_turn' })
  const chunks = messages.filter(({ params }) => params?.update?.['sessionUpdate'] === 'agent_message_chunk')
  expect(JSON.stringify(chunks)).toContain('Hello.')
  await stop()
})

test('a client that writes its requests and closes its output gets the answers', async () => {
  const [requests, answers] = [new PassThrough(), new PassThrough()]
  const agent = defineAgent({ name: 'coder', model: createScriptedModel({ steps: [] }) })
  const host = createHost({ agent })
  // The agent is created long after the input has ended.
  const agentOf = async () => {
    await once(requests, 'end')
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => void setImmediate(resolve))
    return agent
  }
  const server = serveAcpOverStdio(host, { agentOf, name: 'coder', input: requests, output: answers })
  requests.write(
    `${JSON.stringify({ jsonrpc: '2.0', id: 'a', method: 'initialize', params: { protocolVersion: 1 } })}\n`,
  )
  requests.end(`${JSON.stringify({ jsonrpc: '2.0', id: 'b', method: 'session/new', params: PLACE })}\n`)
  await server.ended
  answers.end()
  const lines = (await text(answers))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Message)
  expect(lines.map(({ id, result }) => [id, result !== undefined])).toEqual([
    ['a', true],
    ['b', true],
  ])
  await host.stop()
})

test('lines that are not messages are answered, and the connection stays open', async () => {
  const { say, write, until, messages, stop } = start()
  expect((await say(0, 'session/new', PLACE)).error?.code).toBe(-32_600)
  await say('first', 'initialize', { protocolVersion: 1 })
  write('nonsense')
  write('{"jsonrpc":')
  write('[]')
  write('42')
  write('')
  write('{"jsonrpc":"2.0","method":"no/such/notification"}')
  write('{"jsonrpc":"1.0","id":7}')
  write('{"jsonrpc":"2.0","id":"never asked","result":{}}')
  expect((await say(1, 'no/such/method')).error?.code).toBe(-32_601)
  expect((await say(2, 'session/prompt', { sessionId: 5 })).error?.code).toBe(-32_602)
  expect((await say(3, 'session/prompt', textPrompt('unknown', 'Hi'))).error).toMatchObject({
    code: -32_002,
    data: { code: 'unknown_session' },
  })
  await until(({ error }) => error?.code === -32_700)
  expect(messages.filter(({ id }) => id === null).map(({ error }) => error?.code)).toEqual(
    expect.arrayContaining([-32_700, -32_700, -32_600, -32_600]),
  )
  expect((await say(4, 'session/new', PLACE)).result).toBeDefined()
  await stop()
})

test('a line over the bound is passed over, in pieces too, and the next one is read', async () => {
  const { say, input, write, until, stop } = start({ messageBytes: 1000 })
  input.write('{"jsonrpc":"2.0","id":1,"method":"')
  for (let piece = 0; piece < 100; piece++) input.write('x'.repeat(1000))
  write('"}')
  expect((await until(({ id }) => id === null)).error).toMatchObject({
    code: -32_600,
    message: expect.stringContaining('1000 bytes') as string,
  })
  expect((await say(2, 'initialize', { protocolVersion: 1 })).result).toBeDefined()
  await stop()
})

test('a flood of requests meets its bound, and all are answered', async () => {
  const { say, stop, messages } = start({ requests: 8 })
  await say(0, 'initialize', { protocolVersion: 1 })
  const { result } = await say(1, 'session/new', PLACE)
  const asked = Array.from({ length: 200 }, (_, index) =>
    say(`p${index}`, 'session/prompt', textPrompt(result?.['sessionId'], 'Hi')),
  )
  const answers = await Promise.all(asked)
  expect(answers.every((answer) => answer.result !== undefined || answer.error !== undefined)).toBe(true)
  expect(answers.some(({ error }) => error?.message.includes('8 requests'))).toBe(true)
  expect(messages.filter(({ id }) => typeof id === 'string' && id.startsWith('p'))).toHaveLength(200)
  await stop()
})

test('prompts and sessions have bounds', async () => {
  const { say, until, write, stop } = start({ prompts: 1, sessions: 1 })
  await say(0, 'initialize', { protocolVersion: 1 })
  const { result } = await say(1, 'session/new', PLACE)
  expect((await say(2, 'session/new', PLACE)).error?.data).toMatchObject({ code: 'quota_exceeded' })
  const id = result?.['sessionId']
  const first = say(3, 'session/prompt', textPrompt(id, 'think'))
  await until(({ params }) => params?.update?.['sessionUpdate'] === 'agent_message_chunk')
  expect((await say(4, 'session/prompt', textPrompt(id, 'more'))).error?.data).toMatchObject({ code: 'queue_full' })
  write(JSON.stringify({ jsonrpc: '2.0', method: '$/cancel_request', params: { requestId: 3 } }))
  expect((await first).result).toEqual({ stopReason: 'cancelled' })
  await stop()
})

test('a client that leaves in mid-turn lets the server end, and the session is whole for the next one', async () => {
  const first = start()
  await first.say(0, 'initialize', { protocolVersion: 1 })
  const { result } = await first.say(1, 'session/new', PLACE)
  const id = result?.['sessionId']
  void first.say(2, 'session/prompt', textPrompt(id, 'think'))
  await first.until(({ params }) => params?.update?.['sessionUpdate'] === 'agent_message_chunk')
  await first.stop()

  const second = start({}, first.store)
  await second.say(0, 'initialize', { protocolVersion: 1 })
  expect((await second.say(1, 'session/load', { sessionId: id, ...PLACE })).result).toBeDefined()
  // A request that was cut off by the client's leaving is sent again, and can be cancelled.
  second.write(JSON.stringify({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: id } }))
  expect((await second.say(2, 'session/prompt', textPrompt(id, 'Hi'))).result).toEqual({ stopReason: 'end_turn' })
  await second.stop()
})

test('a client that does not read is not read from either, and does not delay the end', async () => {
  const { input, server, host, output } = start()
  output.pause()
  output.removeAllListeners('data')
  for (let line = 0; line < 5000; line++) input.write('nonsense\n')
  await new Promise((resolve) => void setImmediate(resolve))
  expect(output.readableLength + output.writableLength).toBeLessThan(1_000_000)
  await server.close()
  await host.stop()
})

test('an answer to what was never asked is not printed', async () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
  const { write, say, stop } = start()
  for (const id of ['\u001b[2Jgone', null, ['\u001b[2Jgone']]) write(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
  expect(await say(1, 'initialize', { protocolVersion: 1 })).toMatchObject({ result: { protocolVersion: 1 } })
  await stop()
  expect(printed.mock.calls).toEqual([])
  printed.mockRestore()
})
