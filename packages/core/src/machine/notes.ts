// Notes for a model about calls that have settled, and the beginnings of outcomes that notes and events quote.
import type { StoredPart } from '../messages.ts'
import type { Draft } from './draft.ts'
import { emit } from './draft.ts'
import type { Fact } from './fact.ts'
import type { Outcome } from './input.ts'
import { wholeChars } from './size.ts'
import type { Call, State } from './state.ts'

export type NotedCall = Pick<Call, 'callId' | 'name' | 'provenance'>

/**
 * Adds a note about a call. `words` are the tool's own and are quoted, because the note appears next to the user's
 * words.
 */
export function noteOutcome(draft: Draft, call: NotedCall, said: string, words?: string): void {
  emit(draft, makeNote(draft.state, call, said, words))
}

export function makeNote({ counters }: State, call: NotedCall, said: string, words?: string): Fact {
  const { callId, name, provenance } = call
  const text = `The tool "${name}" (${callId}) ${said}${words === undefined ? '' : `: ${JSON.stringify(words)}`}`
  const untrusted = words !== undefined && provenance?.trust === 'untrusted' && { untrusted: name }
  return { type: 'note-queued', note: counters.note + 1, text, ...untrusted }
}

export function preview(outcome: Outcome, chars: number): string {
  const text = outcome.type === 'error' ? `Error: ${outcome.message}` : outcome.content.map(shown).join(' ')
  return text.length <= chars ? text : `${text.slice(0, wholeChars(text, chars))}…`
}

export function shown(part: StoredPart): string {
  return part.type === 'text' ? part.text : `[${part.type}]`
}
