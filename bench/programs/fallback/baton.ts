// Another model answers where the first one cannot.
import { createHost, defineAgent } from '@baton/host'

const session = await createHost({
  agent: defineAgent({ name: 'shop', model: ['anthropic/claude-opus-4-5', 'anthropic/claude-haiku-4-5'] }),
}).session()
const { text } = await session.send('Say hello.').answer
console.log(text)
