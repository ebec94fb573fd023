// A streamed answer.
import { createHost, defineAgent } from '@baton/host'

const session = await createHost({
  agent: defineAgent({ name: 'shop', model: 'anthropic/claude-haiku-4-5' }),
}).session()
for await (const event of session.send('Tell me a story.')) if (event.type === 'text') process.stdout.write(event.text)
console.log()
