// A streamed answer.
import { builtinModels } from '@earendil-works/pi-ai/providers/all'

const models = builtinModels()
for await (const event of models.stream(models.getModel('anthropic', 'claude-haiku-4-5')!, {
  messages: [{ role: 'user', content: 'Tell me a story.', timestamp: Date.now() }],
})) {
  if (event.type === 'text_delta') process.stdout.write(event.delta)
  if (event.type === 'error') throw new Error(event.error.errorMessage)
}
console.log()
