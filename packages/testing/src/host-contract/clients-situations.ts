// Client tools with handlers in the same program: attached, throwing, slow, detached, and attached again.
import type { CallView, Session, Tool } from '@baton/core'
import { tool } from '@baton/core'
import { expect } from 'vitest'
import type { ContractWorld, ContractWorldOptions } from './host-kind.ts'
import { CALL, listCalls, createClientTool, never, resultsTold } from './situation-parts.ts'
import type { Situations, Stage } from './situation.ts'
import { forEachRow } from './situation.ts'

function createWorld(stage: Stage, more: Partial<ContractWorldOptions> = {}): Promise<ContractWorld> {
  return stage.createWorld({ tools: [createClientTool('look')], steps: [listCalls('look'), { text: 'done' }], ...more })
}

/** A `once` tool that a client runs, and the ids of the calls its fallback ran. */
function createFallback(awayMs: number): { readonly look: Tool; readonly ran: readonly string[] } {
  const ran: string[] = []
  const look = tool({
    name: 'look',
    description: 'Looks',
    input: { type: 'object' },
    awayMs,
    fallback: (_, { callId }) => {
      ran.push(callId)
      return 'from the server'
    },
  })
  return { look, ran }
}

/** Calls in the session's events, up to the end of the next turn. */
async function collectCalls(session: Session): Promise<readonly CallView[]> {
  const calls: CallView[] = []
  for await (const event of session.events({ from: 'now' })) {
    if (event.type === 'call') calls.push(event.call)
    if (event.type === 'turn-finished') break
  }
  return calls
}

export const CLIENT_SITUATIONS: Situations = {
  ...forEachRow<[string, () => unknown, boolean, string]>(
    'a handler that gives %s answers its call',
    [
      ['a value', () => ({ seen: 1 }), false, '{"seen":1}'],
      ['text', () => 'plain', false, 'plain'],
      ['nothing', (): unknown => undefined, false, 'null'],
      ['content', () => ({ content: [{ type: 'text', text: 'part' }] }), false, 'part'],
      ['a function', (): unknown => () => {}, true, 'Error: the result is a function, which is not JSON'],
      [
        'a throw',
        () => {
          throw new Error('no camera')
        },
        true,
        'Error: no camera',
      ],
      ['a throw of nothing', (): unknown => Promise.reject(), true, 'Error: unknown'],
    ],
    async (stage, [, look, isError, text]) => {
      const { time, model, open } = await createWorld(stage)
      const session = await open()
      await session.attach({ look })
      await time.until(session.send('go').answer)
      expect(resultsTold(model)).toEqual([{ isError, text }])
    },
  ),
  'a handler that hangs settles at the deadline of its call': async (stage) => {
    const { time, model, open } = await createWorld(stage)
    const session = await open()
    await session.attach({ look: never })
    await time.until(session.send('go').answer)
    expect(resultsTold(model)[0]?.text).toBe('Error: tool_result_timeout')
  },
  'without a client the call waits for one, and the one that comes gets it': async (stage) => {
    const { time, model, open } = await createWorld(stage)
    const session = await open()
    const turn = session.send('go')
    await time.pass(60_000)
    expect(session.phase).toBe('calling')
    await session.attach({ look: () => 'here I am' })
    await time.until(turn.answer)
    expect(resultsTold(model)[0]?.text).toBe('here I am')
  },
  'a call of a tool that does not wait for a client fails at once where there is none': async (stage) => {
    const tools = [{ ...createClientTool('look'), awayMs: 0 }]
    const { time, model, open } = await createWorld(stage, { tools })
    const session = await open()
    const turn = session.send('go')
    await time.pass(1000)
    expect(session.phase).toBe('idle')
    await time.until(turn.answer)
    expect(resultsTold(model)[0]).toMatchObject({ isError: true })
  },
  'a call that no client takes runs by its fallback, with the arguments of the model': async (stage) => {
    const { look, ran } = createFallback(0)
    const { time, model, facts, open } = await createWorld(stage, { tools: [look] })
    const session = await open()
    const calls = collectCalls(session)
    await time.until(session.send('go').answer)
    expect([resultsTold(model), ran]).toEqual([[{ isError: false, text: 'from the server' }], [CALL]])
    expect(await facts('call-taken-over')).toEqual([{ type: 'call-taken-over', callId: CALL }])
    const told = (await time.until(calls)).map(({ runs, status }) => `${runs} ${status}`)
    expect([told[0], told.at(-1)]).toEqual(['client proposed', 'server settled'])
  },
  'a client that is there runs its call, and its tool’s fallback does not': async (stage) => {
    const { look, ran } = createFallback(0)
    const { time, model, open } = await createWorld(stage, { tools: [look] })
    const session = await open()
    await session.attach({ look: () => 'from the phone' })
    await time.until(session.send('go').answer)
    expect([resultsTold(model), ran]).toEqual([[{ isError: false, text: 'from the phone' }], []])
  },
  'a call that its client has claimed is left to it, whatever the fallback': async (stage) => {
    const { look, ran } = createFallback(5000)
    const { time, model, open } = await createWorld(stage, { tools: [look] })
    const session = await open()
    const phone = await session.client({ client: 'phone', leaseMs: 60_000 })
    const turn = session.send('go')
    await time.settle()
    await phone.claim(CALL)
    await phone.detach()
    await time.until(turn.answer)
    expect([resultsTold(model)[0]?.isError, ran]).toEqual([true, []])
  },
  'a client that is attached while its session is closed does not stay': async (stage) => {
    const { time, facts, open } = await createWorld(stage)
    const session = await open()
    const attaching = session.attach({ look: () => 'never asked' })
    const closing = session.close()
    await expect(attaching).rejects.toMatchObject({ code: 'session_closed' })
    await closing
    expect(await facts('client-attached')).toHaveLength(1)
    expect(await facts('client-detached')).toHaveLength(1)
    await time.pass(60_000) // no handle holds the session now
  },
  'a call without a handler is answered by hand; a second result is logged only': async (stage) => {
    const { time, model, facts, open } = await createWorld(stage)
    const session = await open()
    const client = await session.attach()
    const turn = session.send('go')
    await time.settle()
    expect(session.openCall(CALL)).toMatchObject({ callId: CALL, name: 'look', arguments: '{}' })
    const outcome = { type: 'ok', content: [{ type: 'text', text: 'by hand' }] } as const
    await client.result(CALL, outcome)
    await client.result(CALL, { type: 'ok', content: [{ type: 'text', text: 'once more' }] })
    await time.until(turn.answer)
    expect(resultsTold(model)[0]?.text).toBe('by hand')
    expect(await facts('result-ignored')).toMatchObject([{ reason: 'duplicate', preview: 'once more' }])
  },
  'a handler named like a part of every object is not called by mistake': async (stage) => {
    const { time, model, open } = await createWorld(stage, {
      tools: [createClientTool('toString')],
      steps: [listCalls('toString'), { text: 'done' }],
    })
    const session = await open()
    await session.attach({})
    await time.until(session.send('go').answer)
    expect(resultsTold(model)[0]?.text).toBe('Error: tool_result_timeout')
  },
  'of two clients the newer one gets the call, and a result of the other is foreign': async (stage) => {
    const { time, model, facts, open } = await createWorld(stage)
    const session = await open()
    const older = await session.attach({ look: () => 'older' })
    const second = await open()
    await second.attach({
      look: async () => {
        await older.result(CALL, { type: 'ok', content: [{ type: 'text', text: 'forged' }] })
        return 'newer'
      },
    })
    await time.until(session.send('go').answer)
    expect(resultsTold(model)[0]?.text).toBe('newer')
    expect(await facts('result-ignored')).toMatchObject([{ reason: 'foreign' }])
  },
  'a client that detaches in mid-call leaves a pure call to the next one': async (stage) => {
    const { time, model, open } = await createWorld(stage)
    const session = await open()
    const client = await session.attach({ look: never })
    const turn = session.send('go')
    await time.settle()
    await client.detach()
    await client.detach()
    await time.settle()
    await session.attach({ look: () => 'the next one' })
    await time.until(turn.answer)
    expect(resultsTold(model)[0]?.text).toBe('the next one')
  },
  'a client that detaches while it runs a once call leaves it unknown, and nobody runs it again': async (stage) => {
    const { time, model, open } = await createWorld(stage, { tools: [createClientTool('look', 'once')] })
    const session = await open()
    const client = await session.attach({ look: never })
    const turn = session.send('go')
    await time.settle()
    await client.detach()
    let again = 0
    await session.attach({ look: () => (again += 1) })
    await time.until(turn.answer)
    expect(again).toBe(0)
    expect(resultsTold(model)[0]?.text).toBe('Error: tool_result_timeout (it may have run)')
  },
  'closing a handle detaches its clients and ends its readings; the session lives on': async (stage) => {
    const { time, open } = await createWorld(stage, { steps: [{ text: 'one' }, { text: 'two' }] })
    const session = await open()
    const other = await open()
    await session.attach({})
    const waiting = session.events()[Symbol.asyncIterator]()
    expect((await waiting.next()).value).toMatchObject({ type: 'live' })
    const next = waiting.next()
    await session.close()
    await session.close()
    expect(await next).toEqual({ done: true, value: undefined })
    await expect(session.send('hello?').answer).rejects.toMatchObject({ code: 'session_closed' })
    await expect(session.attach()).rejects.toMatchObject({ code: 'session_closed' })
    await expect(session.interrupt()).rejects.toMatchObject({ code: 'session_closed' })
    expect(await session.submit({ type: 'pause' })).toMatchObject({ code: 'session_closed' })
    expect(await session.events()[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined })
    expect((await time.until(other.send('hello').answer)).text).toBe('one')
  },
  'a program that has handlers for other tools takes no call away': async (stage) => {
    const { time, model, open } = await createWorld(stage, {
      tools: [createClientTool('look'), createClientTool('other')],
    })
    const session = await open()
    await session.attach({ look: () => 'seen' })
    const other = await session.attach({ other: () => 'never asked' })
    expect(await other.result('call_id2_9_9', { type: 'ok', content: [] })).toMatchObject({ ignored: 'unknown' })
    await time.until(session.send('go').answer)
    expect(resultsTold(model)[0]?.text).toBe('seen')
  },
}
