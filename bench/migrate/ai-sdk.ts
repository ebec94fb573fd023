// The AI SDK 7: a chat with a tool that a person approves, and a typed answer.
import { createAnthropic } from '@ai-sdk/anthropic'
import type { ModelMessage } from 'ai'
import { generateText, isStepCount, Output, streamText, tool } from 'ai'
import { z } from 'zod'

const model = createAnthropic()('claude-haiku-4-5')
const refund = tool({
  description: 'Refunds an order',
  inputSchema: z.object({ id: z.string(), cents: z.number().int() }),
  execute: ({ id, cents }) => ({ id, refunded: cents }),
})
const messages: ModelMessage[] = [{ role: 'user', content: 'Refund 20 euros of order A-17.' }]

for (let isWaiting = true; isWaiting;) {
  isWaiting = false
  const result = streamText({
    model,
    tools: { refund },
    toolApproval: { refund: ({ cents }) => (cents > 1000 ? 'user-approval' : undefined) },
    messages,
    stopWhen: isStepCount(10),
  })
  for await (const part of result.stream) {
    if (part.type === 'text-delta') process.stdout.write(part.text)
    if (part.type === 'error') throw part.error
    if (part.type !== 'tool-approval-request') continue
    isWaiting = true
  }
  const { messages: added } = await result.response
  messages.push(...added)
  for (const { content } of added)
    for (const part of typeof content === 'string' ? [] : content)
      if (part.type === 'tool-approval-request')
        messages.push({
          role: 'tool',
          content: [{ type: 'tool-approval-response', approvalId: part.approvalId, approved: true }],
        })
}

const Mood = z.object({ mood: z.enum(['happy', 'angry']) })
const { output } = await generateText({
  model,
  output: Output.object({ schema: Mood }),
  prompt: 'My order came late again.',
})
console.log(output.mood)
