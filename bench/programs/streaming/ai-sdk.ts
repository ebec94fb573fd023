// A streamed answer.
import { anthropic } from '@ai-sdk/anthropic'
import { streamText } from 'ai'

for await (const part of streamText({
  model: anthropic('claude-haiku-4-5'),
  prompt: 'Tell me a story.',
  onError: () => {},
}).stream) {
  if (part.type === 'text-delta') process.stdout.write(part.text)
  if (part.type === 'error') throw part.error
}
console.log()
