// Reports what coding agents did in this folder: `node sessions.ts "Which files were edited most?"`.
import { createHost, createOfflineModel, defineAgent } from '@baton/host'
import { codingSessionTools } from '@baton/kits/coding-sessions'

const agent = defineAgent({
  name: 'historian',
  model: process.env['BATON_MODEL'] ?? createOfflineModel(),
  instructions: 'You say what coding agents did in this folder. Look it up, and name the sessions.',
  tools: codingSessionTools({ root: process.cwd() }),
})
const host = createHost({ agent })
const session = await host.session('history')
for await (const event of session.send(process.argv[2] ?? 'Which coding sessions mention "parser"?')) {
  if (event.type === 'call' && event.call.status === 'running') console.log('>', event.call.name)
  if (event.type === 'turn-finished') console.log(event.text)
}
await host.stop()
