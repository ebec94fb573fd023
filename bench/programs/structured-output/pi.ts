// An answer that conforms to a schema: the input of a tool that the model is told to call.
import { StringEnum, validateToolCall } from '@earendil-works/pi-ai'
import { builtinModels } from '@earendil-works/pi-ai/providers/all'
import { Type } from 'typebox'

const models = builtinModels()
const tools = [
  {
    name: 'answer',
    description: 'Gives the answer; always call it',
    parameters: Type.Object({ mood: StringEnum(['happy', 'angry']) }),
  },
]
const { content, stopReason, errorMessage } = await models.complete(models.getModel('anthropic', 'claude-haiku-4-5')!, {
  messages: [{ role: 'user', content: 'My order came late again.', timestamp: Date.now() }],
  tools,
})
if (stopReason === 'error') throw new Error(errorMessage)
const call = content.find((part) => part.type === 'toolCall')
if (!call) throw new Error('the model gave no value')
const output: { mood: 'happy' | 'angry' } = validateToolCall(tools, call)
console.log(output.mood)
