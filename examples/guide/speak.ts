// An app with a voice and its server, in one program: it says whole sentences, and the user interrupts it.
import { openSession } from '@baton/client'
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent } from '@baton/host'
import { createWebSocketFront } from '@baton/server/websocket'

const model = createScriptedModel({
  steps: [
    { text: 'The **first** train leaves at 9.40. The next one is slower:\n- it leaves at 10.', hangs: 'until-aborted' },
    { text: 'At 9.40.' },
  ],
})
const host = createHost({ agent: defineAgent({ name: 'trains', model }) })
const front = createWebSocketFront(host, { port: 0 })
const { url } = await front.listen()

const client = openSession({ url, session: 'call-1', speech: 'only' })
client.on('sentence', ({ text, message, end }) => {
  console.log('says:', text) // a voice plays it, and reports when it has ended
  if (text.startsWith('The next')) void client.interrupt({ heard: { type: 'chars', message, chars: end } })
})
// The model is called again after an error: a voice drops what it has not said yet.
client.on('sentences.dropped', ({ index }) => console.log('not said from', index))

console.log('heard:', (await client.send('When can I leave?').answer).text)
await client.send('When, please?').answer
client.close()
await front.close()
await host.stop()
