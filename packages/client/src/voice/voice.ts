// A voice for a session: says sentences one at a time, reports to the server what was played, and holds or stops when
// the user speaks. It knows nothing of sound; the speaker makes it.
import type { SessionEvent } from '@baton/core'
import type { Heard, SentenceFrame, SentencesDroppedFrame } from '@baton/protocol'
import type { BoundedMap } from '../bounded-map.ts'
import { createBoundedMap } from '../bounded-map.ts'
import type { ClientError } from '../client-error.ts'
import { createError } from '../client-error.ts'
import type { Listeners } from '../listeners.ts'
import { createListeners, listenOnly } from '../listeners.ts'
import { isBelow } from '../session/session-view.ts'
import { platformWorld } from '../world.ts'
import { Playback } from './playback.ts'
import type { VoiceWorld } from './speaker.ts'
import type {
  Utterance,
  Voice,
  VoiceClient,
  VoiceEvents,
  VoiceOptions,
  VoiceSnapshot,
  VoiceState,
  PlayedPlace,
} from './voice-api.ts'
import { WaitingWords } from './waiting-words.ts'
import { checkOptionNames, checkOptionNumber } from '../check-options.ts'

const CONFIRM_MS = 2000
const SENTENCES_MAX = 500
/** Number of answers whose progress, or whose silencing, is remembered. */
const ANSWERS_MAX = 100

/**
 * Creates a voice for a session that was opened with `speech`.
 * @throws ClientError `invalid_option` for an unknown option or an invalid value, and for a session without `speech`
 */
export function createVoice(client: VoiceClient, options: VoiceOptions): Voice {
  checkVoiceOptions(client, options)
  const { confirmMs = CONFIRM_MS, sentencesMax = SENTENCES_MAX } = options
  const voice = new SpokenSession(client, { ...options, confirmMs, sentencesMax })
  return {
    getSnapshot: () => voice.snapshot,
    subscribe: (listener) => voice.listeners.on('change', listener),
    on: listenOnly(voice.listeners, 'a voice', Object.keys(EVENTS)),
    pause: () => voice.pause(),
    resume: () => voice.resume(),
    interrupt: () => voice.interrupt(),
    stop: () => voice.stop(),
    heard: () => voice.heard(),
    close: () => voice.close(),
  }
}

/** A sentence that was played completely, or this many words of it. */
interface Place {
  readonly message: string
  readonly index: number
  readonly words?: number
}

interface Speech {
  readonly playback: Playback
  utterance: Utterance
}

type SpokenOptions = VoiceOptions & { readonly confirmMs: number; readonly sentencesMax: number }

class SpokenSession {
  readonly listeners: Listeners<VoiceEvents & { readonly change: undefined }>
  snapshot: VoiceSnapshot = { state: 'idle', utterance: undefined, queued: 0 }
  readonly #client: VoiceClient
  readonly #options: SpokenOptions
  readonly #world: VoiceWorld
  readonly #acknowledgements: ReturnType<typeof createAcknowledgements>
  readonly #waiting: WaitingWords
  /** Index of the next sentence, by answer. */
  readonly #expected: BoundedMap<string, number> = createBoundedMap(ANSWERS_MAX)
  /** Answers that began after this voice was created. */
  readonly #begun: BoundedMap<string, true> = createBoundedMap(ANSWERS_MAX)
  /** Answers whose rest is not said. */
  readonly #silenced: BoundedMap<string, true> = createBoundedMap(ANSWERS_MAX)
  readonly #unfollow: readonly (() => void)[]
  #queue: readonly SentenceFrame[] = []
  /** The sentence being said. */
  #speech: Speech | undefined
  /** The speaker is still ending a stopped text. */
  #isBusy = false
  /** The answer being spoken, or the last spoken one. */
  #lastSaid: string | undefined
  /** How far its newest sentences were played. */
  #places: readonly Place[] = []
  /** The newest answer if `stop` dropped unplayed text; absent once the voice has spoken again. */
  #cut: string | undefined
  /** The newest answer if the server accepted an interrupt with what was heard: the rest no longer exists. */
  #told: string | undefined
  /** The speaker was paused and not resumed. */
  #isPaused = false
  #stopConfirm: (() => void) | undefined
  #isClosed = false

  constructor(client: VoiceClient, options: SpokenOptions) {
    const world = options.world ?? platformWorld()
    this.#client = client
    this.#options = options
    this.#world = world
    // Like the platform's own events: an error in a listener is an uncaught error, after the event.
    this.listeners = createListeners(
      (cause) =>
        void world.start(0, () => {
          throw cause
        }),
    )
    this.#acknowledgements = createAcknowledgements(client, (cause) => this.#complain(cause))
    this.#waiting = new WaitingWords(world, () => this.#next())
    this.#unfollow = [
      client.on('sentence', (sentence) => this.#takeSentence(sentence)),
      client.on('sentences.dropped', (dropped) => this.#takeDropped(dropped)),
      client.on('event', (event) => this.#takeEvent(event)),
      client.on('status', (status) => {
        if (status === 'closed') this.close()
      }),
    ]
  }

  pause(): void {
    if (this.#isClosed || this.#stopConfirm) return
    this.#stopConfirm = this.#world.start(this.#options.confirmMs, () => this.resume())
    if (this.#speech) {
      this.#speech.playback.pause()
      this.#isPaused = true
      this.#steer('pause')
    }
    this.#publish()
  }

  resume(): void {
    this.#release()
    this.#speech?.playback.resume()
    this.#unpause()
    this.#next()
  }

  async interrupt(): Promise<void> {
    const heard = this.heard()
    this.stop()
    if (heard.type === 'all') return
    const newest = this.#findNewest()?.id
    await this.#client.interrupt({ heard })
    this.#told = newest
  }

  stop(): void {
    this.#release()
    const newest = this.#findNewest()
    const said = [...this.#queue.map(({ message }) => message), this.#saidMessage()]
    for (const message of [...said, newest?.id]) if (message !== undefined) this.#silenced.set(message, true)
    const isRunning = newest !== undefined && newest.stop === undefined
    if (isRunning || said.some((message) => message !== undefined)) this.#cut = newest?.id
    this.#drop(() => true)
    this.#waiting.clear()
    this.#end(this.#speech)
    this.#unpause()
    this.#next()
  }

  heard(): Heard {
    const newest = this.#findNewest()
    const isOver = this.#client.getSnapshot().activity === 'idle' && (!newest || newest.stop !== undefined)
    const isTold = newest !== undefined && this.#told === newest.id
    const isCut = newest !== undefined && this.#cut === newest.id
    if ((isTold || (isOver && !isCut)) && this.#saidMessage() === undefined && this.#queue.length === 0)
      return { type: 'all' }
    const place = this.#places.at(-1)
    if (place) return { type: 'sentence', ...place }
    // Another voice, such as the page's before a reload, has played some of it.
    const beganBefore = newest !== undefined && newest.stop === undefined && !this.#begun.has(newest.id)
    return { type: beganBefore ? 'reported' : 'none' }
  }

  close(): void {
    if (this.#isClosed) return
    this.stop()
    this.#isClosed = true
    this.#acknowledgements.close()
    for (const unfollow of this.#unfollow) unfollow()
  }

  #takeSentence(sentence: SentenceFrame): void {
    const { message, index } = sentence
    if (this.#silenced.has(message) || index < (this.#expected.get(message) ?? 0)) return
    if (this.#queue.length >= this.#options.sentencesMax) {
      this.#silenced.set(message, true)
      this.#complain(
        createError('queue_full', `${this.#queue.length} sentences are queued; the rest of this answer is not said`),
      )
      return
    }
    this.#expected.set(message, index + 1)
    this.#queue = [...this.#queue, sentence]
    this.#publish()
    this.#next()
  }

  #takeDropped({ message, index }: SentencesDroppedFrame): void {
    const expected = this.#expected.get(message)
    if (expected === undefined) return
    this.#expected.set(message, Math.min(expected, index))
    this.#drop((sentence) => sentence.message === message && sentence.index >= index)
    const { utterance } = this.#speech ?? {}
    const isOver = utterance?.type === 'sentence' && utterance.message === message && utterance.index >= index
    // Another sentence now has its place in the answer.
    if (this.#places.some((place) => place.message === message && place.index >= index)) {
      const kept = this.#places.filter((place) => place.index < index)
      this.#places = kept.length > 0 ? kept : [{ message, index, words: 0 }]
    }
    if (isOver) this.#end(this.#speech)
    this.#next()
  }

  #takeEvent(event: SessionEvent): void {
    if (isBelow(event)) return // a voice says what its own agent says
    if (event.type === 'call') this.#waiting.take(event.call)
    else if (event.type === 'message-added') this.#begun.set(event.message.id, true)
    else if (event.type === 'text-cut') this.#silence(event.message)
    else if (event.type === 'messages-removed') {
      const known = [...this.#queue.map(({ message }) => message), this.#saidMessage()]
      for (const message of known) if (message !== undefined && !event.keep.includes(message)) this.#silence(message)
    } else if (event.type === 'turn-finished') {
      this.#waiting.dropOf(event.message)
      if (event.stop === 'cancelled' || event.stop === 'stopped') this.#silence(event.message)
    }
  }

  /** Another client interrupted: drops the unspoken rest of an answer. */
  #silence(message: string): void {
    this.#silenced.set(message, true)
    this.#drop((sentence) => sentence.message === message)
    if (this.#saidMessage() === message) this.#end(this.#speech)
    this.#next()
  }

  /** Says the next text if the voice is idle. */
  #next(): void {
    if (!this.#speech && !this.#isBusy && !this.#stopConfirm && !this.#isClosed) {
      const [sentence, ...later] = this.#queue
      if (sentence) {
        this.#queue = later
        const { message, index, text, start, end } = sentence
        return this.#say({ type: 'sentence', message, index, text, start, end, words: 0 })
      }
      const due = this.#waiting.takeDue()
      if (due) return this.#say({ type: 'waiting', callId: due.callId, text: due.say, words: 0 })
    }
    this.#publish()
  }

  #say(utterance: Utterance): void {
    const speech: Speech = {
      utterance,
      playback: new Playback(utterance.text, {
        speaker: this.#options.speaker,
        world: this.#world,
        onWord: (words) => this.#takeWords(speech, words),
        onEnd: (failure) => this.#takeEnd(speech, failure),
        onFree: () => {
          this.#isBusy = false
          this.#next()
        },
      }),
    }
    this.#isBusy = true
    this.#speech = speech
    if (utterance.type === 'sentence') {
      const { message, index } = utterance
      this.#cut = undefined
      if (this.#lastSaid !== message) {
        this.#lastSaid = message
        this.#places = this.#begun.has(message) ? [{ message, index, words: 0 }] : []
        this.#acknowledgements.report({ message, chars: 0 })
      }
    }
    this.#publish()
    this.listeners.tell('speech-start', utterance)
    speech.playback.start()
  }

  #takeWords(speech: Speech, words: number): void {
    speech.utterance = { ...speech.utterance, words }
    const { utterance } = speech
    if (utterance.type === 'sentence') this.#note({ message: utterance.message, index: utterance.index, words })
    this.#publish()
    this.listeners.tell('speech-word', utterance)
  }

  #takeEnd(speech: Speech, failure: string | undefined): void {
    const { utterance } = speech
    this.#speech = undefined
    if (failure === undefined && utterance.type === 'sentence') {
      const { message, index, end } = utterance
      this.#note({ message, index })
      this.#acknowledgements.report({ message, chars: end })
    }
    this.listeners.tell('speech-end', { ...utterance, isWhole: failure === undefined })
    if (failure !== undefined) this.#complain(describeFailure(utterance, failure))
  }

  #note(place: Place): void {
    const before = this.#places.filter(({ index }) => index < place.index)
    this.#places = [...before, place].slice(-this.#options.sentencesMax)
  }

  /** Ends a text before it was played completely. */
  #end(speech: Speech | undefined): void {
    if (!speech || this.#speech !== speech) return
    this.#speech = undefined
    speech.playback.stop()
    this.listeners.tell('speech-end', { ...speech.utterance, isWhole: false })
  }

  /** Drops queued sentences. */
  #drop(isOver: (sentence: SentenceFrame) => boolean): void {
    const dropped = this.#queue.filter(isOver)
    if (dropped.length === 0) return
    this.#queue = this.#queue.filter((sentence) => !isOver(sentence))
    this.listeners.tell('speech-dropped', dropped)
  }

  /** Ends the time of a `pause`. */
  #release(): void {
    this.#stopConfirm?.()
    this.#stopConfirm = undefined
  }

  #unpause(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#steer('resume')
  }

  #saidMessage(): string | undefined {
    const { utterance } = this.#speech ?? {}
    return utterance?.type === 'sentence' ? utterance.message : undefined
  }

  /** The newest answer; without `stop` the model is still writing it. */
  #findNewest(): { readonly id: string; readonly stop?: string } | undefined {
    return this.#client.getSnapshot().messages.findLast(({ role }) => role === 'assistant')
  }

  #steer(how: 'pause' | 'resume'): void {
    try {
      this.#options.speaker[how]()
    } catch (cause) {
      this.#complain(createError('handler_failed', `the speaker's ${how} failed: ${String(cause)}`))
    }
  }

  #complain(cause: unknown): void {
    if (this.#isClosed) return // after close, failed reports are ignored
    const error = cause instanceof Error && 'code' in cause ? (cause as ClientError) : undefined // an error of the client has a code
    this.listeners.tell('error', error ?? createError('internal', String(cause)))
  }

  #publish(): void {
    const { state: before, utterance, queued } = this.snapshot
    const state: VoiceState = this.#stopConfirm ? 'held' : this.#speech ? 'speaking' : 'idle'
    const said = this.#speech?.utterance
    if (state === before && utterance === said && queued === this.#queue.length) return
    this.snapshot = { state, utterance: said, queued: this.#queue.length }
    this.listeners.tell('change', undefined)
    if (state !== before) this.listeners.tell('state', state)
  }
}

function describeFailure(utterance: Utterance, failure: string): ClientError {
  const what = utterance.type === 'sentence' ? `sentence ${utterance.index} of ${utterance.message}` : 'waiting words'
  return createError(
    'handler_failed',
    `the speaker failed at ${what}: ${failure}`,
    'It counts as heard up to the words that the speaker reported. Later sentences are still said.',
  )
}

/** Every field of `VoiceOptions`; a test compares the two. */
const OPTIONS: readonly string[] = ['speaker', 'confirmMs', 'sentencesMax', 'world']
const EVENTS: Readonly<Record<keyof VoiceEvents, true>> = {
  state: true,
  'speech-start': true,
  'speech-word': true,
  'speech-end': true,
  'speech-dropped': true,
  error: true,
}
/** Maximum delay of a timer, in milliseconds; a longer one would fire at once. */
const TIMER_MS = 2_147_483_647

/**
 * Options of a voice, checked before it speaks: a mistake would only show at the first sentence, or never.
 * @throws ClientError `invalid_option`
 */
function checkVoiceOptions(client: VoiceClient, options: VoiceOptions): void {
  checkOptionNames('createVoice', options, OPTIONS)
  checkMethods(
    'client',
    client,
    ['on', 'getSnapshot', 'interrupt', 'played'],
    'Pass the client that openSession returned.',
  )
  checkMethods('speaker', options.speaker, ['speak', 'pause', 'resume'], 'In a page: speaker: createBrowserSpeaker()')
  if (options.world !== undefined) checkMethods('world', options.world, ['nowMs', 'start'], 'Leave it out.')
  checkOptionNumber('createVoice: confirmMs', options.confirmMs, [0, TIMER_MS])
  checkOptionNumber('createVoice: sentencesMax', options.sentencesMax, [1, Number.MAX_SAFE_INTEGER])
  if (client.speech === false)
    throw createError(
      'invalid_option',
      'createVoice: the session was opened without speech, so the server sends no sentences',
      "Write openSession({ speech: true, … }), or speech: 'only' if the page shows no other text.",
    )
}

function checkMethods(name: string, value: unknown, methods: readonly string[], hint: string): void {
  const missing = methods.find(
    (method) => typeof (value as Record<string, unknown> | undefined)?.[method] !== 'function',
  ) // any value has a property or none
  if (missing === undefined) return
  const what = typeof value === 'object' && value !== null ? `which has no method "${missing}"` : `not ${typeof value}`
  throw createError('invalid_option', `createVoice needs a ${name}, ${what}`, hint)
}

/**
 * Tells the server how much the voice has played. One report is in flight at a time, since the newest replaces the
 * others.
 */
function createAcknowledgements(
  client: Pick<VoiceClient, 'played'>,
  onFail: (cause: unknown) => void,
): { readonly report: (place: PlayedPlace) => void; readonly close: () => void } {
  let newest: PlayedPlace | undefined
  let isSending = false
  const send = async (): Promise<void> => {
    isSending = true
    for (let place = newest; place; place = newest) {
      newest = undefined
      try {
        await client.played(place)
      } catch (cause) {
        onFail(cause)
      }
    }
    isSending = false
  }
  return {
    report: (place) => {
      newest = place
      if (!isSending) void send()
    },
    close: () => {
      newest = undefined
    },
  }
}
