// Listens with the browser's own speech recognition. What it hears of the agent's own voice is left out.

/** What is used of the Web Speech API's recognition, as our own small interface: a browser has all of it, tests bring theirs. */
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

export interface ListenInit {
  readonly Recognition: new () => RecognitionLike
  readonly lang: string
  /** What the voice says now, and said shortly before; empty when its echo is over. */
  readonly spoken: () => string
  readonly onHint: (text: string) => void
  readonly onSaid: (text: string) => void
  /** It listens no more; `why` where the browser does not let it. */
  readonly onEnd: (why?: string) => void
}

/** Errors after which listening goes on. */
const HARMLESS: readonly string[] = ['no-speech', 'aborted']

/** Listens until the returned function is called: browsers end a recognition after each pause, and it is begun again. */
export function listen({ Recognition, lang, spoken, onHint, onSaid, onEnd }: ListenInit): () => void {
  let isOver = false
  const end = (why?: string): void => {
    if (isOver) return
    isOver = true
    recognition.abort()
    onEnd(why)
  }
  const recognition = new Recognition()
  Object.assign(recognition, { continuous: true, interimResults: true, lang })
  // A noise: words follow, or not.
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

/** Words of the voice that the microphone took up. */
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
