// Checks whether a history, which frees messages that leave the window, has those that a rewind brought back. If not,
// the log is folded again.
import type { StoredMessage } from '@baton/core/internal'
import type { History, IndexEntry } from '@baton/core/machine'

/** Returns false, too, for a message that is asked again after its text was freed: its new entry is empty. */
export function hasWholeHistory(history: Pick<History, 'has' | 'entries'>, index: readonly IndexEntry[]): boolean {
  return (
    history.has(index) && history.entries().every(({ role, messages }) => role !== 'user' || messages.some(hasContent))
  )
}

/** Every input has some; a note replaces content that a provider refused. */
function hasContent({ parts }: StoredMessage): boolean {
  return parts.some((part) => part.type !== 'text' || part.text !== '')
}
