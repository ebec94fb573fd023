// A server whose agent pays once a manager approves, over a shared database or a file, for tests that kill it. Its words
// name the store, its port and the file in which a payment is a line.
import { createConsole } from '@baton/console'
import type { Principal } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, openSqliteStore } from '@baton/host'
import { openPostgresStore } from '@baton/host/postgres'
import { createSlack } from '@baton/notices/slack'
import { createHandler, createNodeListener } from '@baton/server/http'
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { SIGNING_SECRET } from '../fake-slack/deliveries.ts'
import { BOT_TOKEN } from '../fake-slack/fake-slack.ts'

export interface InboxServerWords {
  /** `postgres://…`, or the path of a SQLite file. */
  readonly store: string
  readonly port: number
  readonly paidFile: string
  readonly leaseMs: number
  /** Address of Slack's Web API, in whose channel C0PAY the managers are. */
  readonly slackUrl?: string
}

async function serve({ store: place, port, paidFile, leaseMs, slackUrl }: InboxServerWords): Promise<void> {
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
  const slack =
    slackUrl === undefined
      ? undefined
      : createSlack({
          botToken: BOT_TOKEN,
          signingSecret: SIGNING_SECRET,
          channel: 'C0PAY',
          apiUrl: slackUrl,
          retriesMs: Array.from({ length: 20 }, () => 200),
          principalOf: ({ user }) => (user === 'U0MIA' ? { id: 'mia', roles: ['manager'] } : undefined),
          userOf: (principal) => (principal === 'mia' ? 'U0MIA' : undefined),
        })
  const agent = defineAgent({ name: 'shop', model, tools: [pay] })
  const host = createHost({ agent, store, ...(slack && { notify: [slack.notices] }) })
  if (slack) await host.recover()
  // A login such as `Bearer mia manager`: a name, then roles.
  const authenticate = ({ headers }: Request): Principal | undefined => {
    const [id, ...roles] = headers.get('authorization')?.split(' ').slice(1) ?? []
    return id === undefined ? undefined : { id, roles }
  }
  const handler = createHandler(host, { authenticate })
  const consoleHandler = createConsole(host, { authenticate, roles: { manager: ['see', 'decide'] } })
  const slackHandler = slack?.handler(host)
  const answer = (request: Request): Promise<Response> =>
    new URL(request.url).pathname.startsWith('/console')
      ? consoleHandler(request)
      : slackHandler && request.url.includes('/slack/')
        ? slackHandler(request)
        : handler(request)
  const server = createServer(createNodeListener(answer))
  server.listen(port, '127.0.0.1', () => process.stdout.write('{"event":"listening"}\n'))
}

await serve(JSON.parse(process.argv[2] ?? '') as InboxServerWords) // written by the test
