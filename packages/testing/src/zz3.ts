import { createHost, createMemoryStore, defineAgent, delegate, tool } from '@baton/host'
import { createScriptedModel } from '@baton/core/testing'
const empty = { type: 'object', properties: {} } as const
const pay = tool({ name: 'pay', description: 'pay', input: empty, effect: 'once', approval: true, execute: () => 'paid' })
const ans = (calls: any, text: string) => ({ messages }: any) => messages.at(-1)?.role === 'tool' ? { text: text + JSON.stringify(messages.at(-1).parts) } : { calls }
const clerk = defineAgent({ name: 'clerk', model: createScriptedModel({ steps: ans([{ name: 'pay', arguments: {} }], 'paid') }), tools: [pay] })
const disk = createMemoryStore()
let left = 0
const fail = (s: string) => { if (s !== 's' || left === 0) return; left -= 1; console.log('FAIL', s); throw new Error('full') }
const store = { ...disk, append: async (s: string, ...g: any) => { fail(s); return await (disk.append as any)(s, ...g) }, acquire: async (s: string, ...g: any) => { fail(s); return await (disk.acquire as any)(s, ...g) } } as any
const host = createHost({ store, log: { info: () => {}, warn: (m, d) => console.log(m, JSON.stringify(d)) }, agent: defineAgent({ name: 'boss', model: createScriptedModel({ steps: ans([{ name: 'clerk', arguments: { task: 'Pay' } }], 'Done.') }), tools: [delegate({ agent: clerk, description: 'Pays' })] }) })
const session = await host.session('s')
left = 4
session.send('Pay it.', { inputId: 'm1' }).answer.then(console.log, (e) => console.log('ANSWER', e.message))
const show = async () => { for await (const r of disk.read('s', 0)) console.log(r.pos, r.epoch, r.input.type, r.facts.map(f=>f.type).join(' ')); for await (const c of disk.children('s')) { console.log(c.session.slice(0,20)); for await (const r of disk.read(c.session,0)) console.log('  ', r.pos, r.epoch, r.input.type, r.facts.map(f=>f.type).join(' ')) } }
for (let i = 0; i < 60; i++) { await new Promise(r => setTimeout(r, 100)); for (const { approvalId } of await session.approvals().catch(() => [])) { console.log('decide', approvalId); await session.decide({ approvalId, decision: 'approve' }).catch((e) => console.log('decide failed', e.message)) } }
await show(); console.log(await session.info().catch(String)); process.exit()
