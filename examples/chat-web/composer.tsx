// The input box: Enter sends, Shift and Enter begin a line.
import type { UIMessage } from 'ai'
import type { JSX, RefObject } from 'react'
import { useState } from 'react'

interface ComposerProps {
  /** The message being replaced. */
  readonly edited: UIMessage | undefined
  readonly isBusy: boolean
  readonly box: RefObject<HTMLTextAreaElement | null>
  readonly onStop: () => void
  readonly onSend: (text: string, files: FileList | undefined) => void
}

export function Composer({ edited, isBusy, box, onStop, onSend }: ComposerProps): JSX.Element {
  const said = edited?.parts.map((part) => (part.type === 'text' ? part.text : '')).join('') ?? ''
  const [text, setText] = useState(said)
  const [files, setFiles] = useState<FileList>()
  const send = (): void => {
    if (text.trim() === '' && !files) return
    onSend(text, files)
    setText('')
    setFiles(undefined)
  }
  return (
    <form
      className="say"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <label className="attach">
        <input
          type="file"
          accept="image/*,application/pdf"
          aria-label="Attach a file"
          onChange={(event) => setFiles(event.target.files ?? undefined)}
        />
        <span aria-hidden="true">{files?.length ? '✓' : '+'}</span>
      </label>
      <textarea
        ref={box}
        autoFocus
        aria-label={edited ? 'Change what you said' : 'Message'}
        placeholder={edited ? 'Change what you said' : 'Say something'}
        rows={1}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
          event.preventDefault()
          send()
        }}
      />
      {isBusy ? (
        <button type="button" onClick={onStop}>
          Stop
        </button>
      ) : (
        <button type="submit" className="main">
          Send
        </button>
      )}
    </form>
  )
}
