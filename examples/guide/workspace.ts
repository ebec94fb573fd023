// An agent finds a mistake in a folder and fixes it: it searches, reads and edits, and a person approves the change.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent } from '@baton/host'
import { workspaceTools } from '@baton/tools/workspace'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = await mkdtemp(join(tmpdir(), 'shop-')) // in your program: the folder that the model may see
await writeFile(join(root, 'hours.txt'), 'Monday 9 to 18\nWensday 9 to 13\n')
await writeFile(join(root, '.env'), 'TOKEN=secret\n')

const edits = [{ oldText: 'Wensday', newText: 'Wednesday' }]
const model = createScriptedModel({
  steps: [
    { calls: [{ name: 'code.grep', arguments: { pattern: '(?i)wensday' } }] },
    { calls: [{ name: 'content.get_span', arguments: { path: '.env' } }] },
    { calls: [{ name: 'fs.edit', arguments: { path: 'hours.txt', edits } }] },
    { text: 'It says "Wednesday" now.' },
  ],
})
const tools = workspaceTools({ root, write: true })
const host = createHost({ agent: defineAgent({ name: 'gardener', model, tools }) })
const session = await host.session('shop')
for await (const event of session.send('Mend the spelling.')) {
  if (event.type === 'approval-requested') {
    const [shown] = await session.approvals()
    console.log('asks:', shown?.title, shown?.diff)
    await session.decide({ approvalId: event.approvalId, decision: 'approve' })
  }
  if (event.type !== 'call' || !event.call.result) continue
  const { name, result } = event.call
  console.log(name, result.type === 'error' ? result.message : result.type)
}
console.log(await readFile(join(root, 'hours.txt'), 'utf8'))
await host.stop()
await rm(root, { recursive: true })
