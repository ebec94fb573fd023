// A chat page: `useChat` of the AI SDK as it is, and React. Nothing of Baton runs here; the server does the rest.
import { useChat } from '@ai-sdk/react'
import type { UIMessage } from 'ai'
import {
  DefaultChatTransport,
  generateId,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from 'ai'
import type { JSX } from 'react'
import { useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { Composer } from './composer.tsx'
import { Message } from './message.tsx'

interface Listed {
  readonly id: string
  readonly title?: string
}

function App(): JSX.Element {
  const [id, setId] = useState(() => location.hash.slice(1) || generateId())
  const [sessions, setSessions] = useState<readonly Listed[]>([])
  const [messages, setMessages] = useState<UIMessage[]>()
  const list = (): void => {
    askJson<{ readonly sessions: readonly Listed[] }>('/api/sessions')
      .then((page) => setSessions(page.sessions.toReversed()))
      .catch(console.error)
  }
  useEffect(() => {
    location.hash = id
    setMessages(undefined)
    askJson<{ readonly messages: UIMessage[] }>(`/api/sessions/${encodeURIComponent(id)}/messages`)
      .then((page) => setMessages(page.messages))
      .catch(() => setMessages([]))
    list()
  }, [id])
  return (
    <div className="layout">
      <nav aria-label="Chats">
        <h1>Baton chat</h1>
        <button type="button" onClick={() => setId(generateId())}>
          New chat
        </button>
        <ul>
          {sessions.map((session) => (
            <li key={session.id}>
              <button
                type="button"
                aria-current={session.id === id ? 'page' : undefined}
                onClick={() => setId(session.id)}
              >
                {session.title ?? session.id}
              </button>
            </li>
          ))}
        </ul>
      </nav>
      {messages && <Conversation key={id} id={id} past={messages} onEnd={list} />}
    </div>
  )
}

interface ConversationProps {
  readonly id: string
  readonly past: UIMessage[]
  readonly onEnd: () => void
}

function Conversation({ id, past, onEnd }: ConversationProps): JSX.Element {
  const [edited, setEdited] = useState<UIMessage>()
  const chat = useChat({
    id,
    messages: past,
    // An answer that is being written goes on here after a reload.
    resume: true,
    transport: new DefaultChatTransport({ api: '/api/chat' }),
    sendAutomaticallyWhen: (state) =>
      lastAssistantMessageIsCompleteWithToolCalls(state) || lastAssistantMessageIsCompleteWithApprovalResponses(state),
    onToolCall: ({ toolCall }) => {
      if (toolCall.toolName !== 'page.theme') return
      const { theme } = toolCall.input as { readonly theme: string } // the server has checked it
      document.documentElement.dataset['theme'] = theme
      void chat.addToolOutput({
        tool: toolCall.toolName,
        toolCallId: toolCall.toolCallId,
        output: `it is ${theme} now`,
      })
    },
    onFinish: ({ messages }) => {
      const [first] = messages[0]?.parts.flatMap((part) => (part.type === 'text' ? part.text : [])) ?? []
      const named =
        past.length === 0 && messages.length <= 2 && first !== undefined ? nameChat(id, first) : Promise.resolve()
      named.then(onEnd).catch(console.error)
    },
  })
  const isBusy = chat.status === 'submitted' || chat.status === 'streaming'
  const stop = (): void => {
    // Closing the connection would not stop the answer.
    fetch(`/api/chat/${encodeURIComponent(id)}/stop`, { method: 'POST' }).catch(console.error)
  }
  return (
    <main>
      <div className="messages" role="log" aria-live="polite" aria-label="Messages" tabIndex={0}>
        {chat.messages.map((message) => (
          <Message
            key={message.id}
            chat={id}
            message={message}
            isLast={message === chat.messages.at(-1)}
            isBusy={isBusy}
            onEdit={() => setEdited(message)}
            onRegenerate={() => void chat.regenerate({ messageId: message.id })}
            onDecide={(approvalId, approved) => void chat.addToolApprovalResponse({ id: approvalId, approved })}
          />
        ))}
        {chat.error && (
          <p className="error" role="alert">
            {chat.error.message}
          </p>
        )}
      </div>
      <Composer
        key={edited?.id ?? 'new'}
        edited={edited}
        isBusy={isBusy}
        onStop={stop}
        onSend={(text, files) => {
          const messageId = edited?.id
          setEdited(undefined)
          void chat.sendMessage({ text, ...(files && { files }), ...(messageId !== undefined && { messageId }) })
        }}
      />
    </main>
  )
}

/** A chat is called by what was said in it first. */
async function nameChat(id: string, text: string): Promise<void> {
  await fetch(`/api/sessions/${encodeURIComponent(id)}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ title: text.slice(0, 60) }),
  })
}

async function askJson<Answer>(address: string): Promise<Answer> {
  const response = await fetch(address)
  if (!response.ok) throw new Error(await response.text())
  return (await response.json()) as Answer // as the server documents it
}

const root = document.querySelector('#root')
if (root) createRoot(root).render(<App />)
