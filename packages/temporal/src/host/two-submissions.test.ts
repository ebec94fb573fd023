// Inputs of one session that a gateway submits while others are under way: one Update after another, each with its own
// answers; a refusal, a failure or a lost answer concerns only its own. The test plays the service.
import type { Input } from '@baton/core/machine'
import type { Client, WithStartWorkflowOperation } from '@temporalio/client'
import { ServiceError, WorkflowNotFoundError } from '@temporalio/client'
import { expect, test } from 'vitest'
import type { Answers, Submission } from '../contract.ts'
import { Submitter } from '../submitter.ts'
import { ClientLeases } from './client-leases.ts'

const attach = (connection: string): Input =>
  ({ type: 'client-attached', connection, principal: 'ann', sequential: false, claims: true, asks: true }) as Input // the fields in use
const INPUTS: Readonly<Record<string, (tag: string) => Input>> = {
  'an input': (tag) => ({ type: 'user-input', inputId: tag, parts: [] }),
  'a client that attaches': (tag) => attach(tag),
  'a client that leaves': () => ({ type: 'client-detached', connection: 'known' }),
  'an interrupt': (tag) => ({ type: 'interrupt', reason: tag }) as Input, // likewise
  'a result': (tag) =>
    ({ type: 'tool-result', callId: tag, connection: 'known', outcome: { type: 'ok', content: [] } }) as Input, // likewise
}
const PAIRS = Object.keys(INPUTS).flatMap((first) => Object.keys(INPUTS).map((second) => [first, second] as const))

interface Update {
  readonly inputs: readonly Input[]
  readonly id: string
  readonly answer: PromiseWithResolvers<Answers>
}

function createGateway() {
  const updates: Update[] = []
  const executeUpdate = (
    _name: string,
    options: { readonly args: readonly [Submission]; readonly updateId: string },
  ) => {
    const answer = Promise.withResolvers<Answers>()
    updates.push({ inputs: options.args[0].inputs, id: options.updateId, answer })
    return answer.promise
  }
  const client = {
    withDeadline: (_ms: number, call: () => unknown) => call(),
    withAbortSignal: (_signal: AbortSignal, call: () => unknown) => call(),
    workflow: { getHandle: () => ({ executeUpdate }) },
  } as unknown as Client // the parts in use
  const submitter = new Submitter({ client })
  let isNeeded = false
  let nowMs = 0
  const leases = new ClientLeases({
    clock: { nowMs: () => nowMs },
    timers: { start: () => () => {} },
    leaseMs: 90_000,
    isNeeded: () => isNeeded,
    submit: submitter.submitTo('s'),
    log: { info: () => {}, warn: () => {} },
  })
  /** Answers an Update with the name of each of its inputs, and refuses those of `refused`. */
  const answer = (at: number, refused: readonly Input['type'][] = []): void => {
    const update = updates[at]
    update?.answer.resolve(
      update.inputs.map((input) => {
        if (refused.includes(input.type)) return { type: 'refused', code: 'rate_limited', message: describe(input) }
        return { type: 'accepted', pos: 1, turn: describe(input) }
      }),
    )
  }
  const send = (what: string, tag: string): Promise<unknown> => {
    const input = INPUTS[what]?.(tag) ?? attach(tag)
    return leases.submit([input]).then(
      (answers) => answers.map((one) => ('turn' in one ? one.turn : 'message' in one ? one.message : 'nothing')),
      (cause: unknown) => String(cause),
    )
  }
  const rest = (): void => {
    nowMs += 80_000
    isNeeded = true
    leases.notice()
  }
  return { updates, answer, send, rest, submitter }
}

function describe(input: Input): string {
  if (input.type === 'client-attached' || input.type === 'client-detached') return `${input.type} ${input.connection}`
  return 'inputId' in input ? `${input.type} ${input.inputId}` : input.type
}

const told = (what: string, tag: string): string => describe(INPUTS[what]?.(tag) as Input)

const settle = async (): Promise<void> => {
  for (let turns = 0; turns < 20; turns += 1) await Promise.resolve()
}

test.each(PAIRS)('%s, and %s while its Update is under way: each has its answer', async (first, second) => {
  const { updates, answer, send } = createGateway()
  const one = send(first, 'a')
  await settle()
  const other = send(second, 'b')
  await settle()
  expect(updates).toHaveLength(1)
  answer(0)
  await settle()
  answer(1)
  expect([await one, await other]).toEqual([[told(first, 'a')], [told(second, 'b')]])
  expect(updates.map(({ inputs }) => inputs.length)).toEqual([1, 1])
  expect(new Set(updates.map(({ id }) => id)).size).toBe(2)
})

test.each(PAIRS)('%s, and %s in one Update: each has its answer', async (first, second) => {
  const { updates, answer, send } = createGateway()
  const both = [send(first, 'a'), send(second, 'b')]
  await settle()
  answer(0)
  expect(await Promise.all(both)).toEqual([[told(first, 'a')], [told(second, 'b')]])
  expect(updates).toHaveLength(1)
})

test.each(PAIRS)('%s fails, and %s does not', async (first, second) => {
  const { updates, answer, send } = createGateway()
  const one = send(first, 'a')
  await settle()
  const other = send(second, 'b')
  updates[0]?.answer.reject(new Error('no'))
  await settle()
  answer(1)
  expect([await one, await other]).toEqual([expect.stringContaining('no'), [told(second, 'b')]])
})

test.each([
  ['fails', (gateway: ReturnType<typeof createGateway>) => gateway.updates[0]?.answer.reject(new Error('no'))],
  ['is refused', (gateway: ReturnType<typeof createGateway>) => gateway.answer(0, ['client-attached'])],
])('a client whose attachment %s is not attached by a later renewal', async (_how, end) => {
  const gateway = createGateway()
  const { updates, answer, send, rest } = gateway
  const one = send('a client that attaches', 'a')
  await settle()
  const other = send('a client that attaches', 'b')
  end(gateway)
  await one
  answer(1)
  await other
  rest()
  await settle()
  expect(updates.slice(2).map(({ inputs }) => inputs.map((input) => describe(input)))).toEqual([['client-attached b']])
})

test('a client that attaches again while its first attachment fails stays', async () => {
  const gateway = createGateway()
  const { updates, answer, send, rest } = gateway
  const one = send('a client that attaches', 'a')
  await settle()
  const again = send('a client that attaches', 'a')
  updates[0]?.answer.reject(new Error('no'))
  await one
  answer(1)
  await again
  rest()
  await settle()
  expect(updates[2]?.inputs.map((input) => describe(input))).toEqual(['client-attached a'])
})

test('an Update that starts its workflow keeps its id when its answer is lost', async () => {
  const ids: string[] = []
  let losses = 1
  const note = ({ updateId }: { readonly updateId: string }): void => void ids.push(updateId)
  const client = {
    withDeadline: (_ms: number, call: () => unknown) => call(),
    withAbortSignal: (_signal: AbortSignal, call: () => unknown) => call(),
    workflow: {
      getHandle: () => ({
        executeUpdate: (_name: string, options: { readonly updateId: string }) => {
          note(options)
          return Promise.reject(new WorkflowNotFoundError('not found', 's', undefined))
        },
      }),
      executeUpdateWithStart: (_name: string, options: { readonly updateId: string }) => {
        note(options)
        return losses-- > 0
          ? Promise.reject(new ServiceError('the connection broke'))
          : Promise.resolve([{ type: 'accepted', pos: 1 }])
      },
    },
  } as unknown as Client // the parts in use
  const start = () => Promise.resolve({} as WithStartWorkflowOperation<() => Promise<void>>) // the client is played
  const submitter = new Submitter({ client, start })
  expect(await submitter.submit('s', { inputs: [] })).toEqual([{ type: 'accepted', pos: 1 }])
  expect([ids.length, new Set(ids).size]).toEqual([4, 1])
})
