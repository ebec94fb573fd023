// The history of the conversation, in order: who said what, how much of it was heard, calls and pauses. It does not
// depend on the page.
import type { SessionClient, SessionClientEvents } from '@baton/client'
import type { Utterance, Voice } from '@baton/client/voice'

type SessionEvent = SessionClientEvents['event']

/** `queued`: waiting to be spoken. `unsaid`: the person interrupted, or the model started over. */
export interface TimelineSentence {
  readonly index: number
  readonly text: string
  /** Number of words that were played completely. */
  readonly words: number
  readonly status: 'queued' | 'saying' | 'heard' | 'unsaid'
}

export type Entry = { readonly key: string; readonly atMs: number } & (
  | { readonly type: 'you'; readonly text: string }
  | { readonly type: 'agent'; readonly message: string; readonly sentences: readonly TimelineSentence[] }
  /** An entry from before this page was opened. */
  | { readonly type: 'past'; readonly message: string; readonly text: string }
  | { readonly type: 'call'; readonly callId: string; readonly title: string; readonly state: string }
  | { readonly type: 'waiting'; readonly text: string }
  | { readonly type: 'note'; readonly text: string }
)
type EntryBody = Entry extends infer One ? (One extends Entry ? Omit<One, 'key' | 'atMs'> : never) : never

export interface Timeline {
  readonly getEntries: () => readonly Entry[]
  readonly subscribe: (listener: () => void) => () => void
}

const ENTRIES_MAX = 1000

export function followTimeline(client: SessionClient, voice: Voice, nowMs: () => number): Timeline {
  const timeline = new FollowedTimeline(client, nowMs)
  client.subscribe(() => timeline.load())
  client.on('event', (event) => timeline.takeEvent(event))
  client.on('sentence', ({ message, index, text, start }) => timeline.addSentence(message, { index, text }, start))
  voice.on('speech-start', (said) => timeline.takeStart(said))
  voice.on('speech-word', (said) => timeline.setSentence(said, 'saying'))
  voice.on('speech-end', (said) => timeline.setSentence(said, said.isWhole ? 'heard' : 'unsaid'))
  voice.on('speech-dropped', (sentences) => {
    for (const { message, index } of sentences) timeline.changeSentence(message, index, { status: 'unsaid' })
  })
  voice.on('state', (state) => timeline.takeState(state))
  return { getEntries: () => timeline.entries, subscribe: (listener) => timeline.subscribe(listener) }
}

class FollowedTimeline {
  entries: readonly Entry[] = []
  readonly #client: SessionClient
  readonly #nowMs: () => number
  readonly #beganMs: number
  readonly #listeners = new Set<() => void>()
  #isLoaded = false
  #wasHeld = false
  #count = 0

  constructor(client: SessionClient, nowMs: () => number) {
    this.#client = client
    this.#nowMs = nowMs
    this.#beganMs = nowMs()
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Loads the conversation from before the page was opened. */
  load(): void {
    const { isLoaded, messages } = this.#client.getSnapshot()
    if (!isLoaded || this.#isLoaded) return
    this.#isLoaded = true
    for (const one of messages) {
      if (one.role === 'user') {
        if (one.delivery === undefined) this.#add({ type: 'you', text: readParts(one.parts) })
      } else this.#add({ type: 'past', message: one.id, text: one.steps.map(({ text }) => text).join('\n\n') })
    }
  }

  takeEvent(event: SessionEvent): void {
    if (event.type === 'message-added' && event.message.role === 'user') {
      this.#add({ type: 'you', text: readParts(event.message.parts) })
    } else if (event.type === 'call') {
      const { callId, name, title = name, status, result } = event.call
      if (status === 'proposed') return
      const isDetached = result?.type === 'cancelled' && result.detached === true
      const state = isDetached
        ? 'goes on, its outcome follows'
        : result
          ? result.type === 'ok'
            ? 'done'
            : result.type
          : 'running'
      const isKnown = this.entries.some((one) => one.type === 'call' && one.callId === callId)
      if (!isKnown) this.#add({ type: 'call', callId, title, state })
      else this.#change((one) => (one.type === 'call' && one.callId === callId ? { ...one, state } : one))
    } else if (event.type === 'turn-finished' && event.stop === 'failed') {
      this.#add({ type: 'note', text: `The answer failed: ${event.error?.message ?? 'no reason given'}` })
    }
  }

  addSentence(message: string, { index, text }: Pick<TimelineSentence, 'index' | 'text'>, start: number): void {
    const sentence = { index, text, words: 0, status: 'queued' } as const
    // The unspoken rest of the text from before the page was opened arrives as sentences.
    this.#change((one) =>
      one.type === 'past' && one.message === message ? { ...one, text: one.text.slice(0, start).trimEnd() } : one,
    )
    const last = this.entries.findLast(({ type }) => type !== 'note' && type !== 'waiting')
    if (last?.type === 'agent' && last.message === message)
      this.#change((one) => (one === last ? { ...last, sentences: [...last.sentences, sentence] } : one))
    else this.#add({ type: 'agent', message, sentences: [sentence] })
  }

  takeStart(said: Utterance): void {
    if (said.type === 'waiting') this.#add({ type: 'waiting', text: said.text })
    else this.setSentence(said, 'saying')
  }

  setSentence(said: Utterance, status: TimelineSentence['status']): void {
    if (said.type === 'sentence') this.changeSentence(said.message, said.index, { status, words: said.words })
  }

  /** Changes the newest sentence with that index: a discarded attempt of the model has the same index. */
  changeSentence(message: string, index: number, change: Partial<TimelineSentence>): void {
    const isIt = (one: TimelineSentence): boolean => one.index === index
    const entry = this.entries.findLast(
      (one) => one.type === 'agent' && one.message === message && one.sentences.some(isIt),
    )
    if (entry?.type !== 'agent') return
    const at = entry.sentences.findLastIndex(isIt)
    const sentences = entry.sentences.map((one, place) => (place === at ? { ...one, ...change } : one))
    this.#change((one) => (one === entry ? { ...entry, sentences } : one))
  }

  takeState(state: string): void {
    if (state === 'held') this.#add({ type: 'note', text: 'Holds: is somebody speaking?' })
    else if (this.#wasHeld && state === 'speaking') this.#add({ type: 'note', text: 'Nobody spoke: goes on.' })
    this.#wasHeld = state === 'held'
  }

  #add(body: EntryBody): void {
    const entry: Entry = { ...body, key: String(this.#count++), atMs: this.#nowMs() - this.#beganMs }
    this.entries = [...this.entries, entry].slice(-ENTRIES_MAX)
    this.#tell()
  }

  #change(how: (entry: Entry) => Entry): void {
    this.entries = this.entries.map(how)
    this.#tell()
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }
}

function readParts(parts: readonly { readonly type: string; readonly text?: unknown }[]): string {
  return parts.map(({ type, text }) => (type === 'text' ? String(text) : `(${type})`)).join(' ')
}
