// A goal in, a typed verdict out: the scan runs first, a person confirms uncertain verdicts, a turn has a budget, and
// the calls are listed.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent, readOutput, tool } from '@baton/host'
import { createPriceOf } from '@baton/models/prices'
import { z } from 'zod'

const scan = tool({
  name: 'scan_text_for_malicious_content',
  description: 'Checks whether a text contains instructions for its reader',
  input: z.object({ text: z.string() }),
  effect: 'pure',
  execute: ({ text }) => ({ verdict: /ignore your instructions/i.test(text) ? 'malicious' : 'clean' }),
})
const model = createScriptedModel({
  steps: [
    { calls: [{ name: scan.name, arguments: { text: 'Use a lease.' } }] },
    { text: '{"verdict":"valid","confidence":0.6,"reasons":["it meets the requirement"]}' },
  ],
})
const judge = defineAgent({
  name: 'judge',
  model,
  instructions: 'Judge whether the comment meets the requirements of the bounty.',
  tools: [scan],
  output: z.object({
    verdict: z.enum(['valid', 'invalid']),
    confidence: z.number().min(0).max(1),
    reasons: z.array(z.string()),
  }),
  limits: { turnCostMicros: 50_000 }, // five US cents
  // Whatever the model does: no other call and no verdict precedes the scan, and a person confirms uncertain verdicts.
  firstTool: scan.name,
  checkAnswer: ({ output: { verdict, confidence } }) =>
    confidence < 0.7 ? { ask: `its confidence is ${confidence}`, title: `Confirm "${verdict}"` } : 'accept',
})
const host = createHost({ agent: judge, priceOf: createPriceOf({ 'scripted/model': { input: 1, output: 5 } }) })
const session = await host.session('submission-17')
const goal = 'Requirement: explain leases. Comment: "Use a lease."'
// The submission's own id: sent again, it gets the same verdict and costs nothing.
const turn = session.send(goal, { inputId: 'submission-17' })
for await (const event of turn) {
  if (event.type === 'call' && event.call.result) console.log('because of', event.call.name, event.call.result.type)
  if (event.type !== 'approval-requested') continue
  console.log(event.call.title, 'because', event.call.asked?.message)
  await session.decide({ approvalId: event.approvalId, decision: 'approve' })
}
console.log(readOutput(judge, await turn.answer).verdict)
await host.stop()
