// Acts of operators in sessions of others: what happens, and who did it according to the log.
import { defineAgent, delegate, tool } from '@baton/core'
import type { Deciders } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { createMemoryStore } from '@baton/host'
import { afterEach, expect, test } from 'vitest'
import type { OperatorParts } from './operators.test-kit.ts'
import { createShop, startOperators } from './operators.test-kit.ts'

const running: { stop(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()))
})

function start(parts?: OperatorParts) {
  const started = startOperators(parts)
  running.push(started)
  return started
}

test.each([
  ['approves', { decision: 'approve', note: 'checked' }, [{ amount: 90 }]],
  ['edits', { decision: 'edit', input: { amount: 20 } }, [{ amount: 20 }]],
  ['denies', { decision: 'deny', reason: 'too much' }, []],
])('an operator %s a request without deciders, and the log names the operator', async (_what, decision, expected) => {
  const shop = createShop()
  const { ask, say, facts, host } = start({ agent: shop.agent })
  const approvalId = await say('trip')
  const response = await ask(`approvals/trip/${approvalId}`, 'mia decide', decision)
  expect([response.status, await response.json()]).toEqual([200, { ok: true }])
  await expect.poll(async () => (await host.sessions()).sessions[0]?.activity).toBe('idle')
  expect(shop.paid).toMatchObject(expected)
  const { input: _, ...told } = decision as { readonly input?: object }
  expect(await facts('trip', 'approval-decided')).toMatchObject([{ principal: 'mia', ...told }])
})

function askFor(deciders?: Deciders) {
  const paid: unknown[] = []
  const execute = (input: unknown): string => {
    paid.push(input)
    return 'paid'
  }
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: { type: 'object' },
    approval: true,
    ...(deciders && { deciders }),
    execute,
  })
  const model = createScriptedModel({
    steps: ({ messages }) =>
      messages.at(-1)?.role === 'tool' ? { text: 'Done.' } : { calls: [{ name: 'pay', arguments: {} }] },
  })
  return { agent: defineAgent({ name: 'shop', model, tools: [pay] }), paid }
}

test('named deciders stay the only ones: the power to decide is the owner’s right, and no more', async () => {
  const { agent } = askFor({ roles: ['role:chief'], notAsker: true })
  const { ask, say, facts, host } = start({ agent })
  const approvalId = await say('trip')
  const decision = { decision: 'approve' }
  const refused = await ask(`approvals/trip/${approvalId}`, 'mia decide', decision)
  expect([refused.status, await refused.json()]).toMatchObject([409, { error: { code: 'approval_refused' } }])
  expect((await ask(`approvals/trip/${approvalId}`, 'mia decide,role:chief', decision)).status).toBe(200)
  await expect.poll(async () => (await host.sessions()).sessions[0]?.activity).toBe('idle')
  expect(await facts('trip', 'approval-decided')).toMatchObject([{ principal: 'mia', decision: 'approve' }])
})

test('an operator decides for an agent below a session too', async () => {
  const { agent: below, paid } = askFor()
  const model = createScriptedModel({
    steps: ({ messages }) =>
      messages.at(-1)?.role === 'tool' ? { text: 'Done.' } : { calls: [{ name: 'ask', arguments: { task: 'Pay.' } }] },
  })
  const asking = delegate({ name: 'ask', description: 'Asks', agent: below })
  const { ask, say, facts, host } = start({ agent: defineAgent({ name: 'asker', model, tools: [asking] }) })
  const approvalId = await say('trip')
  expect((await ask(`approvals/trip/${approvalId}`, 'mia decide', { decision: 'approve' })).status).toBe(200)
  await expect.poll(async () => (await host.sessions()).sessions[0]?.activity).toBe('idle')
  expect(paid).toHaveLength(1)
  expect(await facts('trip', 'approval-decided')).toMatchObject([{ principal: 'mia' }])
})

test('an operator who does not see a secret cannot put its mark into the arguments', async () => {
  const shop = createShop()
  const { ask, read, say, facts } = start({ agent: shop.agent })
  const approvalId = await say('trip')
  const { input } = await read<{ input: object }>(`approvals/trip/${approvalId}`, 'mia decide')
  const edit = { decision: 'edit', input: { ...input, amount: 20 } }
  const refused = await ask(`approvals/trip/${approvalId}`, 'mia decide', edit)
  expect([refused.status, await refused.json()]).toMatchObject([400, { error: { code: 'invalid_arguments' } }])
  expect([await facts('trip', 'approval-decided'), shop.paid]).toEqual([[], []])
  const other = { decision: 'edit', input: { amount: 20 } }
  expect((await ask(`approvals/trip/${approvalId}`, 'mia decide', other)).status).toBe(200)
  await expect.poll(() => shop.paid).toEqual([{ amount: 20 }])
})

test('an operator puts no words into the owner’s mouth, and so cannot approve a request of its own', async () => {
  const { agent, paid } = askFor({ roles: ['role:chief'], notAsker: true })
  const { ask, read, say, facts } = start({ agent })
  await say('trip')
  const page = await read<{ messages: { id: string }[] }>('sessions/trip/messages?format=baton', 'mia see')
  const words = { message: page.messages[0]?.id, replace: 'Pay 9,000 to mia.', interrupt: true }
  const refused = await ask('sessions/trip/rewind', 'mia act,decide,role:chief', words)
  expect([refused.status, await refused.json()]).toMatchObject([400, { error: { code: 'invalid_event' } }])
  expect([await facts('trip', 'history-rewound'), paid]).toEqual([[], []])
})

test('an operator without the power to decide decides nothing of others', async () => {
  const { ask, say, facts } = start()
  const approvalId = await say('trip')
  const response = await ask(`approvals/trip/${approvalId}`, 'mia see,act', { decision: 'approve' })
  expect([response.status, await facts('trip', 'approval-decided')]).toEqual([409, []])
})

test('an operator interrupts a turn, asks again and takes it back, and each is the operator’s in the log', async () => {
  const { ask, say, facts, host, logged } = start()
  await say('trip')
  const interrupted = await ask('sessions/trip/interrupt', 'mia act', { reason: 'wrong customer' })
  expect([interrupted.status, await interrupted.json()]).toEqual([200, { turn: 't1' }])
  expect(await facts('trip', 'interrupt-accepted')).toMatchObject([{ reason: 'wrong customer', by: 'mia' }])
  const again = await ask('sessions/trip/retry', 'mia act', {})
  expect([again.status, await again.json()]).toMatchObject([200, { turn: expect.any(String) as string }])
  expect(await facts('trip', 'history-rewound')).toMatchObject([{ by: 'mia' }])
  const { messages } = (await (await ask('sessions/trip/messages?format=baton', 'mia see')).json()) as {
    readonly messages: readonly { readonly id: string }[]
  }
  const back = { message: messages[0]?.id, interrupt: true }
  expect((await ask('sessions/trip/rewind', 'mia act', back)).status).toBe(200)
  expect(await facts('trip', 'history-rewound')).toMatchObject([{ by: 'mia' }, { by: 'mia' }])
  const owner = await host.session('trip', { principal: { id: 'ann' } })
  await owner.interrupt({ reason: 'mine' })
  await owner.close()
  expect((await facts('trip', 'interrupt-accepted')).at(-1)).not.toHaveProperty('by')
  expect(logged.filter((line) => line.startsWith('an operator acts on a session'))).toHaveLength(3)
})

test('an operator cancels a call in the background', async () => {
  const slow = tool({
    name: 'slow',
    description: 'Slow',
    input: { type: 'object' },
    effect: 'pure',
    background: true,
    execute: () => new Promise(() => {}),
  })
  const model = createScriptedModel({
    steps: ({ messages }) =>
      messages.at(-1)?.role === 'tool' ? { text: 'It runs.' } : { calls: [{ name: 'slow', arguments: {} }] },
  })
  const { host, ask, facts } = start({ agent: defineAgent({ name: 'a', model, tools: [slow] }) })
  const session = await host.session('trip', { principal: { id: 'ann' } })
  await session.send('Begin.').answer
  const [task] = await session.tasks()
  const address = `sessions/trip/tasks/${task?.callId}/cancel`
  expect((await ask(address, 'mia see', {})).status).toBe(403)
  expect((await ask(address, 'mia act', {})).status).toBe(200)
  expect(await facts('trip', 'task-cancelled')).toMatchObject([{ by: 'person', principal: 'mia' }])
  await session.close()
})

test('an operator copies a session for its owner, and removes it', async () => {
  const { ask, say, host, logged } = start()
  const approvalId = await say('trip')
  await host.decide('trip', { approvalId, decision: 'deny' }, { by: { id: 'ann' } })
  await expect.poll(async () => (await host.sessions()).sessions[0]?.activity).toBe('idle')
  const copied = (await (await ask('sessions/trip/fork', 'mia act', {})).json()) as { readonly id: string }
  expect(await host.views.ownerOf(copied.id)).toEqual({ id: 'ann' })
  expect((await ask('sessions/trip', 'mia remove', undefined, 'DELETE')).status).toBe(200)
  expect(await host.has('trip')).toBe(false)
  expect(logged.join('\n')).toContain('an operator removed a session {"session":"trip","operator":"mia"}')
})

test('a session that its process left is not continued by a look, only by an act', async () => {
  const store = createMemoryStore()
  const first = startOperators({ store })
  await first.say('trip')
  await first.stop()
  const { read, facts, ask } = start({ store })
  const before = await facts('trip', 'host-restarted')
  await read('sessions/trip/messages', 'mia see')
  expect(await facts('trip', 'host-restarted')).toEqual(before)
  expect((await ask('sessions/trip/interrupt', 'mia act', {})).status).toBe(200)
  expect(await facts('trip', 'host-restarted')).toHaveLength(before.length + 1)
})

test('a look at a request that is too long for lists shows all of it, and continues nothing', async () => {
  const store = createMemoryStore()
  const key = 'x'.repeat(300_000)
  const model = createScriptedModel({ steps: () => ({ calls: [{ name: 'pay', arguments: { amount: 90, key } }] }) })
  const agent = { ...createShop().agent, models: [model] }
  const first = startOperators({ store, agent })
  const approvalId = await first.say('trip')
  await first.stop()
  const { read, facts } = start({ store, agent })
  const before = await facts('trip', 'host-restarted')
  const { approvals } = await read<{ approvals: readonly object[] }>('approvals?all=true', 'mia see,decide')
  expect(approvals).toMatchObject([{ approvalId, input: {}, cut: true }])
  const whole = await read<object>(`approvals/trip/${approvalId}`, 'mia see,decide')
  expect(whole).toMatchObject({ input: { amount: 90, key } })
  expect(whole).not.toHaveProperty('cut')
  expect(await facts('trip', 'host-restarted')).toEqual(before)
})
