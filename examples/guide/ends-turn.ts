// A turn that ends at a tool: the model files a report and is not asked to comment on it.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent, tool } from '@baton/host'
import { z } from 'zod'

const file = tool({
  name: 'file',
  description: 'Files the report. Call it once, when the report is complete.',
  input: z.object({ title: z.string(), findings: z.array(z.string()) }),
  endsTurn: true,
  execute: ({ title }) => ({ id: 'R-1', title }),
})
const report = { title: 'Leases', findings: ['they expire'] }
const model = createScriptedModel({ steps: [{ calls: [{ name: 'file', arguments: report }] }] })
const host = createHost({ agent: defineAgent({ name: 'reporter', model, tools: [file] }) })
const session = await host.session('papers')

const answer = await session.send('Report on leases.').answer
if (answer.stop === 'tool') for (const { name, input, result } of answer.calls) console.log(name, input, result)
await host.stop()
