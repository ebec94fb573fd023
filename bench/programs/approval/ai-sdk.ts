// A tool that a person must approve: the terminal asks, and the call runs or is denied.
import { anthropic } from '@ai-sdk/anthropic'
import type { ModelMessage, ToolApprovalResponse } from 'ai'
import { isStepCount, tool, ToolLoopAgent } from 'ai'
import { createInterface } from 'node:readline/promises'
import { z } from 'zod'

const terminal = createInterface({ input: process.stdin })
const refund = tool({
  description: 'Refunds an order',
  inputSchema: z.object({ cents: z.number().int() }),
  execute: ({ cents }) => ({ refunded: cents }),
})
const agent = new ToolLoopAgent({
  model: anthropic('claude-haiku-4-5'),
  tools: { refund },
  toolApproval: { refund: 'user-approval' },
  stopWhen: isStepCount(50),
})
const messages: ModelMessage[] = [{ role: 'user', content: 'Refund 20 euros.' }]
for (;;) {
  const { text, content, responseMessages } = await agent.generate({ messages })
  const responses: ToolApprovalResponse[] = []
  for (const part of content)
    if (part.type === 'tool-approval-request') {
      console.log('approve?', part.toolCall.toolName, part.toolCall.input)
      const approved = (await terminal.question('')) === 'y'
      responses.push({ type: 'tool-approval-response', approvalId: part.approvalId, approved })
    }
  messages.push(...responseMessages, { role: 'tool', content: responses })
  if (responses.length > 0) continue
  console.log(text)
  break
}
terminal.close()
