// First lines of errors for calls as programs of other libraries write them.
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import {
  createHost,
  createMemoryStore,
  defineAgent,
  openSharedSqliteStore,
  openSqliteStore,
  readOutput,
} from '../index.ts'
import { openPostgresStore } from '../stores/postgres/postgres-store.ts'

const agent = defineAgent({ name: 'a', model: createScriptedModel({ steps: () => ({ text: 'Hello.' }) }) })

test('decide with the id and the word is told the form of a decision', async () => {
  await using host = createHost({ agent })
  const session = await host.session()
  await expect(session.decide('x' as never, 'approve' as never)).rejects.toMatchObject({
    message: `the decision must be a plain object, not "x"; a decision is { approvalId, decision: 'approve' }`,
  })
})

test('an id in place of the principal who decides is told the form of a principal', async () => {
  await using host = createHost({ agent })
  const session = await host.session()
  const decided = session.decide({ approvalId: 'x', decision: 'approve' }, { principal: 'mod' as never })
  await expect(decided).rejects.toMatchObject({
    code: 'invalid_option',
    message: 'principal must be an object with an id, not "mod"',
    hint: 'Write principal: { id: userId }.',
  })
})

test('handlers in a field of their own are told where they belong', async () => {
  await using host = createHost({ agent })
  const session = await host.session()
  await expect(session.attach({ tools: { place: () => 'Oslo' } } as never)).rejects.toMatchObject({
    message: 'the handler of "tools" must be a function, not object',
    hint: "Write attach({ 'app.place': () => ({ city: 'Oslo' }) }), with the names of your client tools.",
  })
})

test('readOutput with an answer and a schema says what it takes', () => {
  expect(() => readOutput({ outcome: 'end' } as never, { type: 'object' } as never)).toThrow(
    'readOutput needs an agent and an answer of it',
  )
})

test.each([
  ['openSqliteStore', (options: object) => openSqliteStore('/none/s.db', options), { readonly: true }, 'readOnly'],
  ['openSharedSqliteStore', (options: object) => openSharedSqliteStore('/none/s.db', options), { waitMS: 1 }, 'waitMs'],
  ['openPostgresStore', (options: object) => openPostgresStore('postgres://none/x', options), { shema: 'x' }, 'schema'],
  ['createMemoryStore', async (options: object) => createMemoryStore(options), { leaseMS: 1 }, 'leaseMs'],
  [
    'the argument of stop',
    async (options: object) => createHost({ agent }).stop(options),
    { timeoutMs: 1000 },
    'drainMs',
  ],
] as const)(
  '%s: a misspelt option is refused before anything is opened or ended',
  async (what, open, options, meant) => {
    await expect(open(options)).rejects.toMatchObject({
      code: 'invalid_option',
      message: `${what} has no field "${Object.keys(options)[0]}"; it is called "${meant}" here`,
    })
  },
)

test('a host that is told to stop by a text for its time goes on', async () => {
  await using host = createHost({ agent })
  await expect(host.stop({ drainMs: '5s' as never })).rejects.toMatchObject({
    code: 'invalid_option',
    message: 'drainMs must be a number of milliseconds, not "5s"',
  })
  expect((await (await host.session()).send('Hi').answer).text).toBe('Hello.')
})
