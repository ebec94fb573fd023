// Clients without a connection: they hold their place by a lease, bring tools of their own, and only they run them.
import { tool } from '@baton/core'
import { expect } from 'vitest'
import { CALL, listCalls, resultsTold } from './situation-parts.ts'
import type { Situations } from './situation.ts'

const LOOK = tool({ name: 'look', description: 'Looks', input: { type: 'object' }, effect: 'pure', timeoutMs: 600_000 })

const done = { type: 'ok', content: [{ type: 'text', text: 'seen' }] } as const

export const LEASE_CLIENT_SITUATIONS: Situations = {
  'a client that comes now and then claims its call, brings the result, and is known by its name': async ({
    createWorld,
  }) => {
    const world = await createWorld({ tools: [LOOK], steps: [listCalls('look'), { text: 'done' }] })
    const session = await world.open()
    const turn = session.send('go')
    await world.time.settle()
    const first = await session.client({ client: 'web', leaseMs: 60_000 })
    expect(first.calls()).toMatchObject([{ name: 'look', callId: CALL }])
    expect(await first.claim(CALL)).toMatchObject({ name: 'look', arguments: '{}' })
    await world.time.pass(40_000)
    // The next request has a handle of its own.
    const again = await (await world.open()).client({ client: 'web', leaseMs: 60_000 })
    await world.time.pass(40_000)
    expect(await again.result(CALL, done)).toMatchObject({ type: 'accepted' })
    await world.time.until(turn.answer)
    expect(resultsTold(world.model)).toEqual([{ isError: false, text: 'seen' }])
  },
  'a client that does not renew its lease is gone, and its call goes to another one': async ({ createWorld }) => {
    const world = await createWorld({ tools: [LOOK], steps: [listCalls('look'), { text: 'done' }] })
    const session = await world.open()
    const slow = await session.client({ client: 'slow', leaseMs: 60_000 })
    const turn = session.send('go')
    await world.time.settle()
    expect(slow.calls()).toHaveLength(1)
    await world.time.pass(60_001)
    await expect(slow.claim(CALL)).rejects.toMatchObject({ name: 'BatonError' })
    const other = await session.client({ client: 'other' })
    // Over a service the offer may come after the greeting.
    await world.time.settle()
    expect(other.calls()).toHaveLength(1)
    await other.claim(CALL)
    await other.result(CALL, done)
    await world.time.until(turn.answer)
  },
  'a tool that a client brings is offered to the model, and runs on that client alone': async ({ createWorld }) => {
    const steps = [listCalls('camera'), { text: 'done' }]
    const world = await createWorld({
      steps,
      approvalPolicy: ({ tool: { trust } }) => (trust === 'untrusted' ? 'allow' : 'ask'),
    })
    const session = await world.open()
    const camera = { name: 'camera', description: 'Takes a picture', inputSchema: { type: 'object' } }
    const phone = await session.client({ client: 'phone', tools: [camera] })
    const desk = await session.client({ client: 'desk' })
    const turn = session.send('go')
    await world.time.settle()
    expect(world.model.requests[0]?.tools.map(({ name }) => name)).toEqual(['camera'])
    expect([phone.calls().length, desk.calls().length]).toEqual([1, 0])
    await expect(desk.claim(CALL)).rejects.toMatchObject({ name: 'BatonError' })
    await phone.claim(CALL)
    await phone.result(CALL, done)
    await world.time.until(turn.answer)
    const told = world.model.requests[1]?.messages.at(-1)
    expect(told).toMatchObject({ parts: [{ provenance: { trust: 'untrusted', source: 'phone' } }] })
  },
  'what a client says wrongly of itself is refused by the name of its field': async ({ createWorld }) => {
    const session = await (await createWorld({ steps: [] })).open()
    await expect(session.client({ client: '' })).rejects.toMatchObject({ code: 'invalid_event' })
    const broken = { name: 'x', description: 'x', inputSchema: { type: 'string' } }
    await expect(session.client({ client: 'a', tools: [broken] })).rejects.toThrow(/inputSchema/)
    await expect(session.client({ client: 'a', leaseMs: Number.NaN })).rejects.toThrow(/leaseMs/)
  },
}
