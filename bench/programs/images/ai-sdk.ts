// A picture with the question: `node ai-sdk.ts plan.png`.
import { anthropic } from '@ai-sdk/anthropic'
import { generateText } from 'ai'
import { readFile } from 'node:fs/promises'

const data = await readFile(process.argv[2] ?? 'plan.png')
const { text } = await generateText({
  model: anthropic('claude-haiku-4-5'),
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'file', mediaType: 'image/png', data },
      ],
    },
  ],
})
console.log(text)
