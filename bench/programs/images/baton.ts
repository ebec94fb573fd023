// A picture with the question: `node baton.ts plan.png`.
import { createHost, defineAgent } from '@baton/host'
import { readFile } from 'node:fs/promises'

const session = await createHost({
  agent: defineAgent({ name: 'plans', model: 'anthropic/claude-haiku-4-5' }),
}).session()
const data = await readFile(process.argv[2] ?? 'plan.png', 'base64')
const { text } = await session.send([
  { type: 'text', text: 'What is this?' },
  { type: 'image', mediaType: 'image/png', source: { type: 'base64', data } },
]).answer
console.log(text)
