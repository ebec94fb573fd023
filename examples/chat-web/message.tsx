// One message: text, thoughts, pictures, calls with their approvals, and questions of tools.
import type { UIMessage } from 'ai'
import { getToolName, isToolUIPart } from 'ai'
import type { JSX } from 'react'
import { useState } from 'react'

interface MessageProps {
  readonly chat: string
  readonly message: UIMessage
  readonly isLast: boolean
  readonly isBusy: boolean
  readonly onEdit: () => void
  readonly onRegenerate: () => void
  readonly onDecide: (approvalId: string, approved: boolean) => void
}

export function Message(props: MessageProps): JSX.Element {
  const { message, isLast, isBusy, onEdit, onRegenerate } = props
  return (
    <article className={message.role} aria-label={message.role === 'user' ? 'You' : 'Agent'}>
      {message.parts.map((part, index) => (
        <Part key={index} {...props} part={part} />
      ))}
      {!isBusy && (
        <div className="actions">
          {message.role === 'user' && (
            <button type="button" onClick={onEdit}>
              Edit
            </button>
          )}
          {message.role === 'assistant' && isLast && (
            <button type="button" onClick={onRegenerate}>
              Try again
            </button>
          )}
        </div>
      )}
    </article>
  )
}

type PartProps = MessageProps & { readonly part: UIMessage['parts'][number] }

function Part({ part, ...props }: PartProps): JSX.Element | null {
  if (part.type === 'text') return <div className="text">{part.text}</div>
  if (part.type === 'reasoning')
    return (
      <details className="quiet">
        <summary>Thoughts</summary>
        <div className="text">{part.text}</div>
      </details>
    )
  if (part.type === 'file')
    return part.mediaType.startsWith('image/') ? (
      <img src={part.url} alt={part.filename ?? 'attached'} />
    ) : (
      <a href={part.url}>{part.filename ?? part.mediaType}</a>
    )
  if (part.type === 'source-url')
    return (
      <a className="quiet" href={part.url} rel="noreferrer" target="_blank">
        {part.title ?? part.url}
      </a>
    )
  if (part.type === 'data-question') return <Question chat={props.chat} data={part.data as QuestionData} />
  return isToolUIPart(part) ? <ToolCall part={part} onDecide={props.onDecide} /> : null
}

type ToolPart = Extract<UIMessage['parts'][number], { readonly toolCallId: string }>

const STATES: Readonly<Record<string, string>> = {
  'input-streaming': 'is being written',
  'input-available': 'is running',
  'approval-requested': 'waits for you',
  'approval-responded': 'goes on',
  'output-available': 'is done',
  'output-error': 'failed',
  'output-denied': 'was denied',
}

function ToolCall({ part, onDecide }: { readonly part: ToolPart } & Pick<MessageProps, 'onDecide'>): JSX.Element {
  const name = part.title ?? getToolName(part)
  return (
    <div className="tool" data-state={part.state}>
      <strong>{name}</strong> <span className="quiet">{STATES[part.state]}</span>
      {part.state === 'output-error' && <p className="error">{part.errorText}</p>}
      {part.state === 'approval-requested' && (
        <div className="actions">
          <button type="button" className="main" onClick={() => onDecide(part.approval.id, true)}>
            Allow
          </button>
          <button type="button" onClick={() => onDecide(part.approval.id, false)}>
            Deny
          </button>
        </div>
      )}
      <details open={part.state === 'approval-requested'}>
        <summary className="quiet">Details</summary>
        <pre tabIndex={0}>{JSON.stringify(part.input, null, 2)}</pre>
        {part.state === 'output-available' && <pre tabIndex={0}>{JSON.stringify(part.output, null, 2)}</pre>}
      </details>
    </div>
  )
}

interface QuestionData {
  readonly questionId: string
  readonly message?: string
  readonly schema?: { readonly properties?: Readonly<Record<string, { readonly enum?: readonly string[] }>> }
  readonly value?: unknown
  readonly declined?: string
}

/** A question whose answer is one field: a choice, or a text. */
function Question({ chat, data }: { readonly chat: string; readonly data: QuestionData }): JSX.Element | null {
  const [text, setText] = useState('')
  const [field = 'answer', { enum: choices } = {}] = Object.entries(data.schema?.properties ?? {})[0] ?? []
  const answer = (value: string): void => {
    fetch(`/api/chat/${encodeURIComponent(chat)}/answers`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ questionId: data.questionId, value: { [field]: value } }),
    }).catch(console.error)
  }
  if (data.message === undefined) return null // answered, and told with the tool's result
  return (
    <form
      className="question"
      onSubmit={(event) => {
        event.preventDefault()
        answer(text)
      }}
    >
      <label>
        {data.message} {!choices && <input value={text} onChange={(event) => setText(event.target.value)} />}
      </label>
      <div className="actions">
        {choices?.map((choice) => (
          <button key={choice} type="button" onClick={() => answer(choice)}>
            {choice}
          </button>
        ))}
        {!choices && <button type="submit">Answer</button>}
      </div>
    </form>
  )
}
