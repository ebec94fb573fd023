// One random conversation of a voice: the test's actions, and the invariants, judged by the words that were really
// played.
import assert from 'node:assert/strict'
import type { SpeakerFault } from './voice.test-kit.ts'
import { NotingSpeaker, PlayedSession, createVirtualWorld } from './voice.test-kit.ts'
import { createVoice } from './voice.ts'

export type Step =
  | { readonly type: 'sentence'; readonly words: number; readonly fault: SpeakerFault }
  | { readonly type: 'pass'; readonly ms: number }
  | { readonly type: 'drop'; readonly back: number }
  | {
      readonly type:
        'repeat' | 'late' | 'answer' | 'end' | 'cancel' | 'cut' | 'pause' | 'resume' | 'interrupt' | 'stop' | 'break'
    }

/** Each word names its answer, sentence, attempt and place: `t3.0.1.2`. */
interface PlayedWord {
  readonly message: string
  readonly index: number
  readonly attempt: number
  readonly word: number
}

const readWord = (text: string): PlayedWord => {
  const [message = '', index, attempt, word] = text.split('.')
  return { message, index: Number(index), attempt: Number(attempt), word: Number(word) }
}

export class Play {
  readonly world = createVirtualWorld()
  readonly session = new PlayedSession()
  readonly speaker = new NotingSpeaker(this.world)
  readonly voice = createVoice(this.session, { speaker: this.speaker, world: this.world })
  readonly faults = new Map<string, SpeakerFault>()
  /** Words of the sentences so far, by `message.index.attempt`. */
  readonly told = new Map<string, { readonly words: number; readonly end: number; readonly order: number }>()
  /** Answers that must stay silent from some point, with the number of words played until then. */
  readonly over = new Map<string, number>()
  /** Words played when a sentence was discarded, by `message.index.attempt`. */
  readonly takenBack = new Map<string, number>()
  readonly errors: string[] = []
  answer = 0
  index = 0
  attempt = 0
  last: ReturnType<PlayedSession['sentence']> | undefined

  constructor() {
    this.speaker.faultOf = (text) => this.faults.get(text) ?? { type: 'none' }
    this.voice.on('error', ({ code }) => void this.errors.push(code))
    this.begin()
  }

  get id(): string {
    return `t${this.answer}`
  }

  begin(): void {
    this.answer += 1
    this.index = 0
    this.session.begin(this.id)
  }

  silence(message: string): void {
    if (!this.over.has(message)) this.over.set(message, this.speaker.played.length)
  }

  /** While the voice is held, nothing is played. */
  async actHeld(step: Step): Promise<void> {
    const played = this.speaker.played.length
    const wasHeld = this.voice.getSnapshot().state === 'held'
    await this.act(step)
    // The time of a pause can end meanwhile.
    const isHeld = wasHeld && step.type === 'pass' && this.voice.getSnapshot().state === 'held'
    if (isHeld) assert.deepEqual(this.speaker.played.length, played)
    this.expectHeard()
  }

  /** The last played part, which `heard` must report. */
  expectHeard(): void {
    const heard = this.voice.heard()
    const { utterance } = this.voice.getSnapshot()
    if (heard.type === 'all') {
      assert.equal(utterance, undefined)
      return
    }
    if (heard.type !== 'sentence') {
      assert.deepEqual([heard, this.speaker.played], [{ type: 'none' }, []])
      return
    }
    const { message, index, words } = heard
    const played = this.speaker.played.map(readWord).filter((word) => word.message === message)
    // A discarded sentence is not part of the answer.
    const valid = played.filter((word) => !this.takenBack.has(`${message}.${word.index}.${word.attempt}`))
    const newest = valid.at(-1)
    const whole = newest && this.told.get(`${message}.${newest.index}.${newest.attempt}`)?.words
    const said = newest ? newest.word + 1 : 0
    if (words !== undefined) assert.deepEqual([index, words], [newest?.index ?? index, said])
    // It reports the whole sentence, or only the previous one if this one was discarded.
    else if (newest?.index === index) assert.deepEqual(said, whole)
    else assert.ok(this.takenBack.size > 0)
  }

  async act(step: Step): Promise<void> {
    const { session, voice } = this
    switch (step.type) {
      case 'sentence': {
        const key = `${this.id}.${this.index}.${this.attempt}`
        const text = Array.from({ length: step.words }, (_, word) => `${key}.${word}`).join(' ')
        this.faults.set(text, step.fault)
        const order = this.told.size
        this.last = session.sentence(this.id, this.index, text)
        this.told.set(key, { words: step.words, end: this.last.end, order })
        this.index += 1
        return
      }
      case 'repeat':
        if (this.last?.message === this.id && this.last.index < this.index) session.tell('sentence', this.last)
        return
      case 'late': {
        // Older ones had ended anyway: servers report nothing more about them.
        const silent = [...this.over.keys()]
          .toSorted((one, other) => Number(one.slice(1)) - Number(other.slice(1)))
          .at(-1)
        if (silent !== undefined) session.sentence(silent, 99, `${silent}.99.0.0`)
        return
      }
      case 'pass':
        return await this.world.pass(step.ms)
      case 'drop': {
        const from = Math.max(0, this.index - step.back)
        for (const key of this.told.keys()) {
          const [message, index] = key.split('.')
          if (message === this.id && Number(index) >= from && !this.takenBack.has(key))
            this.takenBack.set(key, this.speaker.played.length)
        }
        session.drop(this.id, from)
        this.index = from
        this.attempt += 1
        return
      }
      case 'answer':
        session.finish(this.id)
        return this.begin()
      case 'end':
        return session.finish(this.id)
      case 'cancel':
        session.finish(this.id, 'cancelled')
        this.silence(this.id)
        return this.begin()
      case 'cut':
        this.silence(this.id)
        return session.event({ type: 'text-cut', message: this.id, step: 1, keepChars: 0 })
      case 'pause':
        return voice.pause()
      case 'resume':
        return voice.resume()
      case 'interrupt':
      case 'stop': {
        this.expectHeard()
        const before = voice.heard()
        const told = session.interrupts.length
        for (let answer = 1; answer <= this.answer; answer++) this.silence(`t${answer}`)
        if (step.type === 'stop') voice.stop()
        else {
          await voice.interrupt()
          assert.deepEqual(session.interrupts.slice(told), before.type === 'all' ? [] : [before])
        }
        return
      }
      case 'break':
        session.isBroken = !session.isBroken
    }
  }

  expectTruth(): void {
    const words = this.speaker.played
    // Each sentence at most once, in order, and its words from the first.
    assert.deepEqual(new Set(words).size, words.length)
    const read = words.map(readWord)
    let order = -1
    let next = 0
    for (const [place, { message, index, attempt, word }] of read.entries()) {
      const key = `${message}.${index}.${attempt}`
      const told = this.told.get(key)
      if (!told) throw new Error(`"${key}" was never to be said`)
      if (told.order !== order) {
        assert.ok(told.order > order)
        order = told.order
        next = 0
      }
      assert.deepEqual(word, next++)
      assert.ok(place < (this.over.get(message) ?? Infinity))
      assert.ok(place < (this.takenBack.get(key) ?? Infinity))
    }
    for (const { message, chars } of this.session.reports) {
      const ends = read.flatMap(({ message: of, index, attempt, word }) => {
        const told = this.told.get(`${of}.${index}.${attempt}`)
        return of === message && told?.words === word + 1 ? [told.end] : []
      })
      assert.ok(chars <= Math.max(0, ...ends))
    }
  }
}
