// The conversation as its people saw it, with the calls of each answer, each of which leads to its row.
import { useEffect, useState } from 'preact/hooks'
import { formatTime } from './amounts.ts'
import type { ApiError, ChatMessage } from './api.ts'
import { Empty, Failure, StateMark, Text } from './parts.tsx'
import { formatRoute } from './route.ts'
import { showLine } from './shown-text.ts'
import { asApiError, useStore } from './store.ts'
import type { RowState, TimelineRow } from './timeline-row.ts'

export interface ConversationProps {
  readonly session: string
  /** Position of the newest record: the conversation is read again when it grows. */
  readonly newest: number
  readonly rows: readonly TimelineRow[]
}

const PAGE = 50

export function ConversationView({ session, newest, rows }: ConversationProps) {
  const { api } = useStore()
  const [messages, setMessages] = useState<readonly ChatMessage[]>([])
  const [hasMore, setMore] = useState(false)
  const [count, setCount] = useState(PAGE)
  const [isLoaded, setLoaded] = useState(false)
  const [failure, setFailure] = useState<ApiError | undefined>(undefined)
  useEffect(() => {
    let isOver = false
    readNewest(api.messages, session, count).then(
      (page) => {
        if (isOver) return
        setMessages(page.messages)
        setMore(page.more)
        setFailure(undefined)
        setLoaded(true)
      },
      (cause: unknown) => void (isOver || setFailure(asApiError(cause))),
    )
    return () => void (isOver = true)
  }, [session, newest, count])
  const states = new Map(rows.flatMap(({ call, state }) => (call ? [[call.callId, state] as const] : [])))
  if (failure) return <Failure error={failure} />
  if (isLoaded && messages.length === 0) return <Empty title="Nobody has said anything." />
  return (
    <div class="conversation" tabIndex={0} role="region" aria-label="Conversation">
      {hasMore && (
        <button type="button" class="quiet" onClick={() => setCount(count + PAGE)}>
          Show older messages
        </button>
      )}
      {messages.map((message) => (
        <Message key={message.id} message={message} session={session} states={states} />
      ))}
    </div>
  )
}

type ReadPage = (
  id: string,
  query: { readonly limit: number; readonly before?: string },
) => Promise<{ readonly messages: readonly ChatMessage[]; readonly more: boolean }>

/** A server returns a page at a time. */
async function readNewest(
  read: ReadPage,
  session: string,
  count: number,
): Promise<{ readonly messages: readonly ChatMessage[]; readonly more: boolean }> {
  let messages: readonly ChatMessage[] = []
  for (;;) {
    const before = messages[0]?.id
    const page = await read(session, { limit: PAGE, ...(before !== undefined && { before }) })
    messages = [...page.messages, ...messages]
    if (!page.more || page.messages.length === 0 || messages.length >= count) return { messages, more: page.more }
  }
}

interface MessageProps {
  readonly message: ChatMessage
  readonly session: string
  readonly states: ReadonlyMap<string, RowState>
}

function Message({ message, session, states }: MessageProps) {
  if (message.role === 'user') {
    const who = message.speaker ?? (message.from === 'event' ? `event ${message.name ?? ''}` : 'user')
    return (
      <article class="message is-user">
        <h2>
          {showLine(who, 60)} <time class="muted">{formatTime(message.atMs)}</time>
          {message.waits && <span class="muted"> waits</span>}
        </h2>
        {message.parts.map((part, index) =>
          part.type === 'text' ? (
            <Text key={index} text={part.text} />
          ) : (
            <p key={index}>{`[${part.type} ${part.mediaType}]`}</p>
          ),
        )}
      </article>
    )
  }
  return (
    <article class="message">
      <h2>
        agent <time class="muted">{formatTime(message.atMs)}</time>
        {message.stop === undefined && <span class="muted"> in progress</span>}
      </h2>
      {message.steps.map(({ step, text, calls, reasoning }) => (
        <div key={step} class="message-step">
          {reasoning !== '' && (
            <details>
              <summary>Thoughts</summary>
              <Text text={reasoning} />
            </details>
          )}
          {text !== '' && <Text text={text} />}
          {calls.map((call) => (
            <a
              key={call.callId}
              class="message-call"
              href={formatRoute({ view: 'session', session, tab: 'timeline', row: call.callId })}
            >
              <StateMark state={states.get(call.callId) ?? 'info'} />
              <span class="mono">{showLine(call.name, 60)}</span>
              <span class="muted">{showLine(call.title ?? JSON.stringify(call.input), 160)}</span>
            </a>
          ))}
        </div>
      ))}
      {message.error && <p class="error-text">{showLine(`${message.error.code}: ${message.error.message}`, 500)}</p>}
    </article>
  )
}
