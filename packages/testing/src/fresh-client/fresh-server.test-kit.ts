// The server that a fresh client's plays talk to: `node … PORT STORE REQUESTS`. It prints its address, and writes each
// request to the model as a line of the file REQUESTS.
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, openSqliteStore } from '@baton/host'
import { createWebSocketFront } from '@baton/server/websocket'
import { appendFileSync } from 'node:fs'

const [port = '0', store = '', requests = ''] = process.argv.slice(2)
const NOTHING = { type: 'object', properties: {} } as const

const open = tool({ name: 'door.open', description: 'Opens the door', input: NOTHING, effect: 'once' })
const quick = tool({ name: 'quick', description: 'Has a second', input: NOTHING, effect: 'once', timeoutMs: 1000 })
const pay = tool({
  name: 'pay',
  description: 'Pays',
  input: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
  effect: 'once',
  approval: true,
  execute: ({ amount }) => `paid ${amount}`,
})

const model = createScriptedModel({
  steps: ({ messages }) => {
    appendFileSync(requests, `${JSON.stringify(messages)}\n`)
    const last = messages.at(-1)
    if (last?.role === 'tool') {
      const content = last.parts.flatMap((part) => part.content).at(-1)
      return { text: `Got ${content?.type === 'text' ? content.text : 'nothing'}.` }
    }
    const said =
      last?.role === 'user' ? last.parts.map((part) => (part.type === 'text' ? part.text : '')).join(' ') : ''
    if (said.includes('open')) return { text: 'One moment.', calls: [{ name: 'door.open', arguments: {} }] }
    if (said.includes('quick')) return { calls: [{ name: 'quick', arguments: {} }] }
    if (said.includes('pay')) return { calls: [{ name: 'pay', arguments: { amount: 3 } }] }
    if (said.includes('hang')) return { pieces: ['It is raining. ', 'Take a coat.'], hangs: 'until-aborted' }
    if (said.includes('story')) return { pieces: ['Once upon a time. ', 'There was a \u{1f600} king. ', 'He died.'] }
    return { text: `Heard: ${said}` }
  },
})

const host = createHost({
  agent: defineAgent({ name: 'home', model, tools: [open, quick, pay] }),
  store: await openSqliteStore(store),
})
const { url } = await createWebSocketFront(host, { port: Number(port) }).listen()
await host.recover()
process.stdout.write(`${url}\n`)
