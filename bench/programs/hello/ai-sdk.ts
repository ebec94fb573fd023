// One question, one answer.
import { anthropic } from '@ai-sdk/anthropic'
import { generateText } from 'ai'

const { text } = await generateText({ model: anthropic('claude-haiku-4-5'), prompt: 'Say hello.' })
console.log(text)
