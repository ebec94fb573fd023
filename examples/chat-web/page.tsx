// A chat page: the AI SDK's `useChat` as is, and React. Nothing of Baton runs here; the server does the rest.
import { useChat } from '@ai-sdk/react'
import type { UIMessage } from 'ai'
import { generateId } from 'ai'
import type { JSX, RefObject } from 'react'
import { useEffect, useRef, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { Composer } from './composer.tsx'
import { Message } from './message.tsx'
import { addNotice, listNotices } from './notices.ts'
import { createPageTransport } from './page-transport.ts'
import { hasAllResults, loadMessages, useReconnection } from './reconnection.tsx'
import { askJson, sendJson } from './requests.ts'

/** `?over=websocket` in the page's address selects the AI SDK's other transport. */
const pageTransport = createPageTransport(
  new URLSearchParams(location.search).get('over') === 'websocket' ? 'websocket' : 'http',
)
/** Milliseconds between two tries to read a chat while the server is unreachable. */
const RELOAD_MS = 1000

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
      .then((page) => setSessions(page?.sessions.toReversed() ?? []))
      .catch(console.error)
  }
  useEffect(() => {
    location.hash = id
    setMessages(undefined)
    let timer: ReturnType<typeof setTimeout> | undefined
    const load = (): void => {
      loadMessages(id).then(setMessages, (cause: unknown) => {
        console.error(cause)
        timer = setTimeout(load, RELOAD_MS)
      })
    }
    load()
    list()
    return () => clearTimeout(timer)
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
  const [notices, setNotices] = useState(listNotices)
  const chat = useChat({
    id,
    messages: past,
    // Resumes an unfinished answer after a reload.
    resume: true,
    transport: pageTransport.transport,
    sendAutomaticallyWhen: hasAllResults,
    onToolCall: ({ toolCall: { toolName, toolCallId, input } }) => {
      const run = PAGE_TOOLS[toolName]
      if (!run) return
      void chat.addToolOutput({ tool: toolName, toolCallId, output: run(input as PageInput) }) // the server has validated it
      setNotices(listNotices())
    },
    onFinish: ({ messages }) => {
      const [first] = messages[0]?.parts.flatMap((part) => (part.type === 'text' ? part.text : [])) ?? []
      const named =
        past.length === 0 && messages.length <= 2 && first !== undefined ? nameChat(id, first) : Promise.resolve()
      named.then(onEnd).catch(console.error)
    },
  })
  const isBusy = chat.status === 'submitted' || chat.status === 'streaming'
  const { isLost, isHeld, act } = useReconnection(chat, pageTransport)
  const box = useRef<HTMLTextAreaElement>(null)
  const log = useStickyScroll(chat.messages)
  const tell = (act: string, body: object): Promise<void> =>
    sendJson('POST', `/api/chat/${encodeURIComponent(id)}/${act}`, body)
  // Closing the connection would not stop the answer.
  const stop = (): void => {
    box.current?.focus()
    tell('stop', {}).catch(console.error)
  }
  /** A button that disappears when pressed passes the focus to the box. */
  const thenFocusBox = (what: () => Promise<void>): void => {
    box.current?.focus()
    act(() => void what())
  }
  return (
    <main onKeyDown={({ key }) => key === 'Escape' && isBusy && stop()}>
      {/* While it is busy a screen reader waits: it reads an answer once, and whole. */}
      <div
        className="messages"
        ref={log}
        role="log"
        aria-live="polite"
        aria-busy={isBusy}
        aria-label="Messages"
        tabIndex={0}
      >
        {chat.messages.map((message) => (
          <Message
            key={message.id}
            message={message}
            isLast={message === chat.messages.at(-1)}
            isBusy={isBusy}
            onEdit={() => setEdited(message)}
            onRegenerate={() => thenFocusBox(() => chat.regenerate({ messageId: message.id }))}
            onDecide={(id, approved) => thenFocusBox(async () => await chat.addToolApprovalResponse({ id, approved }))}
            onTell={tell}
            onChange={() => void chat.resumeStream()}
          />
        ))}
        {chat.status === 'submitted' && <p className="waiting quiet">Thinking …</p>}
        {isLost && (
          <p className="quiet" role="status">
            The connection is lost. The page tries again …
          </p>
        )}
        {isHeld && (
          <p className="quiet" role="status">
            What you did is sent when the chat is up to date …
          </p>
        )}
        {chat.error && !isLost && (
          <p className="error" role="alert">
            {chat.error.message}
          </p>
        )}
      </div>
      {notices.length > 0 && (
        <ul className="notices" aria-label="Notices">
          {notices.map((notice, index) => (
            <li key={index}>{notice}</li>
          ))}
        </ul>
      )}
      <Composer
        key={edited?.id ?? 'new'}
        edited={edited}
        isBusy={isBusy}
        box={box}
        onStop={stop}
        onSend={(text, files) => {
          const messageId = edited?.id
          setEdited(undefined)
          act(
            () =>
              void chat.sendMessage({ text, ...(files && { files }), ...(messageId !== undefined && { messageId }) }),
          )
        }}
      />
    </main>
  )
}

/** Keeps the newest text in view for a person who has not scrolled away from it. */
function useStickyScroll(messages: readonly UIMessage[]): RefObject<HTMLDivElement | null> {
  const element = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  useEffect(() => {
    const log = element.current
    const look = (): void => {
      if (log) isAtEnd.current = log.scrollHeight - log.scrollTop - log.clientHeight < 40
    }
    log?.addEventListener('scroll', look)
    return () => log?.removeEventListener('scroll', look)
  }, [])
  useEffect(() => {
    const log = element.current
    if (log && isAtEnd.current) log.scrollTop = log.scrollHeight
  }, [messages])
  return element
}

/** A chat is named after its first message. */
function nameChat(id: string, text: string): Promise<void> {
  return sendJson('PATCH', `/api/sessions/${encodeURIComponent(id)}`, { title: text.slice(0, 60) })
}

interface PageInput {
  readonly theme: string
  readonly text: string
}

/** Client tools: the page's actions for the model, and their results. */
const PAGE_TOOLS: Readonly<Record<string, (input: PageInput) => string>> = {
  'page.theme': ({ theme }) => {
    document.documentElement.dataset['theme'] = theme
    return `it is ${theme} now`
  },
  'page.notice': ({ text }) => {
    addNotice(text)
    return 'it is pinned'
  },
}

const root = document.querySelector('#root')
if (root) createRoot(root).render(<App />)
