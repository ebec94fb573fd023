// Makes sentences from a session's events. Its whole state is in the cursors it returns, so any server can continue
// exactly there: while the model writes, the text of an unfinished sentence exists nowhere else.
import type { MessageId, SessionEvent, SessionEventOf, SpeechPlace, SpokenAnswer } from '@baton/core/internal'
import { takeUnit } from './sentences.ts'

interface OfAnswer {
  readonly message: MessageId
  readonly step: number
  /** Index of the sentence in the answer, from 0. */
  readonly index: number
}

/** The next words for a voice. `start` and `end` delimit the part of the answer's text it covers. */
export interface Sentence extends OfAnswer {
  readonly type: 'sentence'
  readonly text: string
  readonly start: number
  readonly end: number
}

/** A frame to write before the event, and the place after the frame. */
export interface Said {
  readonly frame: Sentence | (OfAnswer & { readonly type: 'sentences.dropped' })
  readonly place: SpeechPlace
}

export class Speech {
  #silentTo: number | undefined
  #answer: SpokenAnswer | undefined
  /** The newest ended step, at its beginning: its text may still become void. */
  #ended: SpokenAnswer | undefined

  constructor({ silentTo, answer }: SpeechPlace = {}) {
    this.#silentTo = silentTo
    this.#answer = answer
  }

  /** The place after the last event. */
  get place(): SpeechPlace {
    return this.#placeAt(this.#answer)
  }

  /**
   * The frames to write before the event. Their places are after the spoken text but before the event, which is
   * repeated.
   */
  take(event: SessionEvent): readonly Said[] {
    if (this.#silentTo !== undefined && event.cursor.pos > this.#silentTo) this.#silentTo = undefined
    const said = this.#takeEvent(event)
    return this.#silentTo === undefined ? said : []
  }

  /** The rest to say if the text ends here. */
  takeRest(): readonly Said[] {
    return this.#answer ? this.#say(this.#answer, true) : []
  }

  #takeEvent(event: SessionEvent): readonly Said[] {
    switch (event.type) {
      case 'message-added':
        if (event.message.role === 'assistant') this.#answer = beginAnswer(event.message.id)
        return []
      case 'text':
        return this.#takeText(event)
      case 'turn-finished':
        this.#answer = undefined
        return []
      case 'call':
        return this.#takeOfStep(event, this.#find(event.call))
      case 'reasoning':
      case 'call-writing':
      case 'server-tool':
      case 'text-cut':
      case 'step-reset':
      case 'step-finished':
        return this.#takeOfStep(event, this.#find(event))
      default:
        return []
    }
  }

  /** The spoken answer, if it is at this step of this message. */
  #find({ message, step }: Pick<SpokenAnswer, 'message' | 'step'>): SpokenAnswer | undefined {
    const answer = this.#answer
    return answer?.message === message && answer.step === step ? answer : undefined
  }

  #takeOfStep(event: SessionEvent, answer: SpokenAnswer | undefined): readonly Said[] {
    if (!answer) return []
    switch (event.type) {
      case 'text-cut':
        this.#answer = cutText(answer, event.keepChars)
        return []
      case 'step-reset':
        return this.#reset(answer)
      case 'step-finished':
        return this.#finishStep(answer, event)
      case 'reasoning':
        // The model may think for long after a whole sentence. In the log, reasoning comes before text that it actually
        // follows.
        return this.#say(answer, LOOKS_WHOLE.test(answer.rest))
      default:
        return this.#say(answer, true) // the block of text has ended
    }
  }

  #takeText({ message, step, offset, text }: SessionEventOf<'text' | 'reasoning'>): readonly Said[] {
    const answer = this.#answer?.message === message ? this.#answer : beginAnswer(message)
    const before = answer.step === step ? answer : beginStep(answer, step)
    const known = before.at + before.rest.length
    if (offset > known) {
      // The reader began in the middle of the text: continue from there.
      const { fence: _, ...others } = before
      this.#answer = { ...others, from: offset, at: offset, rest: text, inLine: true }
    } else this.#answer = { ...before, rest: before.rest + text.slice(known - offset) }
    return this.#say(before, false)
  }

  /** @param before the text known before the event */
  #say(before: Pick<SpokenAnswer, 'at' | 'rest'>, isEnd: boolean): readonly Said[] {
    const said: Said[] = []
    for (;;) {
      const answer = this.#answer
      const unit = answer && takeUnit(answer.rest, answer, isEnd)
      if (!unit) return said
      const { message, step, base, index, first, from } = answer
      const at = answer.at + unit.chars
      const isSpoken = unit.text !== ''
      const place = {
        message,
        step,
        base,
        first,
        at,
        ...unit.line,
        index: isSpoken ? index + 1 : index,
        from: isSpoken ? at : from,
      }
      this.#answer = { ...place, rest: answer.rest.slice(unit.chars) }
      if (!isSpoken) continue
      const frame = {
        type: 'sentence',
        message,
        step,
        index,
        text: unit.text,
        start: base + from,
        end: base + at,
      } as const
      // The event is repeated after this place, so the place holds only the text from before the event.
      const rest = before.rest.slice(Math.max(0, at - before.at))
      said.push({ frame, place: this.#placeAt({ ...place, rest }) })
    }
  }

  #reset(answer: SpokenAnswer): readonly Said[] {
    const { message, step, index } = answer
    const { base, first } = this.#ended?.step === step ? this.#ended : answer
    this.#ended = undefined
    this.#answer = { message, step, base, index: first, first, from: 0, at: 0, rest: '' }
    if (index === first) return []
    return [{ frame: { type: 'sentences.dropped', message, step, index: first }, place: this.place }]
  }

  #finishStep(answer: SpokenAnswer, { interrupted }: SessionEventOf<'step-finished'>): readonly Said[] {
    const chars = answer.at + answer.rest.length
    // A user who interrupts does not want to hear the rest.
    const said = interrupted ? [] : this.#say(answer, true)
    const { index, base } = this.#answer ?? answer
    const ended = { ...answer, index, base: base + (chars > 0 ? chars + SEPARATOR_CHARS : 0) }
    this.#answer = beginStep(ended, answer.step)
    this.#ended = answer
    return said
  }

  #placeAt(answer: SpokenAnswer | undefined): SpeechPlace {
    const silentTo = this.#silentTo
    return { ...(silentTo !== undefined && { silentTo }), ...(answer && { answer }) }
  }
}

const LOOKS_WHOLE = /[.!?…:。！？][)\]}"'”’»*_`」』]{0,9}\s{0,9}$|\n\s{0,9}$/

/** UTF-16 units of the blank line between the texts of two steps. */
const SEPARATOR_CHARS = 2

function beginAnswer(message: string): SpokenAnswer {
  return { message, step: 0, base: 0, index: 0, first: 0, from: 0, at: 0, rest: '' }
}

function beginStep({ message, base, index }: SpokenAnswer, step: number): SpokenAnswer {
  return { message, step, base, index, first: index, from: 0, at: 0, rest: '' }
}

function cutText(answer: SpokenAnswer, keepChars: number): SpokenAnswer {
  const { from, at, rest } = answer
  if (at + rest.length <= keepChars) return answer
  return {
    ...answer,
    from: Math.min(from, keepChars),
    at: Math.min(at, keepChars),
    rest: rest.slice(0, Math.max(0, keepChars - at)),
  }
}
