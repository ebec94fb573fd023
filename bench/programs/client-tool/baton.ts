// A tool that runs on the user's device. Both sides are in this file and share only an address, like two programs.
import { createV1Client } from '@baton/client'
import { createHost, defineAgent, tool } from '@baton/host'
import { createWebSocketFront } from '@baton/server/websocket'
import { z } from 'zod'

const place = tool({
  name: 'place',
  description: 'Where the user is',
  input: z.object({ exact: z.boolean().optional() }),
  effect: 'pure',
})
const agent = defineAgent({ name: 'guide', model: 'anthropic/claude-haiku-4-5', tools: [place] })
const front = createWebSocketFront({ host: createHost({ agent }), port: 0 })
const { url } = await front.listen()

const app = createV1Client<typeof agent>({ url, session: 'ann', tools: { place: () => ({ city: 'Oslo' }) } })
const text = await new Promise<string>((resolve, reject) => {
  app.on('final', resolve)
  app.on('error', ({ message }) => reject(new Error(message)))
  app.say('Where am I?')
})
console.log(text)
app.close()
await front.close()
