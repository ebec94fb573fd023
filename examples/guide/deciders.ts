// A payment that a manager decides, who finds it in the inbox, corrects the sum and approves.
import { createHost, defineAgent, tool } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { z } from 'zod'

const pay = tool({
  name: 'pay',
  description: 'Pays an invoice',
  input: z.object({ to: z.string(), euros: z.number().max(500) }),
  effect: 'once',
  approval: true,
  deciders: { roles: ['manager'], notAsker: true },
  describe: ({ to, euros }) => ({ title: `${euros} euros to ${to}`, destination: to }),
  execute: ({ to, euros }) => `paid ${euros} euros to ${to}`,
})
const model = createScriptedModel({
  steps: [{ calls: [{ name: 'pay', arguments: { to: 'Acme', euros: 90 } }] }, { text: 'It is paid.' }],
})
const limits = { approvalMs: 7 * 24 * 3_600_000 } // a week to decide
const host = createHost({ agent: defineAgent({ name: 'desk', model, tools: [pay], limits }) })

const session = await host.session('invoice-7', { principal: { id: 'ann' } })
const turn = session.send('Pay the invoice of Acme.')

const mia = { id: 'mia', roles: ['manager'] } // as `authenticate` of a server returns her
for await (const { approvals } of host.watchApprovals({ decider: mia })) {
  const [asked] = approvals
  if (!asked) continue
  console.log(`${asked.principal.id} asks: ${asked.title}`)
  const { session: id, approvalId } = asked
  const input = { to: 'Acme', euros: 70 }
  await host.decide(id, { approvalId, decision: 'edit', input, note: 'a discount' }, { by: mia })
  break
}
for await (const event of turn)
  if (event.type === 'approval-decided') console.log(`${event.principal.id} decided: ${event.decision}, ${event.note}`)
  else if (event.type === 'call' && event.call.result?.type === 'ok') console.log(event.call.input)
await host.stop()
