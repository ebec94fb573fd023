// A payment that people decide in Slack. This program answers in Slack's place; leave `fetch` out, take the token and the
// secret from your app, and it is Slack.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent, tool } from '@baton/host'
import { createSlack } from '@baton/notices/slack'
import { createNodeListener } from '@baton/server/http'
import { createServer } from 'node:http'

/** Answers in Slack's place. */
function answerAsSlack() {
  const calls: string[] = []
  let onCall = (): void => {}
  const untilCalls = async (count: number): Promise<void> => {
    while (calls.length < count) await new Promise<void>((resolve) => (onCall = resolve))
  }
  const answer: typeof fetch = async (url, init) => {
    const request = new Request(url, init)
    const { text } = (await request.json()) as { text: string }
    calls.push(request.url.replace('https://slack.com/api/', ''))
    console.log(calls.at(-1), '|', text)
    onCall()
    return Response.json({ ok: true, channel: 'C0123456789', ts: '1700000000.000100' })
  }
  return { answer, untilCalls }
}

const { answer, untilCalls } = answerAsSlack()
const slack = createSlack({
  botToken: process.env['SLACK_BOT_TOKEN'] ?? 'xoxb-example',
  signingSecret: process.env['SLACK_SIGNING_SECRET'] ?? 'the signing secret of the app',
  channel: 'C0123456789',
  fetch: answer,
})

const pay = tool({
  name: 'pay',
  description: 'Pays an invoice',
  input: { type: 'object', properties: { euros: { type: 'number' } }, required: ['euros'] },
  effect: 'once',
  approval: true,
  deciders: { people: ['slack:T0ACME:U0MIA'] },
  describe: ({ euros }) => ({ title: `Pay ${euros} euros` }),
  execute: ({ euros }) => `paid ${euros}`,
})
const model = createScriptedModel({
  steps: [{ calls: [{ name: 'pay', arguments: { euros: 40 } }] }, { text: 'It is paid.' }],
})
const host = createHost({ agent: defineAgent({ name: 'shop', model, tools: [pay] }), notify: [slack.notices] })
const server = createServer(createNodeListener(slack.handler(host))).listen() // for /slack/events and /slack/interactivity

const session = await host.session('ann')
const turn = session.send('Pay 40 euros.')
for await (const event of turn)
  if (event.type === 'approval-requested') {
    await untilCalls(1)
    // A click of Mia does the same.
    await host.decide(
      'ann',
      { approvalId: event.approvalId, decision: 'approve' },
      { by: { id: 'slack:T0ACME:U0MIA' } },
    )
  }
console.log((await turn.answer).text)
await untilCalls(3)
await host.stop()
server.close()
