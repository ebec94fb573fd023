// Version 2 as its apps see it: whole conversations over the real host and real connections.
import { defineAgent, tool } from '@baton/core'
import type { ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { createMemoryStore } from '@baton/host'
import { afterEach, expect, test, vi } from 'vitest'
import { startServer } from './test-server.test-kit.ts'
import type { V2App } from './v2.test-kit.ts'
import { connectV2App, joinTexts, RefusedRequest } from './v2.test-kit.ts'

const open: { stop: () => Promise<void> }[] = []

afterEach(async () => {
  for (const one of open.splice(0)) await one.stop()
})

const camera = tool({
  name: 'camera',
  description: 'Takes a picture',
  input: { type: 'object', properties: { room: { type: 'string' } } },
  effect: 'once',
})
const look = tool({ name: 'look', description: 'Looks', input: { type: 'object', properties: {} }, effect: 'pure' })
let paid = 0
const pay = tool({
  name: 'pay',
  description: 'Pays',
  input: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
  effect: 'once',
  approval: true,
  execute: ({ amount }) => {
    paid += amount
    return `paid ${amount}`
  },
})

async function start(steps: readonly ScriptedStep[], more: Parameters<typeof startServer>[0] = {}) {
  const model = createScriptedModel({ steps })
  const server = await startServer({ agent: defineAgent({ name: 'home', model, tools: [camera, look, pay] }), ...more })
  open.push(server)
  return server
}

async function begin(url: string, session = 's', given: object = {}): Promise<V2App> {
  const app = await connectV2App(url)
  await app.request('session.open', { session, ...given })
  return app
}

const device = (name: string) => ({ device: { name } })

test('a conversation: messages are acknowledged, and the session’s events arrive', async () => {
  const { url } = await start([{ text: 'Good morning.' }])
  const app = await begin(url)
  expect(app.frames[0]).toMatchObject({ type: 'hello', protocol: 2 })
  expect(await app.request('input.send', { input: 'i1', content: 'Hello' })).toEqual({})
  const finished = await app.event('turn-finished')
  expect(finished).toMatchObject({ message: 't1', stop: 'end', text: 'Good morning.' })
  expect(joinTexts(app.events).get('t1/1')).toBe('Good morning.')
  // A repeated input is answered, and does nothing.
  await app.request('input.send', { input: 'i1', content: 'Hello' })
  const { messages } = await app.request('session.messages', {})
  expect(messages.map(({ role, id }) => [role, id])).toEqual([
    ['user', 'i1'],
    ['assistant', 't1'],
  ])
})

test('a call is offered to a device, claimed before it acts, and its result is the model’s', async () => {
  const { url } = await start([{ calls: [{ name: 'camera', arguments: { room: 'hall' } }] }, { text: 'It is empty.' }])
  const app = await begin(url, 's', device('phone'))
  await app.request('input.send', { input: 'i1', content: 'Who is there?' })
  const { call } = await app.event('call', (event) => event.call.status === 'waiting')
  expect(call).toMatchObject({ name: 'camera', runs: 'client', holder: 'phone' })
  const { callId } = call
  expect(await app.request('call.claim', { callId })).toEqual({
    call: { callId, name: 'camera', input: { room: 'hall' } },
  })
  await app.event('call', (event) => event.call.status === 'running')
  // Claimed again by the device that has it, as if an answer was lost.
  expect(await app.request('call.claim', { callId })).toMatchObject({ again: true, call: { callId } })
  await app.request('call.result', { callId, outcome: { output: { people: 0 } } })
  const { text } = await app.event('turn-finished')
  expect(text).toBe('It is empty.')
  const settled = app.events.findLast((event) => event.type === 'call')
  expect(settled).toMatchObject({ call: { result: { type: 'ok', value: { people: 0 } } } })
})

test.each([101, 3000])(
  'a result that nests %d levels is told to the model as unusable, and the session can be read',
  async (levels) => {
    const { url } = await start([{ calls: [{ name: 'camera', arguments: { room: 'hall' } }] }, { text: 'Sorry.' }])
    const app = await begin(url, 's', device('phone'))
    await app.request('input.send', { input: 'i1', content: 'Who is there?' })
    const { call } = await app.event('call', (event) => event.call.status === 'waiting')
    await app.request('call.claim', { callId: call.callId })
    const output = JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as never
    await app.request('call.result', { callId: call.callId, outcome: { output } })
    await app.event('turn-finished')
    const settled = app.events.findLast((event) => event.type === 'call')
    expect(settled).toMatchObject({ call: { result: { type: 'error', code: 'result_invalid' } } })
    const again = await begin(url, 's')
    expect((await again.request('session.messages', {})).messages).toHaveLength(2)
  },
)

test('a result that changes nothing is answered with the reason', async () => {
  const { url } = await start([{ calls: [{ name: 'camera', arguments: {} }] }, { text: 'It is empty.' }])
  const app = await begin(url, 's', device('phone'))
  const other = await begin(url, 's', device('desk'))
  const outcome = { output: { people: 0 } }
  expect(await app.request('call.result', { callId: 'call_of_nobody', outcome })).toEqual({ ignored: 'unknown' })
  await app.request('input.send', { input: 'i1', content: 'Who is there?' })
  const { call } = await app.event('call', (event) => event.call.status === 'waiting')
  const [holder, stranger] = call.holder === 'phone' ? [app, other] : [other, app]
  const { callId } = call
  await holder.request('call.claim', { callId })
  expect(await stranger.request('call.result', { callId, outcome })).toEqual({ ignored: 'foreign' })
  expect(await holder.request('call.result', { callId, outcome })).toEqual({})
  await holder.event('turn-finished')
  expect(await holder.request('call.result', { callId, outcome })).toEqual({ ignored: 'duplicate' })
})

/** A client as described by the page in one sentence: it claims what it is offered, and runs what it has claimed. */
async function runNaively(app: V2App, from: number, ran: string[]): Promise<void> {
  for (const event of app.events.slice(from)) {
    if (event.type !== 'call' || event.call.status !== 'waiting' || event.call.holder !== 'one') continue
    const { callId } = event.call
    const claimed = await app.request('call.claim', { callId }).catch((cause: unknown) => cause)
    if (claimed instanceof RefusedRequest || (claimed as { again?: true }).again) continue
    ran.push(callId)
  }
}

test.each(['claimed', 'offered'])('a call that was %s before a restart is run once', async (state) => {
  const store = createMemoryStore()
  const steps = [{ calls: [{ name: 'camera', arguments: {} }] }, { text: 'It is empty.' }]
  const first = await start(steps, { store })
  const one = await begin(first.url, 's', device('one'))
  const cursor = one.cursor()
  await one.request('input.send', { input: 'i1', content: 'Who is there?' })
  await one.event('call', (event) => event.call.status === 'waiting')
  const ran: string[] = []
  if (state === 'claimed') await runNaively(one, 0, ran)
  one.cut()
  await first.stop()
  open.splice(open.indexOf(first), 1)
  const { url } = await start([{ text: 'It is empty.' }], { store })
  for (const from of [cursor, undefined]) {
    const again = await begin(url, 's', { ...device('one'), ...(from && { from }) })
    await again.request('ping', {})
    await runNaively(again, 0, ran)
    again.cut()
  }
  expect(ran).toHaveLength(1)
})

test('an interrupt that is sent again does not end the next turn, and says what it did', async () => {
  const { url } = await start([{ hangs: 'until-aborted' }, { hangs: 'until-aborted' }])
  const app = await begin(url)
  await app.request('input.send', { input: 'i1', content: 'One' })
  await app.event('step-started', (event) => event.message === 't1')
  await app.request('input.send', { input: 'i2', content: 'Two' })
  expect(await app.request('turn.interrupt', { turn: 't1' })).toEqual({ turn: 't1' })
  await app.event('step-started', (event) => event.message === 't2')
  expect(await app.request('turn.interrupt', { turn: 't1', queue: 'withdraw' })).toEqual({})
  const { info } = await app.request('session.info', {})
  expect(info.activity).toBe('running')
  await expect(app.request('turn.interrupt', { turn: 't9' })).rejects.toThrow(
    /invalid_event: the session has no turn 9/,
  )
  await expect(app.request('turn.interrupt', { turn: 'i1' })).rejects.toThrow(
    /invalid_event: turn is not the id of an answer/,
  )
  expect(await app.request('turn.interrupt', {})).toEqual({ turn: 't2' })
  await app.event('turn-finished', (event) => event.message === 't2')
  expect(await app.request('turn.interrupt', {})).toEqual({})
})

test('a claim outlives the connection and the lease: a result of another device is foreign', async () => {
  const { url } = await start([{ calls: [{ name: 'camera', arguments: {} }] }, { text: 'It is empty.' }])
  const one = await begin(url, 's', { device: { name: 'one' } })
  await one.request('input.send', { input: 'i1', content: 'Who is there?' })
  const { call } = await one.event('call', (event) => event.call.status === 'waiting')
  const { callId } = call
  await one.request('call.claim', { callId })
  // As at the end of a lease, without the wait.
  await one.request('device.release', {})
  one.cut()
  const two = await begin(url, 's', device('two'))
  const outcome = { output: { people: 7 } }
  expect(await two.request('call.result', { callId, outcome })).toEqual({ ignored: 'foreign' })
  const again = await begin(url, 's', device('one'))
  expect(await again.request('call.result', { callId, outcome: { output: { people: 0 } } })).toEqual({})
  const settled = await two.event('call', (event) => event.call.status === 'settled')
  expect(settled).toMatchObject({ call: { result: { value: { people: 0 } } } })
})

test('a claimed call stays with its device during a lost connection, and an unclaimed one moves to another', async () => {
  const { url } = await start([
    {
      calls: [
        { name: 'camera', arguments: {} },
        { name: 'look', arguments: {} },
      ],
    },
    { text: 'Done.' },
  ])
  const phone = await begin(url, 's', device('phone'))
  await phone.request('input.send', { input: 'i1', content: 'Look' })
  const { call } = await phone.event('call', (event) => event.call.status === 'waiting')
  await phone.request('call.claim', { callId: call.callId })
  const cursor = phone.cursor()
  phone.cut()
  const again = await connectV2App(url)
  const { leaseMs } = await again.request('session.open', {
    session: 's',
    ...(cursor && { from: cursor }),
    ...device('phone'),
  })
  expect(leaseMs).toBe(60_000)
  await again.request('call.result', { callId: call.callId, outcome: { content: [{ type: 'text', text: 'nobody' }] } })
  const desk = await begin(url, 's', { from: 'turn', ...device('desk') })
  await again.request('device.release', {})
  const moved = await desk.event('call', (event) => event.call.name === 'look' && event.call.holder === 'desk')
  await desk.request('call.claim', { callId: moved.call.callId })
  await desk.request('call.result', { callId: moved.call.callId, outcome: { error: 'it is dark' } })
  await again.event('turn-finished')
  // Nothing was repeated or missed over both connections.
  const told = [...phone.events, ...again.events].filter(({ type }) => type !== 'live')
  const direct = await begin(url, 's', { from: 'start' })
  await direct.event('turn-finished')
  const past = direct.events.filter(({ type }) => type !== 'live')
  const kinds = (events: typeof told): readonly string[] => events.map(({ type }) => type).filter((t) => t !== 'text')
  expect(kinds(told)).toEqual(kinds(past))
})

test('a newer connection of a device takes its place', async () => {
  const { url } = await start([])
  const first = await begin(url, 's', device('phone'))
  await begin(url, 's', device('phone'))
  const [code] = await first.ended
  expect(code).toBe(4409)
})

test('an approval is decided, also with other arguments', async () => {
  paid = 0
  const { url } = await start([{ calls: [{ name: 'pay', arguments: { amount: 100 } }] }, { text: 'Paid.' }])
  const app = await begin(url)
  await app.request('input.send', { input: 'i1', content: 'Pay' })
  const { approvalId } = await app.event('approval-requested')
  await expect(
    app.request('approval.decide', { approvalId, decision: 'edit', input: { amount: 'much' } }),
  ).rejects.toThrow('invalid_arguments')
  await app.request('approval.decide', { approvalId, decision: 'edit', input: { amount: 7 } })
  await app.event('turn-finished')
  expect(paid).toBe(7)
})

test('a turn is interrupted with the heard text, and the history keeps only that', async () => {
  const { url } = await start([{ text: 'One two three four.' }, { text: 'Yes?' }])
  const app = await begin(url)
  await app.request('input.send', { input: 'i1', content: 'Count' })
  await app.event('turn-finished')
  await app.request('turn.interrupt', { reason: 'barge_in', heard: { type: 'chars', chars: 7 } })
  await app.request('input.send', { input: 'i2', content: 'Stop' })
  await app.event('turn-finished', ({ turn }) => turn === 2)
  const { messages } = await app.request('session.messages', {})
  expect(messages[1]).toMatchObject({ steps: [{ text: 'One two' }] })
})

test('an unheard answer is the same for early and late readers', async () => {
  const { url } = await start([{ text: 'Well, hello', hangs: 'until-aborted' }])
  const app = await begin(url)
  await app.request('input.send', { input: 'i1', content: 'Hi' })
  await app.event('text')
  await app.request('turn.interrupt', { heard: { type: 'chars', chars: 0 } })
  await app.event('turn-finished')
  expect(app.events.map(({ type }) => type)).toContain('step-reset')
  const later = await begin(url, 's', { from: 'start' })
  await later.event('turn-finished')
  expect(later.events.map(({ type }) => type)).toContain('step-reset')
  const { messages } = await later.request('session.messages', {})
  expect(messages[1]).toMatchObject({ role: 'assistant', steps: [] })
})

test('a message is edited, taken back, and the conversation copied', async () => {
  const { url } = await start([{ text: 'First.' }, { text: 'Second.' }])
  const app = await begin(url)
  await app.request('input.send', { input: 'i1', content: 'Hello' })
  await app.event('turn-finished')
  const { turn } = await app.request('input.rewind', { input: 'e1', message: 'i1', replace: 'Good evening' })
  expect(turn).toBe('e1')
  await app.event('turn-finished', ({ turn: number }) => number === 2)
  const { session } = await app.request('session.fork', {})
  await app.request('session.close', {})
  const { messages = [] } = await app.request('session.open', { session, messages: 10 })
  expect(messages.map(({ id }) => id)).toEqual(['e1', 't2'])
})

test('sessions of the principal are listed, watched, named and deleted', async () => {
  const { url } = await start([{ text: 'Hi.' }])
  const list = await connectV2App(url)
  await list.request('session.watch', {})
  const app = await begin(url, 'chat-1', { title: 'Plans' })
  await app.request('input.send', { input: 'i1', content: 'Hello' })
  await app.event('turn-finished')
  const { sessions } = await list.request('session.list', {})
  expect(sessions).toMatchObject([{ id: 'chat-1', title: 'Plans' }])
  await list.request('session.describe', { session: 'chat-1', title: 'Older plans' })
  await list.until(() =>
    list.frames.find(
      (frame) =>
        frame.type === 'session.changed' &&
        frame.change.type === 'changed' &&
        frame.change.session.title === 'Older plans',
    ),
  )
  await list.request('session.delete', { session: 'chat-1' })
  await app.until(() => app.frames.find(({ type }) => type === 'session.closed'))
  expect((await list.request('session.list', {})).sessions).toEqual([])
  await expect(list.request('session.describe', { session: 'chat-1', title: 'x' })).rejects.toThrow('unknown_session')
})

test('models and settings are chosen only where the server allows it', async () => {
  const { url } = await start([{ text: 'Hi.' }], { allow: { temperature: true } })
  const app = await begin(url)
  await expect(app.request('input.send', { input: 'i1', content: 'Hi', model: 'other' })).rejects.toMatchObject({
    frame: {
      message: 'model "other" may not be chosen here',
      hint: expect.stringContaining('--allow-model') as string,
    },
  })
  await expect(app.request('session.configure', { settings: { maxOutputTokens: 5 } })).rejects.toThrow(
    'maxOutputTokens may not be set here',
  )
  await app.request('session.configure', { settings: { temperature: 0.2 } })
})

test.each([
  ['{', 'a frame must be the JSON text of an object'],
  ['{"type":"ping"}', 'id must be text'],
  ['{"id":"x","type":"nothing"}', 'there is no request "nothing"'],
  ['{"id":"x","type":"turn.interupt"}', 'there is no request "turn.interupt"; it is called "turn.interrupt" here'],
  ['{"id":"x","type":"ping","more":1}', 'ping has no field "more"'],
  ['{"id":"x","type":"input.send","input":"i","content":"hi"}', 'this connection does not follow a session'],
  [
    '{"id":"x","type":"session.open","session":""}',
    'session must be a name of 1 to 256 characters without control characters, not ""',
  ],
  ['{"id":"x","type":"session.open","session":"s","from":{"pos":99}}', 'has no place 99'],
  ['{"id":"x","type":"session.open","session":"s","device":{"name":"d","leaseMs":1}}', 'leaseMs must be from'],
  ['{"id":"x","type":"session.open","session":"s","device":{"name":"d","runs":["none"]}}', 'has no client tool "none"'],
  [
    '{"id":"x","type":"session.open","session":"s","from":"never"}',
    'from must be "start", "turn" or "now", not "never"',
  ],
  ['{"id":"x","type":"session.open","session":"s","device":null}', 'device must be a plain object, not null'],
  ['{"id":"x","type":"turn.interrupt","heard":5}', 'heard must be a plain object, not 5'],
  ['{"id":"x","type":"session.open","session":"s","existing":0}', 'existing must be true or false, not 0'],
  [
    '{"id":"x","type":"input.send","input":"i","content":{}}',
    'content must be text or an array of parts, not an object',
  ],
  ['{"id":"x","type":"session.list","cursor":[]}', 'cursor must be text, not an array'],
  ['{"id":"x","type":"session.list","limit":0.5}', 'limit must be a whole number from 1 to 200, not 0.5'],
  ['{"id":"x","type":"session.delete"}', 'session.delete: session is missing'],
  ['{"id":"x","type":"session.open","session":"s","devise":{}}', 'it is called "device" here'],
])('what is wrong is said: %s', async (text, message) => {
  const { url } = await start([])
  const app = await connectV2App(url, { isLoose: true })
  app.sendText(text)
  const error = await app.until(() => app.frames.find(({ type }) => type === 'error'))
  expect(error).toMatchObject({ message: expect.stringContaining(message) as string })
  // The connection stays open.
  expect(await app.request('ping', {})).toEqual({})
})

test('another principal’s session is not opened', async () => {
  const { url } = await start([], {
    authenticate: ({ headers }) => ({ id: String(headers['x-user']) }),
  })
  const ann = await connectV2App(url, { headers: { 'x-user': 'ann' } })
  await ann.request('session.open', { session: 's' })
  const bob = await connectV2App(url, { headers: { 'x-user': 'bob' } })
  await expect(bob.request('session.open', { session: 's' })).rejects.toThrow(RefusedRequest)
  await expect(bob.request('session.delete', { session: 's' })).rejects.toThrow('unauthorized')
  expect((await bob.request('session.list', {})).sessions).toEqual([])
})

test('a result under the name of a present device does not affect it', async () => {
  const { host, url } = await start([{ calls: [{ name: 'camera', arguments: {} }] }, { text: 'Nobody.' }])
  const app = await begin(url, 's', device('phone'))
  const other = await begin(url, 's')
  const before = await host.session('s')
  const { pos } = (await before.info()).head
  await other.request('call.result', { callId: 'none', outcome: { output: 1 }, device: 'phone' })
  // The log only gains the result: the device was not attached again.
  expect((await before.info()).head.pos).toBe(pos + 1)
  await app.request('input.send', { input: 'i1', content: 'Who is there?' })
  const { call } = await app.event('call', (event) => event.call.status === 'waiting')
  expect(call.holder).toBe('phone')
})

test('a device that attaches again has only its newly named tools', async () => {
  const steps = ['camera', 'look', 'camera'].flatMap((name) => [
    { calls: [{ name, arguments: {} }] },
    { text: 'Done.' },
  ])
  const model = createScriptedModel({ steps })
  const server = await startServer({ agent: defineAgent({ name: 'home', model, tools: [camera, look, pay] }) })
  open.push(server)
  const app = await begin(server.url, 's', { device: { name: 'phone', runs: [] } })
  const ask = async (turn: number): Promise<string | undefined> => {
    const message = `t${turn}`
    await app.request('input.send', { input: `i${turn}`, content: 'Go' })
    const { call } = await app.event(
      'call',
      (event) => event.call.message === message && event.call.status === 'waiting',
    )
    await app.request('call.claim', { callId: call.callId })
    await app.request('call.result', { callId: call.callId, outcome: { output: 1 } })
    await app.event('turn-finished', (event) => event.message === message)
    return call.holder
  }
  const hadTorch = (): unknown => model.requests.at(-1)?.tools.some(({ name }) => name === 'torch')
  await app.request('device.attach', { name: 'phone', runs: ['camera'] })
  expect(await ask(1)).toBe('phone')
  const torch = { name: 'torch', description: 'Switches the torch', inputSchema: { type: 'object' } }
  await app.request('device.attach', { name: 'phone', tools: [torch] })
  expect([await ask(2), hadTorch()]).toEqual(['phone', true])
  await app.request('device.attach', { name: 'phone' })
  expect([await ask(3), hadTorch()]).toEqual(['phone', false])
})

test('a frame with the words of a call in it is counted like any other, and so is a result of no call', async () => {
  const { url } = await start([{ calls: [{ name: 'camera', arguments: {} }] }, { text: 'Nobody.' }], {
    limits: { addressFramesPerMinute: 5 },
  })
  const app = await begin(url, 's', device('phone'))
  await app.request('input.send', { input: 'i1', content: 'Who is there?' })
  const { callId } = (await app.event('call', (event) => event.call.status === 'waiting')).call
  const meta = { type: 'call.claim' }
  for (let count = 0; count < 3; count++) await app.request('session.describe', { meta })
  const refused: unknown = await app.request('session.describe', { meta }).catch((cause: unknown) => cause)
  expect(refused).toMatchObject({ frame: { code: 'rate_limited', retryable: true } })
  const { retryAfterMs = 0 } = (refused as RefusedRequest).frame // as the line above says
  // Five frames a minute: one in twelve seconds.
  expect(retryAfterMs).toBeGreaterThan(0)
  expect(retryAfterMs).toBeLessThanOrEqual(12_000)
  const outcome = { output: { people: 0 } }
  await expect(app.request('call.result', { callId: 'none', outcome })).rejects.toThrow('rate_limited')
  await app.request('call.claim', { callId })
  expect(await app.request('call.result', { callId, outcome })).toEqual({})
})

test.each([
  [{ output: 1, error: '' }, 'not output and error together'],
  [{ output: 1, error: null }, 'not output and error together'],
  [{ content: [], output: 1 }, 'not content and output together'],
  [{ output: 1, isError: true }, 'outcome has no field "isError"'],
  [{ error: 5 }, 'or { error: "…" }'],
  [{}, 'or { error: "…" }'],
])('an outcome that is not exactly one of its kinds is refused, and the call stays open: %j', async (outcome, told) => {
  const { url } = await start([{ calls: [{ name: 'camera', arguments: {} }] }, { text: 'Nobody.' }])
  const app = await connectV2App(url, { isLoose: true })
  await app.request('session.open', { session: 's', ...device('phone') })
  await app.request('input.send', { input: 'i1', content: 'Who is there?' })
  const { callId } = (await app.event('call', (event) => event.call.status === 'waiting')).call
  await app.request('call.claim', { callId })
  const wrong = outcome as unknown as { output: number } // as a client in another language may write it
  await expect(app.request('call.result', { callId, outcome: wrong })).rejects.toThrow(told)
  await app.request('call.result', { callId, outcome: { output: { people: 0 } } })
  const settled = await app.event('call', (event) => event.call.status === 'settled')
  expect(settled.call.result).toMatchObject({ type: 'ok', value: { people: 0 } })
})

test('a field of a request that has none is refused, and the hint says so', async () => {
  const { url } = await start([{ text: 'Hello.' }])
  const app = await connectV2App(url, { isLoose: true })
  await expect(app.request('ping', { extra: 1 } as object)).rejects.toMatchObject({
    frame: { message: 'ping has no field "extra"', hint: 'It has no fields.' },
  })
})

test('a session that does not exist is refused with words that say what to do', async () => {
  const { url } = await start([{ text: 'Hello.' }])
  const app = await connectV2App(url)
  await expect(app.request('session.open', { session: 'none', existing: true })).rejects.toMatchObject({
    frame: {
      code: 'unknown_session',
      message: 'there is no such session: it was deleted, or never created',
      hint: 'Open it without `existing` to create it.',
    },
  })
})

test('a result with an invalid call id is refused', async () => {
  const { url } = await start([{ text: 'Hello.' }])
  const app = await connectV2App(url, { isLoose: true })
  await app.request('session.open', { session: 's', ...device('phone') })
  const callId = {} as unknown as string // as a hostile app sends it
  await expect(app.request('call.result', { callId, outcome: { output: 1 } })).rejects.toThrow(
    'callId must be text, not an object',
  )
})

test('an app that reads too slowly is disconnected', async () => {
  const { host, url } = await start([{ text: 'x'.repeat(4000) }], { limits: { outgoingBytes: 6000 } })
  let reads = 0
  const open = host.session.bind(host)
  vi.spyOn(host, 'session').mockImplementation(async (...given) => {
    const session = await open(...given)
    const read = session.messages.bind(session)
    session.messages = (query) => {
      reads += 1
      return read(query)
    }
    return session
  })
  const app = await begin(url)
  await app.request('input.send', { input: 'i1', content: 'Hello' })
  await app.event('turn-finished')
  for (let id = 0; id < 200; id++) app.sendText(JSON.stringify({ id: `q${id}`, type: 'session.messages' }))
  expect((await app.ended)[0]).toBe(1013)
  expect(reads).toBeLessThan(50)
})

test('names of sessions and requests have bounds, and none that an address would lose', async () => {
  const { url } = await start([])
  const app = await connectV2App(url)
  // As text, because this app's requests must fit the schema.
  const tell = async (frame: object): Promise<string | undefined> => {
    const { length } = app.frames
    app.sendText(JSON.stringify(frame))
    await expect.poll(() => app.frames.length).toBeGreaterThan(length)
    return app.frames[length]?.type
  }
  for (const session of ['.', '..', 'a\nb', 'x'.repeat(257), ''])
    expect([session, await tell({ id: 'x', type: 'session.open', session })]).toEqual([session, 'error'])
  await app.request('session.open', { session: 'x'.repeat(256) })
  expect(await tell({ id: 'x'.repeat(128), type: 'ping' })).toBe('ok')
  expect(await tell({ id: 'x'.repeat(129), type: 'ping' })).toBe('error')
})

test('every opening gives `live` once, behind the past', async () => {
  const { url } = await start([{ text: 'Good morning.' }, { text: 'Good evening.' }])
  const app = await begin(url)
  await app.request('input.send', { input: 'i1', content: 'Hello' })
  const { cursor } = await app.event('turn-finished')
  for (const given of [{ from: 'start' }, { from: 'turn' }, { from: 'now' }, { from: cursor }, { messages: 5 }, {}]) {
    const reader = await begin(url, 's', given)
    await reader.event('live')
    const past = reader.events.length
    // Opening again over the same connection sends another `live`.
    await reader.request('session.close', {})
    await reader.request('session.open', { session: 's', from: 'turn' })
    await expect.poll(() => reader.events.slice(past).filter(({ type }) => type === 'live').length).toBe(1)
    expect(reader.events.slice(0, past).filter(({ type }) => type === 'live')).toHaveLength(1)
  }
  await app.request('input.send', { input: 'i2', content: 'And now?' })
  await app.event('turn-finished', ({ message }) => message === 't2')
  expect(app.events.filter(({ type }) => type === 'live')).toHaveLength(1)
})

test('each input is told once as added, waits, and enters or is withdrawn', async () => {
  const { url } = await start([
    { calls: [{ name: 'pay', arguments: { amount: 1 } }] },
    { text: 'Good morning.' },
    { text: 'Good evening.' },
  ])
  const app = await begin(url)
  const reader = await begin(url)
  await app.request('input.send', { input: 'i1', content: 'Hello' })
  const { approvalId } = await app.event('approval-requested')
  for (const input of ['i2', 'i3', 'i2', 'i3']) await app.request('input.send', { input, content: 'And now?' })
  await app.request('input.withdraw', { input: 'i3' })
  await app.request('approval.decide', { approvalId, decision: 'deny' })
  await reader.event('turn-finished', ({ message }) => message === 't2')
  const told = reader.events.flatMap((event) => {
    if (event.type === 'message-added') return event.message.role === 'user' ? [`added ${event.message.id}`] : []
    return event.type === 'message-entered' || event.type === 'message-withdrawn'
      ? [`${event.type} ${event.message}`]
      : []
  })
  expect(told.filter((one) => one.endsWith('i1'))).toEqual(['added i1', 'message-entered i1'])
  expect(told.filter((one) => one.endsWith('i2'))).toEqual(['added i2', 'message-entered i2'])
  expect(told.filter((one) => one.endsWith('i3'))).toEqual(['added i3', 'message-withdrawn i3'])
})

test('a session that must exist is not made', async () => {
  const { url } = await start([])
  const app = await connectV2App(url)
  await expect(app.request('session.open', { session: 'none', existing: true })).rejects.toThrow('unknown_session')
  expect(await app.request('session.list', {})).toMatchObject({ sessions: [] })
  await app.request('session.open', { session: 'none' })
})

test('a device may have its place for 5 seconds to an hour', async () => {
  const { url } = await start([])
  const app = await connectV2App(url)
  const open = (leaseMs: number) => app.request('session.open', { session: 's', device: { name: 'd', leaseMs } })
  for (const leaseMs of [4999, 3_600_001]) await expect(open(leaseMs)).rejects.toThrow('leaseMs must be from 5000')
  await open(5000)
  await (await connectV2App(url)).request('session.open', { session: 't', device: { name: 'e', leaseMs: 3_600_000 } })
})
