// Turns what an app says was heard into characters of the newest answer: the session's state holds no texts.
import type { Heard, SessionEvent } from '@baton/core'
import { BatonError, nameAnswer } from '@baton/core'
import type { ReadEngine } from '../session/reading.ts'
import { openEvents } from '../session/reading.ts'
import type { Sentence } from './speech.ts'
import { Speech } from './speech.ts'

/** What must be counted in the answer's text. */
export type HeardWords = Extract<Heard, { readonly type: 'words' | 'sentence' }>

export function isInWords(heard: Heard | undefined): heard is HeardWords {
  return heard?.type === 'words' || heard?.type === 'sentence'
}

/**
 * Names the answer that it has counted in, in case a newer one begins meanwhile.
 * @throws BatonError `invalid_event` for a sentence that the answer does not have
 */
export async function countHeard(engine: ReadEngine, heard: HeardWords): Promise<Heard> {
  const newest = nameAnswer(engine.history().lastTurn()?.turn ?? 0)
  const { message = newest } = heard
  // Of an older one nothing need be counted, and of one that is not there nothing can be.
  if (message !== newest) return { type: 'chars', chars: 0, message }
  const { chars } = countWords(await readAnswer(engine), heard)
  return newest === 't0' ? { type: 'none' } : { type: 'chars', chars, message }
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
    while (!reader.isCaughtUp) for (const event of (await reader.nextBatch())?.events ?? []) take(event)
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

function countWords({ text, sentences }: Answer, heard: HeardWords): { readonly chars: number } {
  if (heard.type === 'sentence') {
    const sentence = sentences[heard.index]
    if (!sentence)
      throw new BatonError({
        code: 'invalid_event',
        message: `the answer has no sentence ${heard.index}; it has ${sentences.length} so far, counted from 0`,
        hint: 'Send the `index` of a sentence of this answer.',
      })
    const words = heard.words === undefined ? undefined : splitWords(sentence.text).slice(0, heard.words)
    return { chars: words ? findEnd(text, sentence, words) : sentence.end }
  }
  let left = heard.words
  for (const sentence of sentences) {
    const words = splitWords(sentence.text)
    if (left <= words.length) return { chars: findEnd(text, sentence, words.slice(0, left)) }
    left -= words.length
  }
  return { chars: sentences.at(-1)?.end ?? 0 }
}

function splitWords(text: string): readonly string[] {
  const segments = [...new Intl.Segmenter('en', { granularity: 'word' }).segment(text)]
  return segments.flatMap(({ isWordLike, segment }) => (isWordLike ? [segment] : []))
}

/** Where the last of these words of the sentence ends in the answer's text, which has marks that are not spoken. */
function findEnd(text: string, { start, end, text: spoken }: Sentence, words: readonly string[]): number {
  const covered = text.slice(start, end)
  let at = 0
  for (const word of words) {
    const found = covered.indexOf(word, at)
    if (found >= 0) at = found + word.length
  }
  return words.length > 0 && words.length === splitWords(spoken).length ? end : start + at
}
