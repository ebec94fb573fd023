// The user stops an answer; the next question continues from the partial answer.
import { anthropic } from '@ai-sdk/anthropic'
import type { ModelMessage } from 'ai'
import { generateText, streamText } from 'ai'

const model = anthropic('claude-haiku-4-5')
const messages: ModelMessage[] = [{ role: 'user', content: 'Tell me a story.' }]
const controller = new AbortController()
let said = ''
for await (const part of streamText({ model, messages, abortSignal: controller.signal, onError: () => {} }).stream) {
  if (part.type === 'error') throw part.error
  if (part.type !== 'text-delta') continue
  said += part.text
  controller.abort()
}
messages.push({ role: 'assistant', content: said }, { role: 'user', content: 'Shorter, please.' })
const { text } = await generateText({ model, messages })
console.log(text)
