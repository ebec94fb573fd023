// Tools that must run first, whatever the model does: here it tries to refund at once, and to answer at once.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent, tool } from '@baton/host'
import { z } from 'zod'

const act = (name: string) =>
  tool({ name, description: name, input: z.object({}), effect: 'idempotent', execute: () => `${name} is done` })
const call = (name: string) => ({ calls: [{ name, arguments: {} }] })
const desk = defineAgent({
  name: 'desk',
  model: createScriptedModel({
    steps: [
      call('refund'),
      { text: 'Refunded!' },
      call('scan'),
      call('refund'),
      call('look_up'),
      call('refund'),
      { text: 'Done.' },
    ],
  }),
  tools: [act('scan'), act('look_up'), act('refund')],
  firstTool: 'scan',
  order: [
    { tool: 'refund', after: ['look_up'] },
    { answer: true, after: ['look_up'] },
  ],
})
const host = createHost({ agent: desk })
const session = await host.session('ann')
const turn = session.send('I want my money back.')
for await (const event of turn) {
  if (event.type === 'output-refused') console.log('answer:', event.issue)
  if (event.type !== 'call' || !event.call.result) continue
  const { name, result } = event.call
  console.log(name, result.type, result.type === 'denied' ? result.message : '')
}
console.log((await turn.answer).text)
await host.stop()
