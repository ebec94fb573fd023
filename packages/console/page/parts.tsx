// Small parts of all views: states with a mark and a word, text that is only text, JSON, differences, failures.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { ApiError } from './api.ts'
import { diffLines } from './line-diff.ts'
import { formatRoute } from './route.ts'
import { indentJson, showHidden, showLine } from './shown-text.ts'
import { useStore } from './store.ts'
import type { RowState, TaintSource } from './timeline-row.ts'

/** Each state has its own shape: colour alone says nothing. */
const MARKS: Readonly<Record<RowState, string>> = {
  running: 'M3.5 2.5v7l6-3.5z',
  queued: 'M2 6h1.6M5.2 6h1.6M8.4 6H10',
  person: 'M6 5.4a1.9 1.9 0 1 0 0-3.8 1.9 1.9 0 0 0 0 3.8ZM2.4 10.4c.3-2.2 1.7-3.4 3.6-3.4s3.3 1.2 3.6 3.4',
  client: 'M3.5 1.5h5v9h-5zM5.3 8.9h1.4',
  time: 'M6 1.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM6 3.6V6l1.7 1.1',
  child: 'M3 1.5v5c0 1.4.8 2 2 2h4M7.2 6.6 9.2 8.5l-2 1.9',
  ok: 'm2.2 6.3 2.5 2.5 5-5.6',
  error: 'm2.8 2.8 6.4 6.4M9.2 2.8 2.8 9.2',
  denied: 'M6 1.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM2.9 2.9l6.2 6.2',
  'timed-out': 'M3 1.5h6M3 10.5h6M3.5 1.5c0 3 5 6 5 9M8.5 1.5c0 3-5 6-5 9',
  cancelled: 'M3 3h6v6H3z',
  unknown: 'M4 4.2c0-1.4 1-2.2 2.1-2.2s2 .8 2 1.9c0 1.5-2 1.6-2 3.1M6.1 9.6v.2',
  superseded: 'M9.5 9.5V7c0-1.7-1-2.7-2.7-2.7H2.5M4.6 2.2 2.4 4.3l2.2 2.2',
  info: 'M6 5.2a.8.8 0 1 0 0 1.6.8.8 0 0 0 0-1.6Z',
}
export const STATE_WORDS: Readonly<Record<RowState, string>> = {
  running: 'running',
  queued: 'not started',
  person: 'waiting for a person',
  client: 'waiting for a client',
  time: 'waiting to ask again',
  child: 'waiting for another agent',
  ok: 'ok',
  error: 'failed',
  denied: 'denied',
  'timed-out': 'timed out',
  cancelled: 'cancelled',
  unknown: 'outcome unknown',
  superseded: 'superseded',
  info: 'note',
}

export function StateMark({ state, isNamed = true }: { readonly state: RowState; readonly isNamed?: boolean }) {
  const words = isNamed ? { role: 'img' as const, 'aria-label': STATE_WORDS[state] } : { 'aria-hidden': true as const }
  return (
    <svg class={`mark is-${state}`} viewBox="0 0 12 12" {...words}>
      <path d={MARKS[state]} />
    </svg>
  )
}

/** Shows text of a model, a tool or a person. A button shows the rest of a long one. */
export function Text({ text, className = '' }: { readonly text: string; readonly className?: string }) {
  const [isWhole, showWhole] = useState(false)
  const shown = isWhole || text.length <= CHARS_SHOWN ? text : text.slice(0, CHARS_SHOWN)
  return (
    <>
      <pre class={`text ${className}`} tabIndex={0} dir="auto">
        {showHidden(shown)}
      </pre>
      {shown.length < text.length && (
        <button class="quiet" type="button" onClick={() => showWhole(true)}>
          Show all {text.length} characters
        </button>
      )}
    </>
  )
}
const CHARS_SHOWN = 20_000

export function Json({ value }: { readonly value: unknown }) {
  return (
    <Text
      className="code"
      text={typeof value === 'string' ? indentJson(value) : (JSON.stringify(value, null, 2) ?? 'undefined')}
    />
  )
}

export function Difference({
  before,
  after,
  label,
}: {
  readonly before: string
  readonly after: string
  readonly label: string
}) {
  const lines = diffLines(before, after)
  if (!lines) return <p class="muted">These are too different to compare line by line.</p>
  if (lines.every(({ type }) => type === 'same' || type === 'gap')) return <p class="muted">There is no difference.</p>
  return (
    <div class="difference" role="group" aria-label={label} tabIndex={0}>
      {lines.map(({ type, text }, index) => (
        <div key={index} class={`line is-${type}`}>
          <span class="sign">{SIGNS[type]}</span>
          <span>{showHidden(text)}</span>
        </div>
      ))}
    </div>
  )
}
export const SIGNS = { same: ' ', added: '+', removed: '−', gap: '⋯' } as const

export function Failure({ error, again }: { readonly error: ApiError; readonly again?: (() => void) | undefined }) {
  return (
    <div class="failure" role="alert">
      <StateMark state="error" isNamed={false} />
      <div>
        <strong>{showHidden(error.message)}</strong>
        {error.hint !== undefined && <p>{showHidden(error.hint)}</p>}
        <p class="muted">{error.code}</p>
      </div>
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  )
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children && <p>{children}</p>}
    </div>
  )
}

export function Copy({
  text,
  children,
}: {
  readonly text: () => string | Promise<string>
  readonly children: ComponentChildren
}) {
  const store = useStore()
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(await text())
      store.tell('Copied.')
    } catch {
      store.tell('The browser did not allow to copy.')
    }
  }
  return (
    <button type="button" class="quiet" onClick={() => void copy()}>
      {children}
    </button>
  )
}

/** An untrusted result, with a link to its row. */
export function Source({ source: { name, row, about }, session }: SourceProps) {
  return (
    <li>
      <a href={formatRoute({ view: 'session', session, tab: 'timeline', row })}>{showLine(name, 80)}</a>
      {about !== undefined && <span class="muted"> {showLine(about, 200)}</span>}
    </li>
  )
}

interface SourceProps {
  readonly source: TaintSource
  readonly session: string
}

/** A name and what belongs to it. */
export function Field({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div class="field">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
