// Another model answers if the first one fails.
import { createHost, defineAgent } from '@baton/host'

const session = await createHost({
  agent: defineAgent({ name: 'shop', model: ['anthropic/claude-opus-4-5', 'anthropic/claude-haiku-4-5'] }),
}).session()
const { text } = await session.send('Say hello.').answer
console.log(text)
