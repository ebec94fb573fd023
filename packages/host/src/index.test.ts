// The needs of a first program, from @baton/host alone: one import, and methods that can be used detached.
import { frontOf } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import type { Session, SessionEvent, Tool } from './index.ts'
import { createHost, createOfflineModel, defineAgent, tool } from './index.ts'

test('agents, tools, models and the words of sessions come from one import', async () => {
  const look: Tool = tool({ name: 'look', description: 'Looks', input: { type: 'object' }, effect: 'pure' })
  await using host = createHost({ agent: defineAgent({ name: 'a', model: createOfflineModel(), tools: [look] }) })
  const session: Session = await host.session()
  const types: SessionEvent['type'][] = []
  for await (const { type } of session.send('Hi')) types.push(type)
  expect(types.at(-1)).toBe('turn-finished')
})

test('every method of a host, a session and a turn works without what it belongs to', async () => {
  const model = createScriptedModel({ steps: () => ({ text: 'Hello.' }) })
  const {
    session: open,
    sessions,
    watch,
    recover,
    remove,
    strayCall,
    stop,
  } = createHost({
    agent: defineAgent({ name: 'a', model }),
  })
  const session = await open('s')
  // Ensures that no method is missing from the list above.
  const methods = Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(session) as object))
  const names = methods.flatMap(([name, { value }]) => (typeof value === 'function' ? name : []))
  expect(names.filter((name) => name !== 'constructor' && !Object.hasOwn(session, name))).toEqual([])
  const { send, turn, events, messages, info, submit, interrupt, attach, client } = frontOf(session)
  const { approvals, decide, questions, answer, describe, openCall, lastTurn, close } = frontOf(session)
  const sent = send('Hi')
  expect((await sent.answer).text).toBe('Hello.')
  const { [Symbol.asyncIterator]: iterate } = turn(sent.id)
  expect((await iterate().next()).done).toBe(false)
  expect((await messages()).messages).toHaveLength(2)
  expect(await info()).toMatchObject({ id: 's' })
  events().leave()
  expect([openCall('none'), lastTurn()?.turn]).toEqual([undefined, 1])
  expect([await approvals(), await questions()]).toEqual([[], []])
  const refused = await Promise.allSettled([
    decide({ approvalId: 'none', decision: 'approve' }),
    answer({ questionId: 'none', decline: true }),
  ])
  expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await submit({ type: 'describe', title: 'A greeting' })).toMatchObject({ type: 'accepted' })
  expect(await describe({ title: 'Hello' })).toMatchObject({ type: 'accepted' })
  const { calls, claim, result, detach } = await attach()
  expect(calls()).toEqual([])
  await expect(claim('none')).rejects.toMatchObject({ code: 'call_over' })
  expect(await result('none', { type: 'ok', content: [] })).toMatchObject({ ignored: 'unknown' })
  await detach()
  await (await client({ client: 'c' })).detach()
  await interrupt()
  await close()
  watch()
  expect(strayCall()).toBeUndefined()
  expect(await recover()).toMatchObject({ failed: 0 })
  expect((await sessions()).sessions.map(({ title }) => title)).toEqual(['Hello'])
  await remove('s')
  await stop()
})
