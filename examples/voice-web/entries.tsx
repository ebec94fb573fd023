// The timeline as the page shows it: the heard part of each sentence, with the rest greyed out.
import { listWordEnds } from '@baton/client/voice'
import type { JSX } from 'react'
import { useEffect, useRef } from 'react'
import type { Entry, TimelineSentence } from './timeline.ts'

interface EntriesProps {
  readonly entries: readonly Entry[]
  readonly isSpeaking: boolean
}

export function Entries({ entries, isSpeaking }: EntriesProps): JSX.Element {
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (list.current) list.current.scrollTop = list.current.scrollHeight
  }, [entries])
  return (
    // Screen readers are silent while the page speaks.
    <div
      className="messages"
      ref={list}
      role="log"
      aria-live={isSpeaking ? 'off' : 'polite'}
      aria-label="Conversation"
      tabIndex={0}
    >
      {entries.map((entry) => (
        <div key={entry.key} className={`entry of-${entry.type}`} data-type={entry.type}>
          <time>{(entry.atMs / 1000).toFixed(1)} s</time>
          <EntryBody entry={entry} />
        </div>
      ))}
    </div>
  )
}

function EntryBody({ entry }: { readonly entry: Entry }): JSX.Element {
  switch (entry.type) {
    case 'you':
      return (
        <p>
          <b>You</b> {entry.text}
        </p>
      )
    case 'past':
      return (
        <p>
          <b>Agent</b> {entry.text}
        </p>
      )
    case 'agent':
      return (
        <p>
          <b>Agent</b>{' '}
          {entry.sentences.map((sentence, place) => (
            <Sentence key={place} sentence={sentence} />
          ))}
        </p>
      )
    case 'waiting':
      return (
        <p className="quiet">
          <b>Agent</b> <i>{entry.text}</i> (not in the conversation)
        </p>
      )
    case 'call':
      return (
        <p className="quiet">
          <b>Tool</b> {entry.title}: {entry.state}
        </p>
      )
    case 'note':
      return <p className="quiet">{entry.text}</p>
    default:
      return entry satisfies never
  }
}

function Sentence({ sentence: { text, words, status } }: { readonly sentence: TimelineSentence }): JSX.Element {
  const heard = status === 'heard' ? text.length : words > 0 ? (listWordEnds(text)[words - 1] ?? 0) : 0
  return (
    <span className={`sentence ${status}`}>
      <span className="heard">{text.slice(0, heard)}</span>
      {heard < text.length && <span className="rest">{text.slice(heard)}</span>}{' '}
    </span>
  )
}
