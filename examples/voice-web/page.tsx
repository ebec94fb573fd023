// A page for talking with an agent: it speaks its answers, shows how much was heard, and accepts speech or typing.
import type { ClientError, SessionClient } from '@baton/client'
import { openSession } from '@baton/client'
import type { Voice } from '@baton/client/voice'
import { createBrowserSpeaker, createVoice } from '@baton/client/voice'
import type { JSX } from 'react'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { createRoot } from 'react-dom/client'
import type { Person } from './barge-in.ts'
import { createPerson } from './barge-in.ts'
import { Entries } from './entries.tsx'
import type { RecognitionLike } from './recognition.ts'
import { listen } from './recognition.ts'
import type { Timeline } from './timeline.ts'
import { followTimeline } from './timeline.ts'

interface Talk {
  readonly client: SessionClient
  readonly voice: Voice
  readonly person: Person
  readonly timeline: Timeline
}

/** Chromium and Safari provide it under its old name. */
interface PageWindow {
  readonly SpeechRecognition?: new () => RecognitionLike
  readonly webkitSpeechRecognition?: new () => RecognitionLike
}

/** `?wpm=300` in the page's address sets the words per minute for browsers without a voice. */
function openTalk(onError: (error: ClientError) => void): Talk {
  location.hash ||= crypto.randomUUID()
  const wpm = Number(new URLSearchParams(location.search).get('wpm'))
  const wordsPerMinute = wpm >= 1 && wpm <= 10_000 ? wpm : 160
  const client = openSession({
    url: `${location.origin.replace(/^http/, 'ws')}/ws`,
    session: location.hash.slice(1),
    speech: 'only',
  })
  const voice = createVoice(client, { speaker: createBrowserSpeaker({ lang: navigator.language, wordsPerMinute }) })
  client.on('error', onError)
  voice.on('error', onError)
  // Browsers continue speaking after their page is closed.
  addEventListener('pagehide', () => voice.close())
  const timeline = followTimeline(client, voice, () => performance.now())
  return { client, voice, person: createPerson(client, voice, onError), timeline }
}

function Page({ talk, error }: { readonly talk: Talk; readonly error: string | undefined }): JSX.Element {
  const { client, voice, person, timeline } = talk
  const entries = useSyncExternalStore(timeline.subscribe, timeline.getEntries)
  const session = useSyncExternalStore(client.subscribe, client.getSnapshot)
  const { state } = useSyncExternalStore(voice.subscribe, voice.getSnapshot)
  const status =
    session.status === 'waiting' || session.status === 'connecting'
      ? 'Connecting …'
      : state === 'held'
        ? 'Held: is somebody speaking?'
        : state === 'speaking'
          ? 'Speaking'
          : session.activity === 'idle'
            ? 'Ready'
            : 'Thinking'
  return (
    <main>
      <header>
        <h1>Talk to the station</h1>
        <p className="status" role="status" data-state={state}>
          {status}
        </p>
      </header>
      <Entries entries={entries} isSpeaking={state !== 'idle'} />
      {session.messages.map((one) =>
        one.role === 'user' && one.delivery ? (
          <p key={one.id} className="quiet">
            {one.delivery === 'failed' ? `Not sent: ${one.error?.message ?? ''}` : 'Sending …'}
          </p>
        ) : null,
      )}
      {error !== undefined && (
        <p className="error" role="alert">
          {error}
        </p>
      )}
      <Composer person={person} voice={voice} />
    </main>
  )
}

function Composer({ person, voice }: { readonly person: Person; readonly voice: Voice }): JSX.Element {
  const [text, setText] = useState('')
  const { isListening, why, toggle } = useListening(person, voice)
  const send = (): void => {
    if (text.trim() === '') return
    person.says(text.trim())
    setText('')
  }
  return (
    <form
      className="say"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
      onKeyDown={({ key }) => {
        if (key === 'Escape') voice.interrupt().catch(console.error)
      }}
    >
      <button type="button" aria-pressed={isListening} onClick={toggle} title="Listen to the microphone">
        {isListening ? 'Stop listening' : 'Listen'}
      </button>
      <textarea
        autoFocus
        aria-label="Message"
        placeholder="Or type"
        rows={1}
        value={text}
        onChange={({ target }) => {
          setText(target.value)
          person.seemsToSay(target.value)
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
          event.preventDefault()
          send()
        }}
      />
      <button type="submit" className="main">
        Send
      </button>
      {why !== undefined && (
        <p className="quiet why" role="status">
          {why}
        </p>
      )}
    </form>
  )
}

/**
 * Number of sentences whose echo may still reach the microphone, and for how many milliseconds after the voice became
 * silent.
 */
const ECHO_SENTENCES = 3
const ECHO_MS = 1500

function useListening(person: Person, voice: Voice) {
  const [isListening, setListening] = useState(false)
  const [why, setWhy] = useState<string>()
  const stop = useRef<() => void>(undefined)
  const spoken = useRef<readonly string[]>([])
  const silentSince = useRef(0)
  useEffect(() => {
    const unfollow = [
      voice.on('speech-start', ({ text }) => {
        spoken.current = [...spoken.current, text].slice(-ECHO_SENTENCES)
      }),
      voice.on('speech-end', () => {
        silentSince.current = performance.now()
      }),
    ]
    return () => {
      for (const stopFollowing of unfollow) stopFollowing()
    }
  }, [voice])
  /** A person may repeat the words later: "platform 3" answers a question. */
  const mayEcho = (): boolean =>
    voice.getSnapshot().utterance !== undefined || performance.now() - silentSince.current < ECHO_MS
  useEffect(() => () => stop.current?.(), [])
  const toggle = (): void => {
    if (isListening) return stop.current?.()
    const { SpeechRecognition, webkitSpeechRecognition: Recognition = SpeechRecognition } = globalThis as PageWindow
    if (!Recognition) return setWhy('This browser does not support speech recognition. Type instead.')
    setWhy(undefined)
    setListening(true)
    stop.current = listen({
      Recognition,
      lang: navigator.language,
      spoken: () => (mayEcho() ? spoken.current.join(' ') : ''),
      onHint: person.seemsToSay,
      onSaid: person.says,
      onEnd: (reason) => {
        setListening(false)
        if (reason !== undefined) setWhy(`Speech recognition stopped (${reason}). Type instead.`)
      },
    })
  }
  return { isListening, why, toggle }
}

const root = document.querySelector('#root')
if (root) {
  const shown = createRoot(root)
  const talk: Talk = openTalk(({ message }) => show(message))
  const show = (error?: string): void => shown.render(<Page talk={talk} error={error} />)
  show()
}
