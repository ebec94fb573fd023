// One question, one answer.
import { contentText } from '@earendil-works/pi-ai'
import { builtinModels } from '@earendil-works/pi-ai/providers/all'

const models = builtinModels()
const { content, stopReason, errorMessage } = await models.complete(models.getModel('anthropic', 'claude-haiku-4-5')!, {
  messages: [{ role: 'user', content: 'Say hello.', timestamp: Date.now() }],
})
if (stopReason === 'error') throw new Error(errorMessage)
console.log(contentText(content, ''))
