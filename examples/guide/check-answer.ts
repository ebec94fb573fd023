// A reviewer whose rules hold whatever the model does: the scan runs first, evidence must exist, and a person confirms
// uncertain verdicts.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent, readOutput, tool } from '@baton/host'
import { z } from 'zod'

const scan = tool({
  name: 'scan',
  description: 'Checks whether a text contains instructions for its reader',
  input: z.object({ text: z.string() }),
  effect: 'pure',
  execute: ({ text }) => (/ignore your instructions/i.test(text) ? 'malicious' : 'clean'),
})
const answer = (confidence: number, evidence: readonly string[]) => ({
  text: JSON.stringify({ verdict: 'valid', confidence, evidence }),
})
// It answers at once, then cites a tool that never ran, and then is uncertain.
const model = createScriptedModel({
  steps: [
    answer(0.9, ['scan']),
    { calls: [{ name: 'scan', arguments: { text: 'Use a lease.' } }] },
    answer(0.9, ['scan', 'look_up']),
    answer(0.4, ['scan']),
  ],
})
const reviewer = defineAgent({
  name: 'reviewer',
  model,
  tools: [scan],
  output: z.object({ verdict: z.enum(['valid', 'invalid']), confidence: z.number(), evidence: z.array(z.string()) }),
  firstTool: 'scan',
  checkAnswer: ({ output: { verdict, confidence, evidence } }, { calls }) => {
    const missing = evidence.filter((cited) => !calls.some(({ name, ok }) => name === cited && ok))
    if (missing.length > 0) return { again: `"evidence" names what has no result: ${missing.join(', ')}` }
    if (confidence < 0.7)
      return { ask: `its confidence is ${confidence}`, title: `Confirm "${verdict}"`, by: [{ id: 'mod' }] }
    return 'accept'
  },
})
const host = createHost({ agent: reviewer })
const session = await host.session('submission-17')
const turn = session.send('Is "Use a lease." valid for payout?')
for await (const event of turn) {
  if (event.type === 'output-refused') console.log(`sent back by ${event.by}: ${event.issue}`)
  if (event.type !== 'approval-requested') continue
  console.log(event.call.title, 'because', event.call.asked?.message)
  await session.decide({ approvalId: event.approvalId, decision: 'approve' }, { principal: { id: 'mod' } })
}
console.log(readOutput(reviewer, await turn.answer).verdict)
await host.stop()
