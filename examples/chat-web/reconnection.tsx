// After a lost connection the page asks again until the server answers. What was on its way is said again: the server takes a
// message, a result or a decision once.
import type { UseChatHelpers } from '@ai-sdk/react'
import type { UIMessage } from 'ai'
import { lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls } from 'ai'
import { useEffect, useRef } from 'react'
import { askJson } from './requests.ts'

const FIRST_DELAY_MS = 250
const DELAY_MAX_MS = 8000

type Chat = UseChatHelpers<UIMessage>

/** The page has results or decisions that the model waits for. */
export function hasAllResults(chat: { readonly messages: UIMessage[] }): boolean {
  return lastAssistantMessageIsCompleteWithToolCalls(chat) || lastAssistantMessageIsCompleteWithApprovalResponses(chat)
}

/** Whether the connection is lost. An answer of the server, also a refusal, is no such loss. */
export function useReconnection(chat: Chat): boolean {
  const { status, error } = chat
  const tries = useRef(0)
  const latest = useRef(chat)
  latest.current = chat
  const isLost = status === 'error' && error instanceof TypeError
  useEffect(() => {
    if (status === 'streaming' || status === 'ready') tries.current = 0
    if (!isLost) return undefined
    const retry = (): void => {
      tries.current += 1
      goOn(latest.current).catch(console.error)
    }
    const timer = setTimeout(retry, Math.min(DELAY_MAX_MS, FIRST_DELAY_MS * 2 ** tries.current))
    addEventListener('online', retry)
    return () => {
      clearTimeout(timer)
      removeEventListener('online', retry)
    }
  }, [status, isLost, error])
  return isLost
}

async function goOn(chat: Chat): Promise<void> {
  const { id, messages } = chat
  const last = messages.at(-1)
  if (last?.role === 'assistant') return hasAllResults(chat) ? await chat.sendMessage() : await chat.resumeStream()
  // The server may have the message, or not.
  const known = await loadMessages(id).catch(() => undefined)
  if (last && known && !known.some((one) => one.id === last.id)) {
    chat.setMessages(messages.slice(0, -1))
    await chat.sendMessage(last)
    return
  }
  if (known) chat.setMessages(known)
  await chat.resumeStream()
}

/** Of a chat that the server does not know yet: none. @throws TypeError when the server cannot be reached */
export async function loadMessages(id: string): Promise<UIMessage[]> {
  const page = await askJson<{ readonly messages: UIMessage[] }>(`/api/sessions/${encodeURIComponent(id)}/messages`)
  return page?.messages ?? []
}
