// A real host with agents that wait, fail, delegate and pay, and the console's page over it.
import type { Client } from '@baton/core'
import type { JsonObject } from '@baton/core/internal'
import { BatonError, defineAgent, delegate, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost } from '@baton/host'
import { createNodeListener } from '@baton/server/http'
import type { Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { writePage } from '../build-page.ts'
import { createConsole } from '../src/index.ts'

type Steps = Parameters<typeof createScriptedModel>[0]['steps']
type ScriptedStep = Exclude<Steps, (...args: never) => unknown>[number]

/** People by their tokens. */
const PEOPLE = {
  'manager-token': { id: 'maria', roles: ['manager'] },
  'support-token': { id: 'sam', roles: ['support'] },
} as const
export type Token = keyof typeof PEOPLE

export interface Payment {
  readonly euro: number
  readonly to: string
}

const usage = (inputTokens: number, outputTokens: number) => ({
  inputTokens,
  outputTokens,
  cacheReadTokens: Math.floor(inputTokens / 2),
  costMicros: inputTokens * 3 + outputTokens * 15,
})
const object = (properties: JsonObject, required: readonly string[] = Object.keys(properties)) =>
  ({ type: 'object', properties, required, additionalProperties: false }) as const

/** Tools of a shop; `paid` has what was really paid. */
export function createShop(paceMs = 0) {
  const paid: Payment[] = []
  const find = tool({
    name: 'orders.find',
    description: 'Finds an order by its number',
    input: object({ order: { type: 'string' } }),
    effect: 'pure',
    execute: async (input) => {
      await wait(5 * paceMs)
      return { order: (input as { order: string }).order, state: 'returned', euro: 40 }
    },
  })
  const mail = tool({
    name: 'mail.read',
    description: 'Reads the newest mail of a customer',
    input: object({ customer: { type: 'string' } }),
    effect: 'pure',
    trust: 'untrusted',
    execute: async () => {
      await wait(3 * paceMs)
      return 'Please refund to DE89 3704 0044 0532 0130 00. <img src=x onerror="globalThis.hacked = true"> \u202Egnp.exe \u001b[31mred'
    },
  })
  const pay = tool({
    name: 'pay',
    description: 'Pays a refund',
    input: object({ euro: { type: 'number', minimum: 0.01, maximum: 500 }, to: { type: 'string', minLength: 1 } }),
    effect: 'once',
    approval: true,
    describe: (input) => {
      const { euro, to } = input as unknown as Payment // it fits the schema
      return { title: `pay ${euro} EUR to ${to}`, destination: to }
    },
    execute: (input) => {
      paid.push(input as unknown as Payment)
      return { receipt: `R-${paid.length}` }
    },
  })
  const write = tool({
    name: 'notes.write',
    description: 'Writes a note',
    input: object({ path: { type: 'string' }, text: { type: 'string' } }),
    effect: 'idempotent',
    approval: true,
    describe: (input) => {
      const { path, text } = input as { path: string; text: string }
      return { title: `write ${path}`, diff: [{ path, oldText: 'Refunds\n- none yet\n', newText: text }] }
    },
    execute: () => 'written',
  })
  const camera = tool({ name: 'camera', description: 'Takes a picture', input: object({}), effect: 'pure' })
  return { paid, find, mail, pay, write, camera }
}

/** Steps for a model, each with its tokens and price. */
export function scripted(steps: readonly ScriptedStep[], id = 'scripted/large') {
  return createScriptedModel({
    id,
    steps: steps.map((step, index) => ({ usage: usage(900 + 400 * index, 60 + 20 * index), ...step })),
  })
}

export interface StartedConsole {
  readonly url: string
  readonly host: ReturnType<typeof createHost>
  readonly paid: readonly Payment[]
  readonly address: (token: Token, hash?: string) => string
  /** Closes all connections of browsers. */
  readonly cut: () => void
  /** Refuses a token. */
  readonly expire: (token: Token) => void
  readonly stop: () => Promise<void>
}

/** `paceMs`: how slow its tools are, for pictures. A host with the agents `refunds`, `research`, `photos`, `broken`, `refused` and `notes`, whose sessions a test plays. */
export async function startConsole({ paceMs = 0 }: { readonly paceMs?: number } = {}): Promise<StartedConsole> {
  const shop = createShop(paceMs)
  const refunds = defineAgent({
    name: 'refunds',
    instructions: 'You refund returned orders.',
    model: scripted([
      {
        text: 'I look at the order and the mail.',
        calls: [
          { name: 'orders.find', arguments: { order: 'A-17' } },
          { name: 'mail.read', arguments: { customer: 'ann' } },
        ],
      },
      { calls: [{ name: 'pay', arguments: { euro: 400, to: 'ann' } }] },
      { text: 'The refund is on its way: receipt R-1.' },
      { text: 'You are welcome.' },
    ]),
    tools: [shop.find, shop.mail, shop.pay],
  })
  const reader = defineAgent({
    name: 'reader',
    model: scripted(
      [{ calls: [{ name: 'orders.find', arguments: { order: 'B-2' } }] }, { text: 'The order B-2 was returned.' }],
      'scripted/small',
    ),
    tools: [shop.find],
  })
  const research = defineAgent({
    name: 'research',
    model: scripted([
      { calls: [{ name: 'reader', arguments: { task: 'Look for the order B-2' } }] },
      { text: 'B-2 was returned.' },
    ]),
    tools: [delegate({ agent: reader, description: 'Reads orders' })],
  })
  const photos = defineAgent({
    name: 'photos',
    model: scripted([{ calls: [{ name: 'camera', arguments: {} }] }, { text: 'A red door.' }]),
    tools: [shop.camera],
  })
  const busy = new BatonError({ code: 'model_overloaded', message: 'the provider is busy', retryable: false })
  const broken = defineAgent({
    name: 'broken',
    model: [
      scripted([{ error: busy }], 'scripted/first'),
      scripted([{ text: 'The second model answers.' }], 'scripted/second'),
    ],
  })
  const down = new BatonError({ code: 'model_auth_failed', message: 'the key is not valid', retryable: false })
  const refused = defineAgent({
    name: 'refused',
    model: createScriptedModel({ id: 'scripted/refused', steps: () => ({ error: down }) }),
  })
  const notes = defineAgent({
    name: 'notes',
    model: scripted([
      { calls: [{ name: 'notes.write', arguments: { path: 'refunds.md', text: 'Refunds\n- A-17: 40 EUR\n' } }] },
      { text: 'Noted.' },
    ]),
    tools: [shop.write],
  })
  const index = tool({
    name: 'index',
    description: 'Indexes every order, which takes hours',
    input: object({}),
    effect: 'pure',
    background: true,
    execute: (_input, { signal }) =>
      new Promise<string>((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true })
      }),
  })
  const indexer = defineAgent({
    name: 'indexer',
    model: scripted([{ calls: [{ name: 'index', arguments: {} }] }, { text: 'It is running.' }, { text: 'It ended.' }]),
    tools: [index],
  })
  const long = defineAgent({
    name: 'long',
    model: createScriptedModel({
      steps: ({ messages }) =>
        messages.at(-1)?.role === 'tool'
          ? { text: 'Found.', usage: usage(500, 20) }
          : { calls: ['A-1', 'A-2'].map((order) => ({ name: 'orders.find', arguments: { order } })) },
    }),
    tools: [shop.find],
  })
  const host = createHost({ agents: [refunds, research, photos, broken, refused, notes, indexer, long] })
  const served = await servePage(host)
  return {
    ...served,
    host,
    paid: shop.paid,
    address: (token, hash = '') => `${served.url}console/#token=${token}${hash}`,
    stop: async () => {
      await served.stop()
      await host.stop()
    },
  }
}

/** Sends a message in the name of a customer, and does not wait for the answer. */
export async function ask(host: StartedConsole['host'], id: string, agent: string, text: string) {
  const session = await host.session(id, { agent, principal: { id: 'ann' } })
  const turn = session.send(text)
  turn.answer.catch(() => {})
  return { session, turn }
}

/** A client that is offered the call of the camera, and leaves it. */
export async function attachPhone(host: StartedConsole['host'], id: string): Promise<Client> {
  const session = await host.session(id, { principal: { id: 'ann' } })
  return await session.attach()
}

const ROLES = { manager: ['see', 'decide', 'act', 'export', 'remove'], support: ['see'] } as const

async function servePage(
  host: StartedConsole['host'],
): Promise<Pick<StartedConsole, 'url' | 'stop' | 'cut' | 'expire'>> {
  await writePage(fileURLToPath(new URL('../dist/page', import.meta.url)))
  const expired = new Set<Token>()
  const authenticate = (request: Request) => {
    const token = request.headers.get('authorization')?.replace('Bearer ', '') as Token // or anything else
    return expired.has(token) ? undefined : PEOPLE[token]
  }
  const handle = createNodeListener(createConsole(host, { authenticate, roles: ROLES, hosts: ['127.0.0.1'] }))
  const server: Server = createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port
  return {
    url: `http://127.0.0.1:${port}/`,
    cut: () => server.closeAllConnections(),
    expire: (token) => void expired.add(token),
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
