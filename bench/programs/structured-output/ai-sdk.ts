// An answer that conforms to a schema.
import { anthropic } from '@ai-sdk/anthropic'
import { generateText, Output } from 'ai'
import { z } from 'zod'

const { output } = await generateText({
  model: anthropic('claude-haiku-4-5'),
  output: Output.object({ schema: z.object({ mood: z.enum(['happy', 'angry']) }) }),
  prompt: 'My order came late again.',
})
console.log(output.mood)
