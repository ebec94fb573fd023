// An explorer of a folder: it plans, looks around and reports what its calls have shown. `node explore.ts model.gguf`
// uses a real model.
import { createScriptedModel } from '@baton/host/testing'
import { createHost } from '@baton/host'
import { loadGgufModel } from '@baton/models/gguf'
import { createExplorer, readExploration } from '@baton/kits/explorer'

const [file] = process.argv.slice(2)
const root = import.meta.dirname
const evidence = [{ path: 'explore.ts', line: 1 }]
const scripted = createScriptedModel({
  steps: [
    { calls: [{ name: 'session.analyze', arguments: {} }] }, // Baton demands it first
    { calls: [{ name: 'plan.set', arguments: { entries: [{ content: 'Find explorers', tool: 'code.grep' }] } }] },
    { calls: [{ name: 'code.grep', arguments: { pattern: 'An explorer of a folder' } }] },
    {
      calls: [
        { name: 'explore.report', arguments: { findings: [{ text: 'No explorer', evidence: [{ path: 'no.ts' }] }] } },
      ],
    },
    { calls: [{ name: 'explore.report', arguments: { findings: [{ text: 'One explorer', evidence }] } }] },
    { text: 'There is one explorer here.' },
  ],
})
const explorer = createExplorer({ root, model: file === undefined ? scripted : await loadGgufModel(file) })
const host = createHost({ agent: explorer })
const session = await host.session('exploration') // over a store, a later exploration with this name knows this one
for await (const event of session.send('Which explorers are here?')) {
  if (event.type === 'session' && event.plan)
    console.log(event.plan.map(({ content, status }) => `${status}: ${content}`))
  if (event.type === 'call' && event.call.result?.type === 'error') console.log('refused:', event.call.result.message)
  if (event.type === 'turn-finished') console.log(event.text)
}
const { languages, findings } = await readExploration(session, { root })
console.log(
  languages[0]?.language,
  findings.map(({ text, evidence: [shown] }) => `${text}: ${shown?.tool}, line ${shown?.line}`),
)
await host.stop()
