// A tool call: its input, its output, and a person's decision if it needs one.
import type { UIMessage } from 'ai'
import { getToolName } from 'ai'
import type { JSX } from 'react'
import { useEffect, useRef, useState } from 'react'

export type ToolPart = Extract<UIMessage['parts'][number], { readonly toolCallId: string }>
type AskedPart = Extract<ToolPart, { readonly state: 'approval-requested' }>

interface ToolCallProps<Part extends ToolPart = ToolPart> {
  readonly part: Part
  readonly onDecide: (approvalId: string, approved: boolean) => void
  /** Sends the server what `useChat` cannot. */
  readonly onTell: (act: 'answers' | 'approvals', body: object) => Promise<void>
  /** The answer continues without a message of this page. */
  readonly onChange: () => void
}

const STATES: Readonly<Record<string, string>> = {
  'input-streaming': 'is being written',
  'input-available': 'is running',
  'approval-requested': 'waits for you',
  'approval-responded': 'goes on',
  'output-available': 'is done',
  'output-error': 'failed',
  'output-denied': 'was denied',
}

export function ToolCall({ part, ...props }: ToolCallProps): JSX.Element {
  const name = part.title ?? getToolName(part)
  const title = (
    <>
      <strong>{name}</strong> <span className="quiet">{STATES[part.state]}</span>
    </>
  )
  return (
    <div className="tool" data-state={part.state}>
      {part.state === 'approval-requested' ? (
        <>
          {title}
          <Approval {...props} part={part} />
        </>
      ) : (
        <details>
          <summary>{title}</summary>
          {part.input !== undefined && <Json value={part.input} label={`Input of ${name}`} />}
          {part.state === 'output-available' && <Json value={part.output} label={`Output of ${name}`} />}
        </details>
      )}
      {part.state === 'output-error' && <p className="error">{part.errorText}</p>}
    </div>
  )
}

/** It scrolls sideways, so the keyboard must reach it. */
function Json({ value, label }: { readonly value: unknown; readonly label: string }): JSX.Element {
  return (
    <pre tabIndex={0} role="group" aria-label={label}>
      {typeof value === 'string' ? value : JSON.stringify(value, null, 2)}
    </pre>
  )
}

/** Milliseconds after which a request counts as expired here, since clocks differ. */
const GRACE_MS = 500
/** Maximum delay of a browser timer. */
const TIMER_MAX_MS = 2 ** 31 - 1

/** As the server documents it. */
interface ApprovalDescriptor {
  readonly expiresAtMs?: number
  /** Why a policy asks. */
  readonly asked?: { readonly message: string; readonly destination?: string; readonly each?: true }
}

function describeAsked({ message, destination, each }: NonNullable<ApprovalDescriptor['asked']>): string {
  if (destination === undefined || each) return `${message}.`
  return `${message}. If you allow it, later calls to ${destination} are allowed too.`
}

function Approval({ part, onDecide, onTell, onChange }: ToolCallProps<AskedPart>): JSX.Element {
  const { id, descriptor } = part.approval
  const [change, setChange] = useState<string>()
  const [refusal, setRefusal] = useState<string>()
  const latest = useRef(onChange)
  latest.current = onChange
  const { expiresAtMs, asked } = (descriptor ?? {}) as ApprovalDescriptor
  useEffect(() => {
    if (expiresAtMs === undefined) return undefined
    const waitMs = expiresAtMs - Date.now() + GRACE_MS
    if (waitMs > TIMER_MAX_MS) return undefined
    const timer = setTimeout(() => latest.current(), Math.max(0, waitMs))
    return () => clearTimeout(timer)
  }, [expiresAtMs])
  const allow = (): void => {
    if (change === undefined) {
      onDecide(id, true)
      return
    }
    const input = readJson(change)
    if (input === undefined) {
      setRefusal('This is not JSON.')
      return
    }
    onTell('approvals', { approvalId: id, decision: 'edit', input }).then(onChange, (cause: Error) =>
      setRefusal(cause.message),
    )
  }
  return (
    <>
      {asked && <p className="asked">{describeAsked(asked)}</p>}
      {change === undefined ? (
        <Json value={part.input} label="What it is asked for" />
      ) : (
        <textarea
          className="change"
          aria-label="Changed input"
          autoFocus
          rows={Math.min(12, change.split('\n').length)}
          value={change}
          onChange={(event) => setChange(event.target.value)}
        />
      )}
      {refusal !== undefined && (
        <p className="error" role="alert">
          {refusal}
        </p>
      )}
      <div className="actions">
        <button type="button" className="main" onClick={allow}>
          {change === undefined ? 'Allow' : 'Allow this'}
        </button>
        <button type="button" onClick={() => onDecide(id, false)}>
          Deny
        </button>
        {change === undefined && (
          <button type="button" onClick={() => setChange(JSON.stringify(part.input, null, 2))}>
            Change
          </button>
        )}
      </div>
    </>
  )
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
