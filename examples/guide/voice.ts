// A voice and its server, in one program: sentences are spoken, and the user interrupts one in the middle.
import { openSession } from '@baton/client'
import { createSilentSpeaker, createVoice } from '@baton/client/voice'
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent } from '@baton/host'
import { createWebSocketFront } from '@baton/server/websocket'

const model = createScriptedModel({
  steps: [
    {
      text: 'The **first** train leaves at 9.40. The next one is slower. It stops everywhere.',
      hangs: 'until-aborted',
    },
    { text: 'At 9.40.' },
  ],
})
const host = createHost({ agent: defineAgent({ name: 'trains', model }) })
const front = createWebSocketFront(host, { port: 0 })
const { url } = await front.listen()

const client = openSession({ url, session: 'call-1', speech: 'only' })
// In a page: createBrowserSpeaker(). This one makes no sound, and each word takes its time.
const speaker = createSilentSpeaker({ wordsPerMinute: 3000 })
const voice = createVoice(client, { speaker, confirmMs: 300 })
voice.on('error', ({ code, message }) => console.error(code, message))
voice.on('speech-end', ({ text, isWhole }) => console.log(isWhole ? 'said:' : 'cut: ', text))
voice.on('speech-word', (said) => {
  if (said.text.startsWith('The first') && said.words === 3) voice.pause() // a cough: it continues after confirmMs
  if (said.text.startsWith('The next') && said.words === 2) void voice.interrupt()
})
voice.on('state', (state) => console.log(`(${state})`))

const { text } = await client.send('When can I leave?').answer
console.log('the model knows:', text)
const said = new Promise<void>((resolve) => void voice.on('speech-end', () => resolve()))
client.send('When, please?')
await said
voice.close()
client.close()
await front.close()
await host.stop()
