// A page that knows the tools of its agent: `useChat<ShopMessage>(…)`, or `new Chat<ShopMessage>(…)`.
import { defineAgent, tool } from '@baton/host'
import type { ChatData, ChatMetadata, ChatTools } from '@baton/server/http'
import type { UIMessage } from 'ai'
import { z } from 'zod'

const place = tool({
  name: 'place',
  description: 'Returns the part of the page that the user is viewing',
  input: z.object({}),
  output: z.object({ section: z.string() }),
  effect: 'pure',
})
export const agent = defineAgent({ name: 'shop', model: 'anthropic/claude-haiku-4-5', tools: [place] })

export type ShopMessage = UIMessage<ChatMetadata, ChatData, ChatTools<typeof agent>>
