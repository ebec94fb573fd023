// One message: text, thoughts, pictures, calls with their approvals, and questions of tools.
import type { UIMessage } from 'ai'
import { isToolUIPart } from 'ai'
import type { JSX } from 'react'
import { useState } from 'react'
import { ToolCall } from './tool-call.tsx'

interface MessageProps {
  readonly message: UIMessage
  readonly isLast: boolean
  readonly isBusy: boolean
  readonly onEdit: () => void
  readonly onRegenerate: () => void
  readonly onDecide: (approvalId: string, approved: boolean) => void
  readonly onTell: (act: 'answers' | 'approvals', body: object) => Promise<void>
  readonly onChange: () => void
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
  if (part.type === 'text') return <Text text={part.text} />
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
  if (part.type === 'data-plan') return <Plan entries={part.data as readonly PlanEntry[]} />
  if (part.type === 'data-question') return <Question {...props} data={part.data as QuestionData} />
  return isToolUIPart(part) ? <ToolCall {...props} part={part} /> : null
}

interface PlanEntry {
  readonly content: string
  readonly status: 'pending' | 'in_progress' | 'completed'
}

function Plan({ entries }: { readonly entries: readonly PlanEntry[] }): JSX.Element {
  return (
    <ol className="plan" aria-label="Plan">
      {entries.map(({ content, status }, index) => (
        <li key={index} data-status={status}>
          {content} <span className="quiet">{status.replace('_', ' ')}</span>
        </li>
      ))}
    </ol>
  )
}

/** Plain text, except for code between fences. */
function Text({ text }: { readonly text: string }): JSX.Element {
  const pieces = text.split(/^```.*\n?/m)
  return (
    <div className="text">
      {pieces.map((piece, index) =>
        index % 2 === 0 ? (
          index < pieces.length - 1 ? (
            piece.trimEnd()
          ) : (
            piece
          )
        ) : (
          <pre key={index} tabIndex={0} role="group" aria-label="Code">
            {piece.trimEnd()}
          </pre>
        ),
      )}
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

/** A question with a single field: a choice, or text. */
function Question({
  data,
  onTell,
}: Pick<MessageProps, 'onTell'> & { readonly data: QuestionData }): JSX.Element | null {
  const [text, setText] = useState('')
  const [field = 'answer', { enum: choices } = {}] = Object.entries(data.schema?.properties ?? {})[0] ?? []
  const answer = (value: string): void => {
    onTell('answers', { questionId: data.questionId, value: { [field]: value } }).catch(console.error)
  }
  if (data.message === undefined) return null // answered; the answer is part of the tool's result
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
