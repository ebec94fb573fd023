// The conversation as updates, for an editor that loads a session.
import type { ChatMessage, Session } from '@baton/core/internal'
import { readPages } from '../shared/message-pages.ts'
import { nameText, nameThought, showParts } from './projection.ts'
import type { CallPlace } from './shown-call.ts'
import { showCall } from './shown-call.ts'
import type { Update } from './updates.ts'

export interface History {
  /** Oldest first. */
  readonly messages: readonly ChatMessage[]
  /** Whether older messages were left out. */
  readonly isCut: boolean
  /** The cursor where events continue. */
  readonly next: Awaited<ReturnType<Session['messages']>>['next']
}

const PAGE = 200

/**
 * Leaves out waiting inputs, which are sent when the model reads them. @throws BatonError `store_failed`, `log_damaged`
 */
export async function readHistory(session: Session, most: number): Promise<History> {
  let pages: (readonly ChatMessage[])[] = []
  let count = 0
  let isCut = false
  let next: History['next'] = { pos: 0 }
  for await (const page of readPages(session, Math.min(PAGE, most))) {
    if (page.isNewest) {
      pages = []
      count = 0
      next = page.next
    }
    pages.unshift(page.messages)
    count += page.messages.length
    isCut = page.more || count > most
    if (count >= most) break
  }
  return { messages: pages.flat().slice(-most), isCut, next }
}

export function sumCost(messages: readonly ChatMessage[]): number | undefined {
  const costs = messages.map((message) => (message.role === 'assistant' ? message.usage?.costMicros : undefined))
  return costs.reduce((sum, cost) => (cost === undefined ? sum : (sum ?? 0) + cost), undefined)
}

export function listCalls(messages: readonly ChatMessage[]): ReadonlySet<string> {
  const steps = messages.flatMap((message) => (message.role === 'assistant' ? message.steps : []))
  return new Set(steps.flatMap(({ calls }) => calls.map(({ callId }) => callId)))
}

export async function showMessage(message: ChatMessage, place: CallPlace): Promise<readonly Update[]> {
  if (message.role === 'user') {
    const content = await showParts(message, place)
    return [{ type: 'user-message', id: message.id, content, isOwn: false }]
  }
  const updates: Update[] = []
  for (const { step, text, reasoning, calls } of message.steps) {
    const of = { message: message.id, step }
    if (reasoning !== '') updates.push({ type: 'whole-thought', id: nameThought(of), text: reasoning })
    if (text !== '') updates.push({ type: 'whole-text', id: nameText(of), text })
    for (const call of calls) updates.push({ type: 'call', call: await showCall(call, place), isNew: true })
  }
  return updates
}
