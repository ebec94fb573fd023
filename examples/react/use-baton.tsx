// A chat of the AI SDK over a session of Baton.
import { useChat } from '@ai-sdk/react'
import type { UIMessage } from 'ai'
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from 'ai'

/** `past` is `messages` in the answer of `GET /api/sessions/:id/messages`, or [] where that is a 404: the chat is new. */
export function useBaton(id: string, past: UIMessage[]) {
  return useChat({
    id, // the session's name; keep it in the page's address, so that a reload finds it again
    messages: past,
    resume: true, // an answer that is being written continues here
    transport: new DefaultChatTransport({ api: '/api/chat' }),
    sendAutomaticallyWhen: (chat) =>
      lastAssistantMessageIsCompleteWithToolCalls(chat) || lastAssistantMessageIsCompleteWithApprovalResponses(chat),
  })
}
