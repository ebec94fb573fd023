// Turns what an app says was heard into characters of the newest answer: the session's state holds no texts.
import type { Heard, Played, Refused, SessionEvent } from '@baton/core'
import { BatonError, isBatonError } from '@baton/core'
import type { Input, InputOf } from '@baton/core/machine'
import type { ReadEngine } from '../session/reading.ts'
import { openEvents } from '../session/reading.ts'
import type { Sentence } from './speech.ts'
import { Speech } from './speech.ts'

/** Whether the session must look up what is meant. */
export function isPlace(heard: Heard | undefined): boolean {
  return heard !== undefined && ('message' in heard || heard.type === 'words' || heard.type === 'sentence')
}

/** An input with a place that must be looked up. */
export type PlacedInput = InputOf<'user-input' | 'urgent-event' | 'interrupt'> & { readonly heard: Heard }

export function isPlaced(input: Input): input is PlacedInput {
  return 'heard' in input && isPlace(input.heard)
}

/** The same with what was heard as the machine takes it, or why it is refused. */
export async function countInput(engine: ReadEngine, input: PlacedInput): Promise<Input | Refused> {
  try {
    return { ...input, heard: await countHeard(engine, input.heard) }
  } catch (cause) {
    if (isBatonError(cause)) return { type: 'refused', code: cause.code, message: cause.message }
    throw cause
  }
}

/** @throws BatonError `invalid_event` for a message that is no answer of the session, or a sentence that it does not have */
export async function countHeard(engine: ReadEngine, heard: Heard): Promise<Heard> {
  if (!isPlace(heard) || !('message' in heard || heard.type === 'words' || heard.type === 'sentence')) return heard
  const newest = engine.history().lastTurn()?.turn ?? 0
  if (heard.message !== undefined && readTurn(heard.message, newest) < newest) return { type: 'none' }
  if (heard.type === 'chars') return { type: 'chars', chars: heard.chars }
  const answer = await readAnswer(engine)
  // Of an answer that has begun meanwhile nothing was heard yet.
  return (engine.history().lastTurn()?.turn ?? 0) === newest ? countWords(answer, heard) : { type: 'none' }
}

/** A voice speaks answers in order: while it speaks an older one, the user has heard nothing of the newest. */
function readTurn(message: string, newest: number): number {
  const turn = Number(/^t([1-9]\d{0,15})$/.exec(message)?.[1])
  if (turn <= newest) return turn
  throw new BatonError({
    code: 'invalid_event',
    message: `message names no answer of this session: "${message.slice(0, 100)}"`,
    hint: 'Send the `message` of the sentence that was heard last.',
  })
}

interface Answer {
  /** The texts of its steps, joined by a blank line. */
  readonly text: string
  readonly sentences: readonly Sentence[]
}

/** As far as it is written. */
async function readAnswer(engine: ReadEngine): Promise<Answer> {
  const speech = new Speech()
  const texts = new Map<number, string>()
  let sentences: Sentence[] = []
  const take = (event: SessionEvent): void => {
    for (const { frame } of speech.take(event))
      if (frame.type === 'sentence') sentences.push(frame)
      else sentences = sentences.slice(0, frame.index)
    takeText(texts, event)
  }
  const reader = openEvents(engine, { from: 'turn', tellsLive: true })
  try {
    for (let batch = await reader.nextBatch(false); batch; batch = await reader.nextBatch(false))
      batch.events.forEach(take)
  } finally {
    reader.leave()
  }
  for (const { frame } of speech.takeRest()) if (frame.type === 'sentence') sentences.push(frame)
  return { text: [...texts.values()].filter((text) => text !== '').join('\n\n'), sentences }
}

function takeText(texts: Map<number, string>, event: SessionEvent): void {
  if (event.type === 'message-added' && event.message.role === 'assistant') texts.clear()
  else if (event.type === 'text') {
    const { step, offset, text } = event
    texts.set(step, (texts.get(step) ?? '').slice(0, offset) + text)
  } else if (event.type === 'step-reset') texts.delete(event.step)
  else if (event.type === 'text-cut') texts.set(event.step, (texts.get(event.step) ?? '').slice(0, event.keepChars))
}

type Counted = Extract<Heard, { readonly type: 'words' | 'sentence' }>

function countWords({ text, sentences }: Answer, heard: Counted): Played {
  // Made once: that costs more than to split a sentence.
  const segmenter = new Intl.Segmenter('en', { granularity: 'word' })
  const splitWords = (spoken: string): readonly string[] =>
    [...segmenter.segment(spoken)].flatMap(({ isWordLike, segment }) => (isWordLike ? [segment] : []))
  if (heard.type === 'sentence') {
    const sentence = sentences[heard.index]
    if (!sentence)
      throw new BatonError({
        code: 'invalid_event',
        message: `the answer has no sentence ${heard.index}; it has ${sentences.length} so far, counted from 0`,
        hint: 'Send the `index` of a sentence of this answer.',
      })
    const end =
      heard.words === undefined ? sentence.end : findEnd(text, sentence, splitWords(sentence.text), heard.words)
    return { type: 'chars', chars: end }
  }
  let left = heard.words
  for (const sentence of sentences) {
    const words = splitWords(sentence.text)
    if (left <= words.length) return { type: 'chars', chars: findEnd(text, sentence, words, left) }
    left -= words.length
  }
  return { type: 'chars', chars: sentences.at(-1)?.end ?? 0 }
}

/** Where so many of the sentence's words end in the answer's text, which has marks that are not spoken. */
function findEnd(text: string, { start, end }: Sentence, words: readonly string[], count: number): number {
  if (count > 0 && count >= words.length) return end
  const covered = text.slice(start, end)
  let at = 0
  for (const word of words.slice(0, count)) {
    const found = covered.indexOf(word, at)
    if (found >= 0) at = found + word.length
  }
  return start + at
}
