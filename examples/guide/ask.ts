// A tool that asks its user during a call, and waits for the answer.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent, tool } from '@baton/host'

const schema = { type: 'object', properties: { size: { enum: ['S', 'M', 'L'] } }, required: ['size'] }
const shirt = tool({
  name: 'shirt.order',
  description: 'Orders a shirt',
  input: { type: 'object' },
  effect: 'idempotent',
  execute: async (_input, { ask }) => ({ ordered: await ask({ message: 'Which size?', schema }) }),
})
const model = createScriptedModel({
  steps: [{ calls: [{ name: 'shirt.order', arguments: {} }] }, { text: 'It is on its way.' }],
})
const host = createHost({ agent: defineAgent({ name: 'shop', model, tools: [shirt] }) })
const session = await host.session('ann')
const turn = session.send('A shirt, please.')
for await (const event of turn) {
  if (event.type !== 'question-asked') continue
  console.log(event.message)
  await session.answer({ questionId: event.questionId, value: { size: 'M' } })
}
console.log((await turn.answer).text)
await host.stop()
