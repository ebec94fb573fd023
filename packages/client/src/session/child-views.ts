// Messages of the agents below a session, from its events. Only an app that follows them loads this.
import type { ChatMessage, SessionEvent } from '@baton/core/internal'
import type { Conversation } from '@baton/core/conversation'

/** Messages of a delegated call's agent. */
export interface ChildMessages {
  /** The calls that lead to it, the delegated call last, and the agents that they call. */
  readonly path: NonNullable<SessionEvent['path']>
  /** Its task, its answers with their steps and calls, oldest first. */
  readonly messages: readonly ChatMessage[]
}

/** The view of a session. */
interface RootView {
  readonly state: { readonly children: readonly ChildMessages[] }
  messages(): readonly ChatMessage[]
  set(change: { readonly children: readonly ChildMessages[] }): void
}

/** Calls whose messages are kept. */
const CHILDREN_MAX = 64

/** Returns the function that folds events into the `children` of the view. `create`: their class is loaded already. */
export function followChildren(view: RootView, create: () => Conversation): (event: SessionEvent) => void {
  const conversations = new Map<string, Conversation>()
  const keep = (children: readonly ChildMessages[]): void => {
    const kept = new Set(children.map(keyOf))
    for (const key of conversations.keys()) if (!kept.has(key)) conversations.delete(key)
    view.set({ children })
  }
  return (event) => {
    const { children } = view.state
    // The session was read again.
    if (children.length === 0) conversations.clear()
    const { path } = event
    if (!path) return keep(children.filter(({ path: [top] }) => hasCall(view, top?.callId)))
    const key = keyOf({ path })
    const conversation = conversations.get(key) ?? create()
    const before = conversation.messages()
    conversations.set(key, conversation)
    conversation.take(event)
    const messages = conversation.messages()
    if (messages === before) return
    const isIt = (one: ChildMessages): boolean => keyOf(one) === key
    const child = { path, messages }
    const isKnown = children.some(isIt)
    keep((isKnown ? children.map((one) => (isIt(one) ? child : one)) : [...children, child]).slice(-CHILDREN_MAX))
  }
}

function keyOf({ path }: Pick<ChildMessages, 'path'>): string {
  return path.map(({ callId }) => callId).join()
}

function hasCall(view: RootView, callId: string | undefined): boolean {
  return view
    .messages()
    .some((one) => 'steps' in one && one.steps.some(({ calls }) => calls.some((call) => call.callId === callId)))
}
