// Listens with the browser's speech recognition. Echoes of the agent's own voice are ignored.

/**
 * The part of the Web Speech API's recognition that is used, as a small interface of our own: browsers have all of it,
 * and tests provide theirs.
 */
export interface RecognitionLike {
  continuous: boolean
  interimResults: boolean
  lang: string
  onresult: ((event: ResultEvent) => void) | null
  onspeechstart: (() => void) | null
  onerror: ((event: { readonly error: string }) => void) | null
  onend: (() => void) | null
  start(): void
  abort(): void
}

export interface ResultEvent {
  readonly resultIndex: number
  readonly results: ArrayLike<{ readonly isFinal: boolean; readonly 0: { readonly transcript: string } }>
}

export interface ListenOptions {
  readonly Recognition: new () => RecognitionLike
  readonly lang: string
  /** Text that the voice is saying or has just said; empty after its echo has ended. */
  readonly spoken: () => string
  readonly onHint: (text: string) => void
  readonly onSaid: (text: string) => void
  /** Listening has ended; `why` is set if the browser does not allow it. */
  readonly onEnd: (why?: string) => void
}

/** Errors after which listening continues. */
const HARMLESS: readonly string[] = ['no-speech', 'aborted']

/** Listens until the returned function is called: browsers end a recognition after each pause, and it is restarted. */
export function listen({ Recognition, lang, spoken, onHint, onSaid, onEnd }: ListenOptions): () => void {
  let isOver = false
  const end = (why?: string): void => {
    if (isOver) return
    isOver = true
    recognition.abort()
    onEnd(why)
  }
  const recognition = new Recognition()
  Object.assign(recognition, { continuous: true, interimResults: true, lang })
  // Noise: words may or may not follow.
  recognition.onspeechstart = () => onHint('')
  recognition.onresult = ({ resultIndex, results }) => {
    for (const result of Array.from(results).slice(resultIndex)) {
      const text = result[0].transcript.trim()
      if (text === '' || isEcho(text, spoken())) continue
      if (result.isFinal) onSaid(text)
      else onHint(text)
    }
  }
  recognition.onerror = ({ error }) => {
    if (!HARMLESS.includes(error)) end(error)
  }
  recognition.onend = () => {
    if (!isOver) recognition.start()
  }
  recognition.start()
  return () => end()
}

/** Whether the microphone picked up the agent's own words. */
export function isEcho(heard: string, spoken: string): boolean {
  const plain = (text: string): string =>
    ` ${
      text
        .toLowerCase()
        .match(/[\p{L}\p{N}]+/gu)
        ?.join(' ') ?? ''
    } `
  return plain(spoken).includes(plain(heard))
}
