// An agent that asks two others at once. One of them needs an approval, which is asked at the session of the first agent.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent, delegate, tool } from '@baton/host'
import { z } from 'zod'

const order = tool({
  name: 'paper.order',
  description: 'Orders a paper from a library',
  input: z.object({ title: z.string() }),
  effect: 'once',
  approval: true,
  execute: ({ title }) => `"${title}" costs 12 euros: Oslo has 717,710 people.`,
})
const reader = defineAgent({
  name: 'reader',
  model: createScriptedModel({ steps: [{ text: 'Oslo lies at the end of a fjord.' }] }),
})
const librarian = defineAgent({
  name: 'librarian',
  model: createScriptedModel({
    steps: [{ calls: [{ name: 'paper.order', arguments: { title: 'Cities' } }] }, { text: 'Oslo has 717,710 people.' }],
  }),
  tools: [order],
})
const writer = defineAgent({
  name: 'writer',
  model: createScriptedModel({
    steps: [
      {
        calls: [
          { name: 'reader', arguments: { task: 'Where is Oslo?' } },
          { name: 'librarian', arguments: { task: 'How many people live in Oslo?' } },
        ],
      },
      { text: 'Oslo, at the end of a fjord, has 717,710 people.' },
    ],
  }),
  tools: [
    delegate({ agent: reader, description: 'Looks up places' }),
    delegate({ agent: librarian, description: 'Finds numbers in papers' }),
  ],
})
const host = createHost({ agent: writer })
const session = await host.session('article')
const turn = session.send('Write about Oslo.')
for await (const event of turn) {
  if (event.type !== 'approval-requested') continue
  const [approval] = await session.approvals()
  console.log(`${approval?.path?.[0]?.agent} wants to call ${approval?.name}`)
  await session.decide({ approvalId: event.approvalId, decision: 'approve' })
}
console.log((await turn.answer).text)
await host.stop()
