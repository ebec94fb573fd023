// An explorer of a folder, with a plan that people see and a model that runs in this process: `node explore.ts model.gguf`.
import { createHost, createOfflineModel, defineAgent } from '@baton/host'
import { loadGgufModel } from '@baton/models/gguf'
import { workspaceTools } from '@baton/tools/workspace'

const [file] = process.argv.slice(2)
const agent = defineAgent({
  name: 'explorer',
  model: file === undefined ? createOfflineModel() : await loadGgufModel(file),
  instructions: 'You explore the folder that you were given. Cite files.',
  tools: workspaceTools({ root: process.cwd() }),
  limits: { toolRounds: 10 },
  window: { actAtTokens: 3500, summarise: true, keepExchanges: 5 },
})
const host = createHost({ agent })
const session = await host.session('exploration')
for await (const event of session.send('Which files here mention "workspaceTools"?')) {
  if (event.type === 'call' && event.call.status === 'running') console.log('>', event.call.name)
  if (event.type === 'turn-finished') console.log(event.text)
}
await host.stop()
