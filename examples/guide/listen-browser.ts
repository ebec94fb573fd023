// A browser that transcribes, and its server, in one program: the app sends what it hears, over version 2.
import { openSession } from '@baton/client'
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent } from '@baton/host'
import { createWebSocketFront } from '@baton/server/websocket'

const model = createScriptedModel({ steps: () => ({ text: 'Ask for a week to decide.' }) })
const agent = defineAgent({ name: 'negotiator', model, emptyAnswer: 'silence' })
const host = createHost({ agent })
const front = createWebSocketFront(host, { port: 0 })
const { url } = await front.listen()

const client = openSession({ url, session: 'call-1' })
client.hear('Ann', 'Shall we talk about the price?')
client.hear('Bob', 'Gladly.')
const { answer } = client.notify({ name: 'OFFER_MADE', detail: { cents: 120_000 }, label: 'Negotiation Event' })
const { stop, text } = await answer
console.log(stop, text) // `silent` if the agent has nothing to say

client.close()
await front.close()
await host.stop()
