// Another agent as a tool: here a second Baton, which looks around in this folder. `opencode acp` and others work the
// same way.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent } from '@baton/host'
import { acpAgent } from '@baton/kits/acp-agent'

const explorer = acpAgent({
  command: 'npx',
  args: ['--no', 'baton', 'acp', '--model', 'offline', '--store', 'memory:'],
  title: 'Explorer',
  cwd: import.meta.dirname,
  approval: false, // by default a person approves each task
})
const model = createScriptedModel({
  steps: [
    { calls: [{ name: 'agent.run', arguments: { task: 'Which files here mention "acpAgent"?' } }] },
    { text: 'It is in other-agent.ts.' },
  ],
})
const host = createHost({ agent: defineAgent({ name: 'boss', model, tools: [explorer.tool] }) })
const session = await host.session('work')
for await (const event of session.send('Where is acpAgent used?')) {
  if (event.type === 'question-asked') await session.answer({ questionId: event.questionId, decline: true })
  if (event.type === 'call' && event.call.result) {
    const { result } = event.call
    console.log(result.type === 'ok' ? result.value : result)
  }
  if (event.type === 'turn-finished') console.log(event.text)
}
await host.stop()
await explorer.close()
