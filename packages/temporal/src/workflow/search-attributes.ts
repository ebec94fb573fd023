// A session in lists of workflows: search attributes, if the service knows them, and the title as a memo. Each write is
// an event and an action, so only changes are written.
import { defineSearchAttributeKey } from '@temporalio/common'
import { upsertMemo, upsertSearchAttributes } from '@temporalio/workflow'
import type { State } from '@baton/core/machine'
import type { SearchField } from '../contract.ts'
import { SEARCH_ATTRIBUTES } from '../contract.ts'

/** Maximum characters of a value; a service over SQL accepts 255. */
const CHARS_MAX = 200

export class SearchAttributes {
  /** `undefined` for a session started by an earlier version, which shows nothing. */
  fields: readonly SearchField[] | undefined
  #written: Readonly<Partial<Record<SearchField, string>>> = {}
  #title: string | null = null

  constructor(fields: readonly SearchField[] | undefined) {
    this.fields = fields
  }

  show(state: State): void {
    if (!this.fields) return
    const changed = this.fields.flatMap((field) => {
      const value = readField(state, field)
      return value === (this.#written[field] ?? '') ? [] : [{ field, value }]
    })
    if (changed.length > 0)
      upsertSearchAttributes(
        changed.map(({ field, value }) => ({
          key: defineSearchAttributeKey(SEARCH_ATTRIBUTES[field], 'KEYWORD'),
          value: value === '' ? null : value,
        })),
      )
    for (const { field, value } of changed) this.#written = { ...this.#written, [field]: value }
    if (state.title !== this.#title) upsertMemo({ title: state.title })
    this.#title = state.title
  }
}

function readField(state: State, field: SearchField): string {
  const { phase, turn } = state
  if (field !== 'activity') return (state[field] ?? '').slice(0, CHARS_MAX)
  if (phase === 'paused' || phase === 'stopped') return phase
  return turn === null ? 'idle' : 'running'
}
