// What a provider refused for its own sake is left out from then on: here it is decided what that is. Else every later turn
// would send it again, and fail as this one did.
import type { ErrorCode } from '../errors.ts'
import type { Draft } from './draft.ts'
import { emit } from './draft.ts'
import type { Failure } from './input.ts'
import { wholeChars } from './cut-parts.ts'
import { describeLeftOut } from './left-out.ts'
import { RULES } from './spec.ts'
import type { IndexEntry, Turn } from './state.ts'

/** Called when a turn fails for good. */
export function leaveOutRefused(draft: Draft, turn: Turn, { code, message }: Failure): void {
  if (code !== 'model_invalid_request' && code !== 'model_content_refused') return
  const entries = findRefused(draft.state.index, turn, code)
  if (entries.length === 0) return
  const reason = shortenReason(message)
  const steps = entries.flatMap(({ step }) => step ?? [])
  emit(draft, {
    type: 'inputs-left-out',
    inputs: entries.flatMap(({ inputs = [], media: held }) => held?.inputs ?? inputs),
    ...(steps.length > 0 && { steps }),
    reason,
    sizes: entries.map((entry) => ({ entry: entry.entry, chars: measureWithout(entry, reason) })),
  })
}

/** This turn's images and files. If it has none and content is surely meant: those of older turns, or else what was said. */
function findRefused(index: readonly IndexEntry[], turn: Turn, code: ErrorCode): readonly IndexEntry[] {
  const media = index.filter((entry) => entry.media)
  const own = media.filter(({ exchange }) => exchange === turn.exchange)
  if (own.length > 0 || code !== 'model_content_refused') return own
  return media.length > 0 ? media : listUnanswered(index, turn)
}

/** Where only words can be meant: those of this turn, and of the turns before it that ended without an answer. */
function listUnanswered(index: readonly IndexEntry[], turn: Turn): readonly IndexEntry[] {
  const answered = index.findLast(({ role, exchange }) => role !== 'user' && exchange !== turn.exchange)?.exchange ?? -1
  return index.filter(({ role, exchange, inputs = [] }) => role === 'user' && exchange > answered && inputs.length > 0)
}

function shortenReason(message: string): string {
  const line = message.replace(/\s+/g, ' ').trim()
  return line.slice(0, wholeChars(line, RULES.reasonChars))
}

function measureWithout({ chars, media, inputs = [], notes = [] }: IndexEntry, reason: string): number {
  const noteChars = describeLeftOut('image', reason).length
  if (media) return chars - media.chars + media.parts * noteChars
  // What the notes beside the inputs take is not known any more.
  return notes.length > 0 ? chars : inputs.length * noteChars
}
