// Clients without a connection: they hold their place by a lease, provide their own tools, and only they run them.
import type { FrontSession } from '@baton/core/internal'
import { tool } from '@baton/core'
import { expect } from 'vitest'
import type { ContractWorld } from './host-kind.ts'
import { CALL, connectApp, listCalls, resultsTold } from './situation-parts.ts'
import type { Situations } from './situation.ts'
import { forEachRow } from './situation.ts'

const LOOK = tool({ name: 'look', description: 'Looks', input: { type: 'object' }, effect: 'pure', timeoutMs: 600_000 })

const done = { type: 'ok', content: [{ type: 'text', text: 'seen' }] } as const

/** A tool whose calls wait long enough for a lease to end. */
export const SPAWN = tool({
  name: 'spawn',
  description: 'Starts an agent',
  input: { type: 'object' },
  effect: 'once',
  timeoutMs: 600_000,
})

const forged = { type: 'ok', content: [{ type: 'text', text: 'forged' }] } as const

/** Ways in which an uninvolved party can submit a result through a session. */
export const STRANGERS: readonly (readonly [string, (session: FrontSession) => Promise<unknown>])[] = [
  ['a client with a lease', async (session) => await (await session.client({ client: 'two' })).result(CALL, forged)],
  ['a client without handlers', async (session) => await (await session.attach()).result(CALL, forged)],
  [
    'an app of version 1',
    async (session) => {
      const app = connectApp(session, { connection: 'app', sequential: true })
      await app.attach()
      await app.result(CALL, forged)
    },
  ],
]

/** The forged result was ignored, and the holder's own one counts. */
export async function expectOwnResult({ facts, model, time }: ContractWorld, session: FrontSession): Promise<void> {
  expect((await facts('result-ignored')).map(({ reason }) => reason)).toEqual(['foreign'])
  const holder = await session.client({ client: 'one', leaseMs: 60_000 })
  expect(await holder.result(CALL, done)).not.toHaveProperty('ignored')
  await time.settle()
  expect(resultsTold(model).at(-1)).toEqual({ isError: false, text: 'seen' })
}

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
    expect(first.calls()).toEqual([]) // it has the call now
    expect(await first.claim(CALL)).toMatchObject({ name: 'look', arguments: '{}', again: true })
    await world.time.pass(40_000)
    // The next request uses a new handle.
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
    // With a service, the offer may follow the greeting.
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
  ...forEachRow(
    'a claimed once call whose client’s lease is over waits for that client: %s is foreign',
    STRANGERS,
    async ({ createWorld }, [, bring]) => {
      const world = await createWorld({ tools: [SPAWN], steps: [listCalls('spawn'), { text: 'done' }] })
      const session = await world.open()
      const one = await session.client({ client: 'one', leaseMs: 60_000 })
      session.send('go').answer.catch(() => {})
      await world.time.settle()
      await one.claim(CALL)
      await world.time.pass(60_001)
      await bring(session)
      await expectOwnResult(world, session)
    },
  ),
  'a client whose lease is over brings the result of the call that it claimed': async ({ createWorld }) => {
    const world = await createWorld({ tools: [SPAWN], steps: [listCalls('spawn'), { text: 'done' }] })
    const session = await world.open()
    const one = await session.client({ client: 'one', leaseMs: 60_000 })
    const turn = session.send('go')
    await world.time.settle()
    await one.claim(CALL)
    await world.time.pass(60_001)
    expect(await one.result(CALL, done)).not.toHaveProperty('ignored')
    await world.time.until(turn.answer)
    expect(resultsTold(world.model)).toEqual([{ isError: false, text: 'seen' }])
  },
}
