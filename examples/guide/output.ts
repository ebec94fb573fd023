// A typed answer: the agent's schema validates it and gives it its type.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent, readOutput } from '@baton/host'
import { z } from 'zod'

const Verdict = z.object({
  verdict: z.enum(['valid', 'invalid', 'unsure']),
  reasons: z.array(z.string()).min(1),
})
const model = createScriptedModel({
  steps: [
    { text: '{"verdict":"perhaps","reasons":[]}' }, // does not fit: Baton asks once more, with the reason
    { text: '{"verdict":"valid","reasons":["it answers the question"]}' },
    { text: '{"papers":["Leases, 1989"]}' },
  ],
})
const judge = defineAgent({ name: 'judge', model, instructions: 'Judge the comment.', output: Verdict })
const host = createHost({ agent: judge })
const session = await host.session('comment-42')
const answer = await session.send('"Use a lease, as in the paper."').answer
console.log(answer.output?.verdict) // undefined if the turn was interrupted
console.log(readOutput(judge, answer).reasons) // the same value; throws if there is none

// One turn with its own schema.
const asked = session.send('Which papers does it name?', { output: z.object({ papers: z.array(z.string()) }) })
console.log((await asked.answer).output?.papers)
await host.stop()
