// After a lost connection the page retries until the server answers, and resends what may be lost: the server accepts
// each message, result and decision once.
import type { UseChatHelpers } from '@ai-sdk/react'
import type { UIMessage } from 'ai'
import { lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls } from 'ai'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import type { PageTransport } from './page-transport.ts'
import { askJson } from './requests.ts'

const FIRST_DELAY_MS = 250
const DELAY_MAX_MS = 8000

type Chat = UseChatHelpers<UIMessage>

/** Whether the page has results or decisions that the model waits for. */
export function hasAllResults(chat: { readonly messages: UIMessage[] }): boolean {
  return lastAssistantMessageIsCompleteWithToolCalls(chat) || lastAssistantMessageIsCompleteWithApprovalResponses(chat)
}

export interface Reconnection {
  /** Whether the connection is lost. Any response except a 503, even a refusal, shows that it is not. */
  readonly isLost: boolean
  /** Whether an action of the person waits until the page is up to date. */
  readonly isHeld: boolean
  /** Runs `what` at once, or when the page is up to date again: before that, the replayed answer would undo it. */
  readonly act: (what: () => void) => void
}

export function useReconnection(chat: Chat, { isResuming, subscribe }: PageTransport): Reconnection {
  const { status, error } = chat
  const tries = useRef(0)
  const latest = useRef(chat)
  latest.current = chat
  const [failed, setFailed] = useState(0)
  const [held, setHeld] = useState<readonly (() => void)[]>([])
  const isLost = status === 'error' && error instanceof TypeError
  const isUpToDate =
    !useSyncExternalStore(subscribe, isResuming) && !isLost && (status === 'ready' || status === 'error')
  useEffect(() => {
    if (status === 'streaming' || status === 'ready') tries.current = 0
    if (!isLost) return undefined
    let isTried = false
    const retry = (): void => {
      if (isTried) return
      isTried = true
      tries.current += 1
      goOn(latest.current).catch((cause: unknown) => {
        console.error(cause)
        setFailed((count) => count + 1)
      })
    }
    const timer = setTimeout(retry, Math.min(DELAY_MAX_MS, FIRST_DELAY_MS * 2 ** tries.current))
    addEventListener('online', retry)
    return () => {
      clearTimeout(timer)
      removeEventListener('online', retry)
    }
  }, [status, isLost, error, failed])
  useEffect(() => {
    const [what, ...rest] = held
    if (!isUpToDate || !what) return
    setHeld(rest)
    what()
  }, [isUpToDate, held])
  return {
    isLost,
    isHeld: held.length > 0,
    act: (what) => {
      if (isLost || isResuming() || held.length > 0) setHeld((before) => [...before, what])
      else what()
    },
  }
}

/** @throws TypeError if the server is unreachable, Error if it cannot report its state */
async function goOn(chat: Chat): Promise<void> {
  const { id, messages } = chat
  const last = messages.at(-1)
  if (last?.role === 'assistant') return hasAllResults(chat) ? await chat.sendMessage() : await chat.resumeStream()
  // The server may or may not have the message.
  const known = await loadMessages(id)
  if (last && !known.some((one) => one.id === last.id)) {
    chat.setMessages(messages.slice(0, -1))
    await chat.sendMessage(last)
    return
  }
  chat.setMessages(known)
  await chat.resumeStream()
}

/** The messages of a chat; none if the server does not know it yet. @throws TypeError if the server is unreachable */
export async function loadMessages(id: string): Promise<UIMessage[]> {
  const page = await askJson<{ readonly messages: UIMessage[] }>(`/api/sessions/${encodeURIComponent(id)}/messages`)
  return page?.messages ?? []
}
