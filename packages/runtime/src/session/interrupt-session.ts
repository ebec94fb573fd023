// The end of a turn before its answer: by an interrupt, which counts what was heard in characters and can withdraw queued
// inputs, or by the signal of its caller.
import type {
  AbortSignalLike,
  Interrupted,
  InterruptOptions,
  Principal,
  Turn,
  Heard,
  Refused,
  SessionEvent,
} from '@baton/core/internal'
import { BatonError, readTurnOf, isBatonError, nameAnswer } from '@baton/core/internal'
import type { Input, InputOf } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import type { ReadEngine } from './details.ts'
import { openEvents } from './reader.ts'
import type { Sentence } from '../speech/speech.ts'
import { Speech } from '../speech/speech.ts'
import { blankUnspoken } from '../speech/speech-text.ts'
import { insist, NO_ANSWER, submit } from './submit.ts'

/** @throws BatonError the refusal; `invalid_event` for a `turn` that the session does not have */
export async function interruptSession(
  engine: SessionEngine,
  options: InterruptOptions,
  operator?: Principal,
): Promise<Interrupted> {
  const { reason = 'interrupt', heard = { type: 'reported' }, queue = 'keep', tasks, turn: message } = options
  const turn = message === undefined ? undefined : demandTurn(message)
  const counted = isInWords(heard) ? await countHeard(engine, heard) : heard
  // Read after counting, which may take a while. Inputs queued behind a newer turn are not affected.
  const { counters, queue: inputs } = engine.state()
  const isOver = turn !== undefined && turn < counters.turn
  // The end of a task was not sent by a person.
  const waiting = queue === 'withdraw' && !isOver ? inputs.filter(({ type }) => type !== 'task') : []
  const withdrawals = waiting.map(({ inputId }): Input => ({ type: 'withdraw', target: inputId }))
  const interrupt: Input = {
    type: 'interrupt',
    reason,
    heard: counted,
    ...(turn !== undefined && { turn }),
    ...(tasks === 'cancel' && { tasks }),
    ...(operator && { by: operator.id }),
  }
  const outcomes = await engine.submit([...withdrawals, interrupt])
  const { ended } = insist(outcomes.at(-1) ?? NO_ANSWER)
  return ended === undefined ? {} : { turn: `t${ended}` }
}

/** @throws BatonError `invalid_event` */
function demandTurn(message: string): number {
  const turn = readTurnOf(message)
  if (turn !== undefined) return turn
  throw new BatonError({
    code: 'invalid_event',
    message: `turn is not the id of an answer: "${message.slice(0, 100)}"`,
    hint: 'Send the `message` of its events, such as t1.',
  })
}

/** Withdraws or interrupts the turn once the signal aborts. `accepted` settles when its input was accepted. */
export function endWithSignal(
  turn: Turn,
  signal: AbortSignalLike,
  { engine, accepted }: { readonly engine: SessionEngine; readonly accepted: Promise<unknown> },
): Turn {
  // A closed session has no turn to end; the answer reports it.
  const abort = (): void => void accepted.then(() => takeBack(engine, turn.id)).catch(ignore)
  signal.addEventListener('abort', abort, { once: true })
  // One signal may outlive many turns.
  const leave = (): void => signal.removeEventListener('abort', abort)
  turn.answer.then(leave, leave)
  return turn
}

/** Withdraws an input, or ends the turn that has read it. */
export async function takeBack(engine: SessionEngine, inputId: string): Promise<void> {
  const withdrawn = await submit(engine, { type: 'withdraw', target: inputId })
  if (withdrawn.type === 'accepted') return
  const { turn, index } = engine.state()
  if (!turn) return
  // The model has read the input: end its turn, and no other. Usually the window shows which turn that was; of an input
  // that was summarised, the log does. The turn is named, since it may be over when the interrupt is decided.
  const isRunning =
    index.some(({ exchange, inputs }) => exchange === turn.exchange && inputs?.includes(inputId)) ||
    (await engine.stream.index.locate(inputId))?.section?.turn === turn.turn
  if (!isRunning) return
  const heard = { type: 'reported' } as const
  await submit(engine, { type: 'interrupt', reason: 'aborted', heard, turn: turn.turn })
}

function ignore(): void {}

/** Counts that need the answer's text. */
type HeardWords = Extract<Heard, { readonly type: 'words' | 'sentence' }>
type Chars = Extract<Heard, { readonly type: 'chars' }>

function isInWords(heard: Heard | undefined): heard is HeardWords {
  return heard?.type === 'words' || heard?.type === 'sentence'
}

/** An input whose `heard` is in words or sentences. */
export type PlacedInput = InputOf<'user-input' | 'urgent-event' | 'interrupt'> & { readonly heard: HeardWords }

export function isPlaced(input: Input): input is PlacedInput {
  return 'heard' in input && isInWords(input.heard)
}

/** The input with `heard` in characters, as the machine expects it, or a refusal. */
export async function countInput(engine: ReadEngine, input: PlacedInput): Promise<Input | Refused> {
  try {
    return { ...input, heard: await countHeard(engine, input.heard) }
  } catch (cause) {
    if (isBatonError(cause)) return { type: 'refused', code: cause.code, message: cause.message }
    throw cause
  }
}

/**
 * Converts `heard` to characters. The result names its answer, in case a newer one begins meanwhile.
 * @throws BatonError `invalid_event` for a sentence that the answer does not have
 */
async function countHeard(engine: ReadEngine, heard: HeardWords): Promise<Heard> {
  const turn = engine.history().lastTurn()?.turn
  const newest = turn === undefined ? undefined : nameAnswer(turn)
  const { message = newest } = heard
  if (message === undefined) return countWords(NOTHING, heard)
  // An older answer needs no count, and the machine refuses an unknown message.
  if (message !== newest) return { type: 'chars', chars: 0, message }
  return { ...countWords(await readAnswer(engine), heard), message }
}

interface Answer {
  /** Texts of its steps, joined by a blank line. */
  readonly text: string
  readonly sentences: readonly Sentence[]
  /** Whether an interrupt removed the unheard text. */
  readonly isCut: boolean
}

const NOTHING: Answer = { text: '', sentences: [], isCut: false }

/** Reads the newest answer up to its current end. */
async function readAnswer(engine: ReadEngine): Promise<Answer> {
  const speech = new Speech()
  const texts = new Map<number, string>()
  let sentences: Sentence[] = []
  let isCut = false
  const take = (event: SessionEvent): void => {
    // A cut sentence still counts as a sentence.
    isCut ||= event.type === 'text-cut' || (event.type === 'step-finished' && event.interrupted === true)
    if (event.type === 'step-finished' && event.interrupted)
      for (const { frame } of speech.takeRest()) if (frame.type === 'sentence') sentences.push(frame)
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
  return { text: [...texts.values()].filter((text) => text !== '').join('\n\n'), sentences, isCut }
}

function takeText(texts: Map<number, string>, event: SessionEvent): void {
  if (event.type === 'message-added' && event.message.role === 'assistant') texts.clear()
  else if (event.type === 'text') {
    const { step, offset, text } = event
    texts.set(step, (texts.get(step) ?? '').slice(0, offset) + text)
  } else if (event.type === 'step-reset') texts.delete(event.step)
  else if (event.type === 'text-cut') texts.set(event.step, (texts.get(event.step) ?? '').slice(0, event.keepChars))
}

function countWords({ text, sentences, isCut }: Answer, heard: HeardWords): Chars {
  // Created once: that costs more than splitting a sentence.
  const segmenter = new Intl.Segmenter('en', { granularity: 'word' })
  const listWordEnds = (spoken: string): readonly number[] =>
    [...segmenter.segment(spoken)].flatMap(({ isWordLike, index, segment }) =>
      isWordLike ? [index + segment.length] : [],
    )
  if (heard.type === 'sentence') {
    const sentence = sentences[heard.index]
    // It was spoken, but an interrupt has removed it.
    if (!sentence && isCut) return { type: 'chars', chars: text.length }
    if (!sentence)
      throw new BatonError({
        code: 'invalid_event',
        message: `the answer has no sentence ${heard.index}; it has ${sentences.length} so far, counted from 0`,
        hint: 'Send the `index` of a sentence of this answer.',
      })
    const end =
      heard.words === undefined ? sentence.end : findEnd(text, sentence, listWordEnds(sentence.text), heard.words)
    return { type: 'chars', chars: end }
  }
  let left = heard.words
  for (const sentence of sentences) {
    const ends = listWordEnds(sentence.text)
    if (left <= ends.length) return { type: 'chars', chars: findEnd(text, sentence, ends, left) }
    left -= ends.length
  }
  return { type: 'chars', chars: sentences.at(-1)?.end ?? 0 }
}

/**
 * Offset in the answer's text after `count` of the sentence's words. The text has marks, addresses and tags that are not spoken, but
 * the same letters and digits.
 * @param wordEnds end of each word in the spoken text
 */
function findEnd(
  text: string,
  { start, end, text: spoken }: Sentence,
  wordEnds: readonly number[],
  count: number,
): number {
  if (count > 0 && count >= wordEnds.length) return end
  const covered = blankUnspoken(text.slice(start, end))
  let at = 0
  for (const [char] of spoken.slice(0, wordEnds[count - 1] ?? 0).matchAll(/[\p{L}\p{N}\p{M}]/gu)) {
    const found = covered.indexOf(char, at)
    if (found >= 0) at = found + char.length
  }
  return start + at
}
