// A server whose agent pays once a manager approves, over a shared database or a file, for tests that kill it. Its words
// name the store, its port and the file in which a payment is a line.
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, openSqliteStore } from '@baton/host'
import { openPostgresStore } from '@baton/host/postgres'
import { createHandler, createNodeListener } from '@baton/server/http'
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'

export interface InboxServerWords {
  /** `postgres://…`, or the path of a SQLite file. */
  readonly store: string
  readonly port: number
  readonly paidFile: string
  readonly leaseMs: number
}

async function serve({ store: place, port, paidFile, leaseMs }: InboxServerWords): Promise<void> {
  const store = place.startsWith('postgres:')
    ? await openPostgresStore(place, { leaseMs })
    : await openSqliteStore(place)
  const pay = tool({
    name: 'pay',
    description: 'Pays an invoice',
    input: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
    effect: 'once',
    approval: true,
    deciders: { roles: ['manager'], notAsker: true },
    execute: (input) => {
      appendFileSync(paidFile, `${JSON.stringify(input)}\n`, { flush: true })
      return 'paid'
    },
  })
  const model = createScriptedModel({
    steps: ({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? { text: 'It is paid.' }
        : { calls: [{ name: 'pay', arguments: { amount: 90 } }] },
  })
  const host = createHost({ agent: defineAgent({ name: 'shop', model, tools: [pay] }), store })
  const handler = createHandler(host, {
    // A login such as `Bearer mia manager`: a name, then roles.
    authenticate: ({ headers }) => {
      const [id, ...roles] = headers.get('authorization')?.split(' ').slice(1) ?? []
      return id === undefined ? undefined : { id, roles }
    },
  })
  const server = createServer(createNodeListener(handler))
  server.listen(port, '127.0.0.1', () => process.stdout.write('{"event":"listening"}\n'))
}

await serve(JSON.parse(process.argv[2] ?? '') as InboxServerWords) // written by the test
