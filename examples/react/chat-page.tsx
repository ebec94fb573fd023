// A page: the conversation, a button for each decision that a tool waits for, and a box to write in.
import type { UIMessage } from 'ai'
import { getToolName, isToolUIPart } from 'ai'
import { useState } from 'react'
import { useBaton } from './use-baton.tsx'

export function ChatPage({ id, past }: { readonly id: string; readonly past: UIMessage[] }) {
  const { messages, sendMessage, addToolApprovalResponse, status } = useBaton(id, past)
  const [text, setText] = useState('')
  return (
    <main>
      {messages.map((message) => (
        <article key={message.id}>
          {message.parts.map((part, index) => {
            if (part.type === 'text') return <p key={index}>{part.text}</p>
            if (!isToolUIPart(part) || part.state !== 'approval-requested') return null
            const decide = (approved: boolean) => void addToolApprovalResponse({ id: part.approval.id, approved })
            return (
              <p key={index}>
                {part.title ?? getToolName(part)}: {JSON.stringify(part.input)}{' '}
                <button onClick={() => decide(true)}>Approve</button>{' '}
                <button onClick={() => decide(false)}>Deny</button>
              </p>
            )
          })}
        </article>
      ))}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          setText('')
          void sendMessage({ text })
        }}
      >
        <input value={text} onChange={(event) => setText(event.target.value)} aria-label="Message" />
        <button disabled={text === ''}>{status === 'streaming' ? 'Send next' : 'Send'}</button>
      </form>
    </main>
  )
}
