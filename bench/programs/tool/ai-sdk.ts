// A tool with a schema for its input: the model calls it, and answers with its result.
import { anthropic } from '@ai-sdk/anthropic'
import { generateText, isStepCount, tool } from 'ai'
import { z } from 'zod'

const population = tool({
  description: 'The population of a city',
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, people: 717_710 }),
})
const { text } = await generateText({
  model: anthropic('claude-haiku-4-5'),
  tools: { population },
  stopWhen: isStepCount(50),
  prompt: 'How many people live in Oslo?',
})
console.log(text)
