// The user stops an answer; the next question continues from the partial answer.
import { createHost, defineAgent } from '@baton/host'

const session = await createHost({
  agent: defineAgent({ name: 'teller', model: 'anthropic/claude-haiku-4-5' }),
}).session()
for await (const event of session.send('Tell me a story.')) if (event.type === 'text') await session.interrupt()
const { text } = await session.send('Shorter, please.').answer
console.log(text)
