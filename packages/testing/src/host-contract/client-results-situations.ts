// Results of client tools checked against their tool's output schema: by a handler, by hand, over a lease and as a
// report. A mismatch is the same error for the model as for a server tool.
import type { FrontSession } from '@baton/core/internal'
import { tool } from '@baton/core'
import type { Outcome } from '@baton/core/machine'
import { expect } from 'vitest'
import { z } from 'zod'
import { CALL, listCalls, resultsTold } from './situation-parts.ts'
import type { Situations } from './situation.ts'
import { forEachRow } from './situation.ts'

const JSON_SCHEMA = { type: 'object', properties: { opened: { type: 'boolean' } }, required: ['opened'] } as const
const ZOD = z.object({ opened: z.boolean() })
const SLOW_ZOD = ZOD.refine(() => Promise.resolve(true))

const createLook = (output: typeof JSON_SCHEMA | typeof ZOD) =>
  tool({ name: 'look', description: 'Looks', input: { type: 'object' }, output, effect: 'pure', timeoutMs: 60_000 })

const WRONG = { type: 'ok', content: [{ type: 'text', text: '{"opened":"very much"}' }] } as const
const RIGHT = { type: 'ok', content: [{ type: 'text', text: '{"opened":true}' }] } as const

/** Each way in which a client delivers its result. */
const WAYS: readonly [string, (session: FrontSession, outcome: Outcome) => Promise<unknown>][] = [
  [
    'a client with a lease',
    async (session, outcome) => await (await session.client({ client: 'web' })).result(CALL, outcome),
  ],
  ['a client without handlers', async (session, outcome) => await (await session.attach()).result(CALL, outcome)],
  [
    'a report, and the client is gone at once',
    async (session, outcome) => {
      const client = { connection: 'app', sequential: true, claims: false, reportsPlayback: false, asks: false }
      await session.submit({ type: 'client-attached', principal: 'anonymous', ...client })
      await Promise.all([
        session.submit({ type: 'tool-result', callId: CALL, connection: 'app', outcome }),
        session.submit({ type: 'client-detached', connection: 'app' }),
      ])
    },
  ],
]
const OUTPUTS = { 'JSON Schema': JSON_SCHEMA, Zod: ZOD, 'a schema that takes its time': SLOW_ZOD } as const

export const CLIENT_RESULT_SITUATIONS: Situations = {
  ...forEachRow(
    'a result that does not fit the output schema of its client tool is an error for the model: %s',
    Object.entries(OUTPUTS).flatMap(([name, output]) =>
      WAYS.map(([way, bring]) => [`${name}, ${way}`, output, bring] as const),
    ),
    async ({ createWorld }, [, output, bring]) => {
      for (const outcome of [WRONG, RIGHT]) {
        const world = await createWorld({ tools: [createLook(output)], steps: [listCalls('look'), { text: 'done' }] })
        const session = await world.open()
        const turn = session.send('go')
        await world.time.settle()
        await bring(session, outcome)
        expect((await world.time.until(turn.answer)).text).toBe('done')
        const [told] = resultsTold(world.model)
        if (outcome === RIGHT) expect(told).toEqual({ isError: false, text: '{"opened":true}' })
        else expect(told?.text).toMatch(/^Error: the result of "look" is wrong: .*opened.*boolean/)
        const [settled] = await world.facts('call-settled')
        expect(settled?.settlement).toMatchObject(
          outcome === RIGHT ? { type: 'ok' } : { type: 'error', code: 'result_invalid' },
        )
      }
    },
  ),
  ...forEachRow<[string, unknown, boolean]>(
    'a handler’s result is checked by the output schema of its tool: %s',
    [
      ['a value that fits', { opened: true }, false],
      ['a value that does not', { opened: 1 }, true],
      ['nothing', undefined, true],
      ['a text', 'yes', true],
      ['JSON as text', '{"opened":false}', false],
    ],
    async ({ createWorld }, [, value, isError]) => {
      const world = await createWorld({ tools: [createLook(ZOD)], steps: [listCalls('look'), { text: 'done' }] })
      const session = await world.open()
      await session.attach({ look: () => value })
      await world.time.until(session.send('go').answer)
      expect(resultsTold(world.model)).toMatchObject([{ isError }])
    },
  ),
  'a text is checked as a text where the schema of its tool wants one': async ({ createWorld }) => {
    for (const text of ['5', 'five']) {
      const say = tool({ name: 'look', description: 'Says', input: { type: 'object' }, output: z.string() })
      const world = await createWorld({ tools: [say], steps: [listCalls('look'), { text: 'done' }] })
      const session = await world.open()
      await session.attach({ look: () => text })
      await world.time.until(session.send('go').answer)
      expect(resultsTold(world.model)).toEqual([{ isError: false, text }])
    }
  },
  'an output schema that hangs or throws is an error for the model': async ({ createWorld }) => {
    const validates = [
      () => new Promise<never>(() => {}),
      () => {
        throw new Error('broken schema')
      },
    ]
    for (const validate of validates) {
      const output = { '~standard': { version: 1, vendor: 'tested', validate } } as const
      const look = tool({ name: 'look', description: 'Looks', input: { type: 'object' }, output, timeoutMs: 60_000 })
      const world = await createWorld({ tools: [look], steps: [listCalls('look'), { text: 'done' }] })
      const session = await world.open()
      await session.attach({ look: () => 1 })
      await world.time.until(session.send('go').answer)
      expect(resultsTold(world.model)[0]?.text).toMatch(/longer than 10000 ms|broken schema/)
    }
  },
}
