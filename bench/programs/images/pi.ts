// A picture with the question: `node pi.ts plan.png`.
import { contentText } from '@earendil-works/pi-ai'
import { builtinModels } from '@earendil-works/pi-ai/providers/all'
import { readFile } from 'node:fs/promises'

const models = builtinModels()
const data = await readFile(process.argv[2] ?? 'plan.png', 'base64')
const answer = await models.complete(models.getModel('anthropic', 'claude-haiku-4-5')!, {
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image', data, mimeType: 'image/png' },
      ],
      timestamp: Date.now(),
    },
  ],
})
if (answer.stopReason === 'error') throw new Error(answer.errorMessage)
console.log(contentText(answer.content, ''))
