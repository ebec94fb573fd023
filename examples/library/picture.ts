// A picture with words: `node picture.ts plan.png`. The scripted model plays one with vision.
import { createHost, defineAgent } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { readFile } from 'node:fs/promises'

const model = createScriptedModel({
  steps: ({ messages: [first] }) => ({ text: `I see: ${first?.parts.map(({ type }) => type).join(', ')}.` }),
})
const host = createHost({ agent: defineAgent({ name: 'plans', model }) })
const session = await host.session()
const data = (await readFile(process.argv[2] ?? 'plan.png')).toString('base64')
const rules = 'https://example.org/rules.pdf' // fetched by the provider
const { text } = await session.send([
  { type: 'text', text: 'What is wrong with this plan?' },
  { type: 'image', mediaType: 'image/png', source: { type: 'base64', data } },
  { type: 'file', mediaType: 'application/pdf', name: 'rules.pdf', source: { type: 'url', url: rules } },
]).answer
console.log(text)
await host.stop()
