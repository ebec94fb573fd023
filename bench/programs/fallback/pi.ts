// Another model answers if the first one fails.
import { contentText } from '@earendil-works/pi-ai'
import { builtinModels } from '@earendil-works/pi-ai/providers/all'

const models = builtinModels()
const messages = [{ role: 'user' as const, content: 'Say hello.', timestamp: Date.now() }]
const ask = async (name: string) => await models.complete(models.getModel('anthropic', name)!, { messages })
let answer = await ask('claude-opus-4-5')
if (answer.stopReason === 'error') answer = await ask('claude-haiku-4-5')
if (answer.stopReason === 'error') throw new Error(answer.errorMessage)
console.log(contentText(answer.content, ''))
