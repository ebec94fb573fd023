// Notices as destinations hear them, whichever kind of host has the sessions: their order, what is repeated, and what is given up.
import type { DeadNotice, NoticeDestination } from '@baton/core/internal'
import { BatonError, defineAgent, delegate, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { Receiver, TellingKind, TellingOptions, TellingWorld } from './telling-kind.ts'
import { createReceiver } from './telling-kind.ts'

type Situation = (stage: Stage) => Promise<void>

/** Creates the worlds of a situation; they are closed afterwards. */
interface Stage {
  createWorld(init: TellingOptions): Promise<TellingWorld>
  restart(world: TellingWorld, init: TellingOptions): Promise<TellingWorld>
}

export function playSituation(kind: TellingKind, situation: Situation): () => Promise<void> {
  return async () => {
    const worlds = new Set<TellingWorld>()
    const note = async (creating: Promise<TellingWorld>): Promise<TellingWorld> => {
      const world = await creating
      worlds.add(world)
      return world
    }
    try {
      await situation({
        createWorld: (init) => note(kind.createWorld(init)),
        restart: (world, init) => {
          worlds.delete(world)
          return note(world.restart(init))
        },
      })
    } finally {
      for (const world of worlds) await world.close()
    }
  }
}

const done = () => ({ text: 'done' })
/** Further attempts, soon. */
const OFTEN = Array.from({ length: 20 }, () => 500)

const pay = tool({
  name: 'pay',
  description: 'Pays',
  input: { type: 'object', properties: { euros: { type: 'number' } }, required: ['euros'] },
  effect: 'once',
  approval: true,
  execute: () => 'paid',
})
const paying = [{ calls: [{ name: 'pay', arguments: { euros: 40 } }] }, { text: 'Paid.' }]

const typesOf = ({ taken }: Receiver): readonly string[] => taken.map(({ type }) => type)
const turnsOf = ({ taken }: Receiver): readonly unknown[] => taken.map(({ data }) => data['turn'])
const toldFrom = (one: Receiver, count: number) => (): boolean => one.taken.length >= count

/** A name that no other world has. */
const nameSession = (): string => `s-${randomUUID()}`

async function say({ host, when }: TellingWorld, id: string, text: string): Promise<void> {
  const session = await when(host.session(id))
  await when(session.send(text).answer.catch(() => undefined))
  await when(session.close())
}

export const NOTICE_SITUATIONS: Readonly<Record<string, Situation>> = {
  'a request for a person, its decision and the end of the turn are told in this order, once each': async (stage) => {
    const receiver = createReceiver()
    const { host, until, when } = await stage.createWorld({ steps: paying, tools: [pay], notify: [receiver] })
    const id = nameSession()
    const session = await when(host.session(id, { principal: { id: 'ann' } }))
    const turn = session.send('Pay 40 euros.')
    await until(toldFrom(receiver, 1))
    const [request] = await session.approvals()
    const [asked] = receiver.taken
    expect(asked).toMatchObject({
      type: 'approval.requested',
      data: {
        session: id,
        agent: 'tested',
        principal: { id: 'ann' },
        approvalId: request?.approvalId,
        callId: request?.callId,
        tool: 'pay',
        expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
      },
    })
    expect(asked?.id).toMatch(/^notice_[\w-]{43}$/)
    expect(JSON.stringify(asked)).not.toMatch(/euros/) // no text and no arguments
    await when(session.decide({ approvalId: request?.approvalId ?? '', decision: 'approve' }))
    await when(turn.answer)
    await until(toldFrom(receiver, 3))
    expect(typesOf(receiver)).toEqual(['approval.requested', 'approval.decided', 'turn.finished'])
    expect(receiver.taken[1]?.data).toMatchObject({ decision: 'approve', by: { id: 'ann' } })
    expect(receiver.taken[2]?.data).toMatchObject({ turn: 1, outcome: 'answered' })
    expect(new Set(receiver.taken.map(({ id: own }) => own)).size).toBe(3)
  },

  'a destination sees the request with its arguments while it is open, and the answer of a turn': async (stage) => {
    const seen: unknown[] = []
    const reading: NoticeDestination = {
      name: 'reading',
      types: ['approval.requested', 'turn.finished'],
      send: async (_, { request, answer, notes }) => {
        seen.push([(await request())?.input, await answer(), await notes.get('last')])
        await notes.put('last', String(seen.length))
      },
    }
    const { host, until, when } = await stage.createWorld({ steps: paying, tools: [pay], notify: [reading] })
    const session = await when(host.session(nameSession()))
    const turn = session.send('Pay 40 euros.')
    await until(() => seen.length === 1)
    const [request] = await session.approvals()
    await when(session.decide({ approvalId: request?.approvalId ?? '', decision: 'approve' }))
    await when(turn.answer)
    await until(() => seen.length === 2)
    expect(seen).toEqual([
      [{ euros: 40 }, undefined, undefined],
      [undefined, 'Paid.', '1'],
    ])
  },

  'each of the requests of a session is told and seen, also of more than a list holds': async (stage) => {
    const seen: unknown[] = []
    const reading: NoticeDestination = {
      name: 'reading',
      types: ['approval.requested'],
      send: async ({ data }, { request }) => void seen.push([data['tool'], (await request())?.input['euros']]),
    }
    const COUNT = 70
    const calls = Array.from({ length: COUNT }, (_, euros) => ({ name: 'pay', arguments: { euros } }))
    const limits = { callsPerTurn: COUNT }
    const { host, until, when } = await stage.createWorld({
      steps: [{ calls }],
      tools: [pay],
      limits,
      notify: [reading],
    })
    const session = await when(host.session(nameSession()))
    session.send('Pay all.').answer.catch(() => {})
    await until(() => seen.length === COUNT)
    expect(seen).toEqual(calls.map(({ name, arguments: { euros } }) => [name, euros]))
  },

  'a destination gets only the kinds that it names, and a failed turn has a kind of its own': async (stage) => {
    const receiver = createReceiver({ types: ['turn.failed'] })
    const error = new BatonError({ code: 'model_auth_failed', message: 'no key' })
    const world = await stage.createWorld({ steps: [{ text: 'well' }, { error }], notify: [receiver] })
    const id = nameSession()
    await say(world, id, 'One.')
    await say(world, id, 'Two.')
    await world.until(toldFrom(receiver, 1))
    expect(typesOf(receiver)).toEqual(['turn.failed'])
    expect(receiver.taken[0]?.data).toMatchObject({ turn: 2, error: { code: 'model_auth_failed' } })
  },

  'an old session does not tell its history when a host begins to tell': async (stage) => {
    const before = await stage.createWorld({ steps: done })
    const id = nameSession()
    await say(before, id, 'One.')
    const receiver = createReceiver()
    const after = await stage.restart(before, { steps: done, notify: [receiver] })
    await say(after, id, 'Two.')
    await after.until(toldFrom(receiver, 1))
    await say(after, id, 'Three.')
    await after.until(toldFrom(receiver, 2))
    expect(turnsOf(receiver)).toEqual([2, 3])
  },

  'a failing notice holds up later ones of its session, and none of another': async (stage) => {
    const receiver = createReceiver({ retriesMs: OFTEN })
    const [failing, other] = [nameSession(), nameSession()]
    let isDown = true
    receiver.answer = ({ data }) => (isDown && data.session === failing ? { message: 'no' } : undefined)
    const world = await stage.createWorld({ steps: done, notify: [receiver] })
    await say(world, failing, 'One.')
    await say(world, failing, 'Two.')
    await say(world, other, 'Three.')
    await world.until(toldFrom(receiver, 1))
    expect(receiver.taken.map(({ data }) => data.session)).toEqual([other])
    isDown = false
    await world.until(toldFrom(receiver, 3))
    expect(receiver.taken.map(({ data }) => [data.session, data['turn']])).toEqual([
      [other, 1],
      [failing, 1],
      [failing, 2],
    ])
    const [id] = receiver.tried.flatMap((one) => (one.data.session === failing ? [one.id] : []))
    expect(receiver.taken[1]?.id).toBe(id)
  },

  'after its last attempt a notice is dead and listed, survives a restart, and can be sent once more': async (
    stage,
  ) => {
    const receiver = createReceiver({ retriesMs: [20, 20] })
    receiver.answer = ({ data }) => (data['turn'] === 1 ? { message: 'HTTP 500' } : undefined)
    const world = await stage.createWorld({ steps: done, notify: [receiver] })
    const id = nameSession()
    await say(world, id, 'One.')
    await say(world, id, 'Two.')
    await world.until(toldFrom(receiver, 1))
    expect(turnsOf(receiver)).toEqual([2])
    expect(receiver.tried).toHaveLength(4)
    expect(world.warnings).toContain('a notice is given up')
    const { notices, when } = await stage.restart(world, { steps: done, notify: [receiver] })
    const { dead, cursor } = await when(notices.dead())
    expect([dead.length, cursor]).toEqual([1, undefined])
    const [one] = dead as readonly [DeadNotice]
    expect(one).toMatchObject({
      destination: 'shop',
      attempts: 3,
      error: 'HTTP 500',
      notice: { data: { session: id, turn: 1 } },
    })
    await expect(when(notices.redeliver(one))).rejects.toMatchObject({ code: 'api_unavailable' })
    receiver.answer = () => {}
    await when(notices.redeliver(one))
    expect(receiver.taken.at(-1)?.id).toBe(one.notice.id)
    expect((await when(notices.dead())).dead).toEqual([])
    await expect(when(notices.redeliver(one))).rejects.toMatchObject({ code: 'invalid_option' })
  },

  'what happened while a destination was gone is told at once after a restart': async (stage) => {
    const receiver = createReceiver()
    const present = createReceiver({ name: 'present' })
    receiver.answer = () => ({ message: 'HTTP 410', isGone: true })
    const world = await stage.createWorld({ steps: done, notify: [receiver, present] })
    const [first, second] = [nameSession(), nameSession()]
    await say(world, first, 'One.')
    await world.until(() => receiver.tried.length === 1 && present.taken.length === 1)
    await say(world, second, 'Two.')
    await world.until(toldFrom(present, 2))
    expect(receiver.tried).toHaveLength(1)
    receiver.answer = () => {}
    const next = await stage.restart(world, { steps: done, notify: [receiver, present] })
    await next.until(toldFrom(receiver, 2))
    expect(receiver.taken.map(({ data }) => data.session).toSorted()).toEqual([first, second].toSorted())
    expect(present.taken).toHaveLength(2)
  },

  'what a host that stops could not send is told by the next one, with the same id': async (stage) => {
    const receiver = createReceiver()
    receiver.answer = () => new Promise(() => {})
    const world = await stage.createWorld({ steps: done, notify: [receiver] })
    await say(world, nameSession(), 'One.')
    await world.until(() => receiver.tried.length === 1)
    const next = createReceiver()
    const after = await stage.restart(world, { steps: done, notify: [next] })
    await after.until(toldFrom(next, 1))
    expect(next.taken.map(({ id }) => id)).toEqual(receiver.tried.map(({ id }) => id))
  },

  'a request whose turn is interrupted is withdrawn': async (stage) => {
    const receiver = createReceiver()
    const { host, until, when } = await stage.createWorld({ steps: paying, tools: [pay], notify: [receiver] })
    const session = await when(host.session(nameSession()))
    session.send('Pay 40 euros.').answer.catch(() => {})
    await until(toldFrom(receiver, 1))
    await when(session.interrupt())
    await until(toldFrom(receiver, 3))
    expect(typesOf(receiver)).toEqual(['approval.requested', 'approval.withdrawn', 'turn.finished'])
    const asked = receiver.taken[0]?.data
    const { approvalId, callId } = { approvalId: asked?.['approvalId'], callId: asked?.['callId'] }
    expect(receiver.taken[1]?.data).toMatchObject({ approvalId, callId, reason: 'ended' })
  },

  'a request of an agent below is told as that of the first session': async (stage) => {
    const receiver = createReceiver()
    const clerk = defineAgent({ name: 'clerk', model: createScriptedModel({ steps: paying }), tools: [pay] })
    const steps = [{ calls: [{ name: 'clerk', arguments: { task: 'Pay.' } }] }, { text: 'All done.' }]
    const tools = [delegate({ agent: clerk, description: 'Pays' })]
    const { host, until, when } = await stage.createWorld({ steps, tools, notify: [receiver] })
    const id = nameSession()
    const session = await when(host.session(id))
    const turn = session.send('Pay 40 euros.')
    await until(toldFrom(receiver, 1))
    const [request] = await session.approvals()
    await when(session.decide({ approvalId: request?.approvalId ?? '', decision: 'approve' }))
    await when(turn.answer)
    await until(toldFrom(receiver, 3))
    expect(receiver.taken.map(({ type, data }) => [type, data.session])).toEqual([
      ['approval.requested', id],
      ['approval.decided', id],
      ['turn.finished', id],
    ])
    expect(receiver.taken[0]?.data).toMatchObject({ approvalId: request?.approvalId, tool: 'pay' })
  },

  'a destination that hangs slows no turn, and its attempt is aborted': async (stage) => {
    const receiver = createReceiver({ timeoutMs: 100, retriesMs: OFTEN })
    const signals: AbortSignal[] = []
    receiver.answer = (_, signal) => {
      signals.push(signal)
      return new Promise(() => {})
    }
    const world = await stage.createWorld({ steps: done, notify: [receiver] })
    const id = nameSession()
    for (const text of ['One.', 'Two.', 'Three.']) await say(world, id, text)
    await world.until(() => signals[0]?.aborted === true)
    receiver.answer = () => {}
    await world.until(toldFrom(receiver, 3))
    expect(turnsOf(receiver)).toEqual([1, 2, 3])
  },

  'a removed session tells nothing more, and the next one of its name has other ids': async (stage) => {
    const receiver = createReceiver({ retriesMs: OFTEN })
    receiver.answer = () => ({ message: 'not now' })
    const world = await stage.createWorld({ steps: done, notify: [receiver] })
    const id = nameSession()
    await say(world, id, 'One.')
    await say(world, id, 'Two.')
    await world.until(() => receiver.tried.length > 0)
    const [lost] = receiver.tried
    await world.when(world.host.remove(id))
    receiver.answer = () => {}
    await say(world, id, 'One.')
    await world.until(toldFrom(receiver, 1))
    await say(world, id, 'Two.')
    await world.until(toldFrom(receiver, 2))
    expect(turnsOf(receiver)).toEqual([1, 2])
    expect(receiver.taken.map((one) => one.id)).not.toContain(lost?.id)
  },
}
