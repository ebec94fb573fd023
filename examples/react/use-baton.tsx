// An AI SDK chat over a Baton session.
import { useChat } from '@ai-sdk/react'
import type { UIMessage } from 'ai'
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from 'ai'

/**
 * `past` is `messages` from the response of `GET /api/sessions/:id/messages`, or [] if that is a 404 because the chat
 * is new.
 */
export function useBaton(id: string, past: UIMessage[]) {
  return useChat({
    id, // the session's name; keep it in the page's address, so that a reload finds the session
    messages: past,
    resume: true, // an answer that is being written continues here
    transport: new DefaultChatTransport({ api: '/api/chat' }),
    sendAutomaticallyWhen: (chat) =>
      lastAssistantMessageIsCompleteWithToolCalls(chat) || lastAssistantMessageIsCompleteWithApprovalResponses(chat),
  })
}
