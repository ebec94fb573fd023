// A host whose agent pays, with Slack as its inbox, for tests.
import { createScriptedModel } from '@baton/core/testing'
import type { ScriptedModelOptions } from '@baton/core/testing'
import type { NoticeDestination } from '@baton/core/internal'
import type { Store } from '@baton/host'
import { createHost, createMemoryStore, createNodeEnvironment, defineAgent, tool } from '@baton/host'
import type { FakeMessage, SlackFake } from '@baton/testing/fake-slack'
import { BOT_TOKEN, BOT_USER, startSlackFake } from '@baton/testing/fake-slack'
import { createDeliveries, SIGNING_SECRET } from '@baton/testing/fake-slack-deliveries'
import type { SlackOptions } from './slack.ts'
import { createSlack } from './slack.ts'

export const CHANNEL = 'C0PAY'
export const MANAGER = 'U0MANAGER'
export const STRANGER = 'U0STRANGER'
export const MANAGER_ID = 'slack:T0TEAM:U0MANAGER'

export interface SlackWorldOptions {
  readonly steps?: ScriptedModelOptions['steps']
  readonly slack?: Partial<SlackOptions>
  readonly store?: Store
  readonly fake?: SlackFake
  readonly limits?: { readonly approvalMs: number }
  /** Address of this host for the others over its store. */
  readonly address?: string
  /** Fields of the tool `pay`. */
  readonly pay?: object
  /** Sends each notice twice, as a host does that died before it had stored that it was taken. */
  readonly repeats?: boolean
  /** Loses the note of the first message, as a host that dies before it is stored; what follows waits for this. */
  readonly forgets?: Promise<void>
}

export const PAYING: ScriptedModelOptions['steps'] = [
  { calls: [{ name: 'pay', arguments: { euros: 4000, to: 'Acme' } }] },
  { text: 'It is paid.' },
]

export async function startFake(): Promise<SlackFake> {
  const fake = await startSlackFake()
  fake.channels.set(CHANNEL, { members: new Set([BOT_USER, MANAGER, STRANGER, 'U0ANN', 'U0BOB']) })
  fake.channels.set('D0ANN', { members: new Set([BOT_USER, 'U0ANN']), isIm: true })
  fake.channels.set('C0OTHER', { members: new Set(['U0ANN']) })
  return fake
}

export async function createSlackWorld(init: SlackWorldOptions = {}) {
  const fake = init.fake ?? (await startFake())
  const store = init.store ?? createMemoryStore({ leaseMs: Infinity })
  const paid: unknown[] = []
  const warnings: string[] = []
  const clock = { aheadMs: 0 }
  const platform = createNodeEnvironment()
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: {
      type: 'object',
      properties: { euros: { type: 'number', maximum: 10_000 }, to: { type: 'string' } },
      required: ['euros', 'to'],
    },
    effect: 'once',
    approval: true,
    deciders: { people: [MANAGER_ID] },
    describe: ({ euros, to }) => ({ title: `Pay ${euros} euros to ${to}` }),
    execute: (input) => {
      paid.push(input)
      return 'paid'
    },
    ...init.pay,
  })
  const slack = createSlack({
    botToken: BOT_TOKEN,
    signingSecret: SIGNING_SECRET,
    channel: CHANNEL,
    apiUrl: fake.apiUrl,
    retriesMs: Array.from({ length: 10 }, () => 20),
    log: { warn: (message, data) => void warnings.push(`${message} ${JSON.stringify(data)}`) },
    ...init.slack,
  })
  const host = createHost({
    agent: defineAgent({
      name: 'desk',
      model: createScriptedModel({ steps: init.steps ?? PAYING }),
      tools: [pay],
      ...(init.limits && { limits: init.limits }),
    }),
    store,
    environment: {
      ...platform,
      clock: {
        nowMs: () => platform.clock.nowMs() + clock.aheadMs,
        monotonicMs: () => platform.clock.monotonicMs?.() ?? performance.now(),
      },
    },
    notify: [{ ...slack.notices, send: sendAs(slack.notices, init) }],
    ...(init.address !== undefined && { address: init.address }),
    log: { info: () => {}, warn: (message, data) => void warnings.push(`${message} ${JSON.stringify(data)}`) },
  })
  const handler = slack.handler(host)
  const deliveries = createDeliveries({ slack: fake, app: handler })
  const newest = (): FakeMessage | undefined => fake.messages.findLast(({ user }) => user === BOT_USER)
  return { fake, store, paid, warnings, clock, slack, host, handler, deliveries, newest }
}

function sendAs({ send }: NoticeDestination, { repeats, forgets }: SlackWorldOptions): NoticeDestination['send'] {
  if (repeats) return async (notice, context) => (await send(notice, context)) ?? (await send(notice, context))
  if (!forgets) return send
  let isForgotten = false
  return async (notice, context) => {
    if (isForgotten) await forgets
    const put: typeof context.notes.put = async (name, text) => {
      if (isForgotten || !text.includes('"ts"')) return await context.notes.put(name, text)
      isForgotten = true
      throw new Error('the host dies')
    }
    return await send(notice, { ...context, notes: { ...context.notes, put } })
  }
}

/** The words of a message, with its blocks as text. */
export function wordsOf(message: Pick<FakeMessage, 'text' | 'blocks'> | undefined): string {
  return `${message?.text ?? ''} ${JSON.stringify(message?.blocks ?? [])}`
}
