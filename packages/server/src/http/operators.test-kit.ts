// A server with ordinary clients and operators: the token is a name and its powers, such as `mia see,decide`.
import type { Agent, Principal, Store } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import type { ScriptedModel } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createNodeEnvironment } from '@baton/host'
import { expect } from 'vitest'
import { createHandler } from './handler.ts'
import type { HandlerOptions } from './handler-parts.ts'
import type { FindPowers, OperatorPower } from './operator-powers.ts'

export const SECRET = 'sk-secret-of-the-host'

/** The roles of a principal, but for `role:NAME`, are powers. */
const authenticate = ({ headers }: Request): Principal | undefined => {
  const [id, words = ''] = headers.get('authorization')?.split(' ').slice(1) ?? []
  return id === undefined ? undefined : { id, roles: words.split(',').filter((word) => word !== '') }
}

const operators: FindPowers = ({ roles = [] }) =>
  roles.filter((role): role is OperatorPower => !role.startsWith('role:'))

export interface OperatorParts {
  readonly agent?: Agent
  readonly store?: Store
  readonly handler?: HandlerOptions
}

/** Its only tool pays after an approval. */
export function createShop(): { readonly agent: Agent; readonly model: ScriptedModel; readonly paid: unknown[] } {
  const paid: unknown[] = []
  const pay = tool({
    name: 'pay',
    description: 'Pays an invoice',
    input: {
      type: 'object',
      properties: { amount: { type: 'number' }, key: { type: 'string' } },
      required: ['amount'],
    },
    effect: 'once',
    approval: true,
    execute: (input) => {
      paid.push(input)
      return 'paid'
    },
  })
  const model = createScriptedModel({
    id: 'shop/model',
    steps: ({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? { text: 'It is paid.', usage: { inputTokens: 100, outputTokens: 10, costMicros: 25 } }
        : { calls: [{ name: 'pay', arguments: { amount: 90, key: SECRET } }], usage: { inputTokens: 50 } },
  })
  const agent = defineAgent({ name: 'shop', instructions: 'You pay invoices.', model, tools: [pay] })
  return { agent, model, paid }
}

export function startOperators({ agent = createShop().agent, store, handler }: OperatorParts = {}) {
  const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) })
  const host = createHost({ environment, agent, secrets: [SECRET], ...(store && { store }) })
  const logged: string[] = []
  const note = (message: string, data: object = {}): void => void logged.push(`${message} ${JSON.stringify(data)}`)
  const handle = createHandler(host, { log: { info: note, warn: note }, authenticate, operators, ...handler })
  const ask = async (address: string, as: string, body?: object, method = body ? 'POST' : 'GET'): Promise<Response> =>
    await handle(
      new Request(new URL(`/api/${address}`, 'http://localhost'), {
        method,
        headers: { authorization: `Bearer ${as}`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      }),
    )
  const read = async <Told>(address: string, as: string): Promise<Told> =>
    (await (await ask(address, as)).json()) as Told // as the test expects
  /** Sends a message as its owner, and waits until it asks. */
  const say = async (id: string, owner = 'ann', text = 'Pay the invoice.'): Promise<string> => {
    const session = await host.session(id, { principal: { id: owner } })
    session.send(text).answer.catch(() => {})
    await expect.poll(async () => (await session.approvals()).length).toBe(1)
    const [asked] = await session.approvals()
    await session.close()
    return asked?.approvalId ?? ''
  }
  const facts = async (id: string, type: string): Promise<readonly object[]> => {
    const found: object[] = []
    for await (const record of host.views.log(id)) found.push(...record.facts.filter((fact) => fact.type === type))
    return found
  }
  return { host, handle, ask, read, say, facts, logged, stop: () => host.stop() }
}
