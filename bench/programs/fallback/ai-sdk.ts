// Another model answers if the first one fails.
import { anthropic } from '@ai-sdk/anthropic'
import { generateText } from 'ai'

const ask = async (name: string) => await generateText({ model: anthropic(name), prompt: 'Say hello.' })
const { text } = await ask('claude-opus-4-5').catch(() => ask('claude-haiku-4-5'))
console.log(text)
