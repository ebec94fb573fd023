// The same story over every store: a payment waits, its server is killed, a manager finds it in the inbox of another
// process, edits the sum and approves. The owner's page hears it, and it is paid once.
import type { SessionEvent } from '@baton/core'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { createDeliveries, findButtons } from '../fake-slack/deliveries.ts'
import type { FakeMessage, SlackFake } from '../fake-slack/fake-slack.ts'
import { findFreePort } from '../components/free-port.ts'
import { startCommand } from '../components/start-command.ts'
import type { StartedCommand } from '../components/start-command.ts'
import type { InboxServerWords } from './server.ts'

const SERVER = fileURLToPath(new URL('./server.ts', import.meta.url))
const LEASE_MS = 2000

export interface InboxWorld {
  readonly store: string
  readonly paidFile: string
  /** The manager decides in this Slack, and not over HTTP. */
  readonly slack?: SlackFake
  /** The manager decides in the console of the server at this address, and not over HTTP. */
  readonly decideInConsole?: (origin: string) => Promise<void>
}

const OFTEN = { interval: 100 }

export async function playInbox({ store, paidFile, slack, decideInConsole }: InboxWorld): Promise<void> {
  const started: StartedCommand[] = []
  const start = async (): Promise<ReturnType<typeof createApp>> => {
    const port = await findFreePort()
    const words: InboxServerWords = {
      store,
      port,
      paidFile,
      leaseMs: LEASE_MS,
      ...(slack && { slackUrl: slack.apiUrl }),
    }
    const server = startCommand(process.execPath, {
      words: ['--conditions=@baton/source', '--no-warnings', SERVER, JSON.stringify(words)],
    })
    started.push(server)
    await server.untilLine((line) => line.includes('listening'))
    return createApp(`http://127.0.0.1:${port}`)
  }
  try {
    const first = await start()
    const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Pay the invoice.' }] }]
    const page = first('ann', '/chat', { id: 'trip', messages }).catch(() => undefined)
    await expect.poll(async () => (await readInbox(first)).length, OFTEN).toBe(1)
    started[0]?.kill('SIGKILL')
    await started[0]?.ended
    await page

    const second = await start()
    const [asked] = await readInbox(second)
    expect(asked).toMatchObject({ session: 'trip', name: 'pay', input: { amount: 90 }, principal: { id: 'ann' } })
    expect(await (await second('ann', '/approvals')).json()).toEqual({ approvals: [] })
    const heard: SessionEvent[] = []
    const hearing = await hear(second, heard)
    const edit = { decision: 'edit', input: { amount: 70 }, note: 'the discount' }
    const decide = async (): Promise<number> =>
      (await second('mia manager', `/approvals/trip/${asked?.approvalId}`, edit)).status
    if (slack) await editInSlack(slack, second)
    else if (decideInConsole) await decideInConsole(second.origin)
    else await expect.poll(decide, OFTEN).toBe(200)
    await expect.poll(() => readPaid(paidFile), OFTEN).toEqual(['{"amount":70}'])
    const decision = { type: 'approval-decided', decision: 'edit', principal: { id: 'mia' }, note: 'the discount' }
    await expect.poll(() => heard.find(({ type }) => type === 'approval-decided'), OFTEN).toMatchObject(decision)
    expect(await readInbox(second)).toEqual([])
    expect(await decide()).toBe(409)
    const exported = (await (await second('ann', '/sessions/trip/export')).json()) as { readonly decisions: object[] } // as the test expects
    expect(exported.decisions).toMatchObject([decision])
    if (slack) await expectOutcome(slack)
    await hearing.cancel()
    expect(readPaid(paidFile)).toEqual(['{"amount":70}'])
  } finally {
    for (const server of started) server.kill('SIGKILL')
    await Promise.all(started.map(({ ended }) => ended))
  }
}

/** The request was posted by the server that is dead. */
async function editInSlack(slack: SlackFake, app: App): Promise<void> {
  const deliveries = createDeliveries({ slack, app: (request) => app.pass(request) })
  const message = await untilPosted(slack)
  await deliveries.click(message, 'Edit', { user: 'U0EVE' })
  await expect.poll(() => slack.ephemeral.map(({ user }) => user), OFTEN).toEqual(['U0EVE'])
  await deliveries.click(message, 'Edit', { user: 'U0MIA' })
  await expect.poll(() => slack.views.length, OFTEN).toBe(1)
  const values = { 'baton.arguments': '{"amount":70}', 'baton.note': 'the discount' }
  await expect.poll(() => deliveries.submit(values, { user: 'U0MIA' }), OFTEN).toBeUndefined()
}

async function untilPosted({ messages }: SlackFake): Promise<FakeMessage> {
  await expect.poll(() => messages.length, OFTEN).toBeGreaterThan(0)
  return messages[0] as FakeMessage // polled for
}

/** A server that dies before it has noted its message leaves it to the next one, which posts another. */
async function expectOutcome({ messages }: SlackFake): Promise<void> {
  const findRequest = (): FakeMessage | undefined => messages.findLast(({ threadTs }) => threadTs === undefined)
  const findWords = (): string => JSON.stringify(findRequest()?.blocks)
  await expect.poll(findWords, OFTEN).toMatch(/Approved with other arguments by.*<@U0MIA>/)
  await expect.poll(() => messages.find(({ threadTs }) => threadTs === findRequest()?.ts)?.text, OFTEN).toMatch(/Done/)
  const request = findRequest()
  expect(request && findButtons(request)).toEqual([])
}

interface App {
  (as: string, path: string, body?: object): Promise<Response>
  readonly origin: string
  /** Passes on a request of Slack. */
  pass(request: Request): Promise<Response>
}

function createApp(origin: string): App {
  const ask = async (as: string, path: string, body?: object): Promise<Response> =>
    await fetch(`${origin}/api${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${as}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
  const pass = async (request: Request): Promise<Response> => {
    const { headers } = request
    return await fetch(origin + new URL(request.url).pathname, { method: 'POST', headers, body: await request.text() })
  }
  return Object.assign(ask, { pass, origin })
}

interface Asked {
  readonly session: string
  readonly approvalId: string
}

async function readInbox(app: App): Promise<readonly Asked[]> {
  const page = (await (await app('mia manager', '/approvals')).json()) as { readonly approvals: readonly Asked[] } // as the test expects
  return page.approvals
}

/** Follows the owner's session as a page does. */
async function hear(app: App, heard: SessionEvent[]): Promise<{ cancel(): Promise<void> }> {
  let response = await app('ann', '/sessions/trip/events?from=now')
  for (; response.status === 503; response = await app('ann', '/sessions/trip/events?from=now'))
    await new Promise((resolve) => setTimeout(resolve, 100))
  expect(response.status).toBe(200)
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const reading = (async () => {
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
      text += next.value
      const lines = text.split('\n')
      text = lines.pop() ?? ''
      for (const line of lines) if (line.startsWith('data: ')) heard.push(JSON.parse(line.slice(6)) as SessionEvent)
    }
  })()
  return {
    cancel: async () => {
      await reader?.cancel()
      await reading
    },
  }
}

function readPaid(file: string): readonly string[] {
  return existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : []
}
