// The calls of an answer while they arrive. Servers number them, or not; give ids once, in every piece, or never; send
// arguments in pieces, whole, or as an object. Which call a piece belongs to is decided here.
import type { JsonObject, JsonValue } from '@baton/core'
import { isJsonObject } from '@baton/core'

export interface CallDraft {
  /** Number in the answer, from 0. */
  readonly number: number
  id: string
  /** On the wire; empty until it is known. */
  name: string
  /** JSON text so far. */
  arguments: string
  /** Where `arguments` stands: what has been read never changes. */
  readonly json: JsonProgress
  /** Fields beside the call that go back with it. */
  extra: JsonObject | undefined
}

/** A piece of a call as a server sent it, with what is not known left empty. */
export interface CallPiece {
  readonly index: number | undefined
  readonly id: string
  readonly name: string
  readonly arguments: string
  readonly extra: JsonObject | undefined
}

/** Undefined for what is no call at all. */
export function readCallPiece(value: JsonValue): CallPiece | undefined {
  if (!isJsonObject(value)) return undefined
  const made = isJsonObject(value['function']) ? value['function'] : {}
  const { index } = value
  const given = made['arguments']
  const extra = readExtra(value)
  return {
    index: typeof index === 'number' ? index : undefined,
    id: typeof value['id'] === 'string' ? value['id'] : '',
    name: typeof made['name'] === 'string' ? made['name'] : '',
    arguments: typeof given === 'string' ? given : isJsonObject(given) ? JSON.stringify(given) : '',
    extra: Object.keys(extra).length > 0 ? extra : undefined,
  }
}

/** Fields with a signature of Gemini's: of its own endpoint, and of LiteLLM's proxy before it. */
const EXTRA_FIELDS = ['extra_content', 'provider_specific_fields'] as const

/** Those of a call, or of the state that was kept of it. */
export function readExtra(holder: JsonObject): Partial<Record<(typeof EXTRA_FIELDS)[number], JsonObject>> {
  return Object.fromEntries(
    EXTRA_FIELDS.flatMap((field) => (isJsonObject(holder[field]) ? [[field, holder[field]]] : [])),
  )
}

export class CallDrafts {
  readonly all: CallDraft[] = []
  readonly #byIndex = new Map<number, CallDraft>()
  readonly #byId = new Map<string, CallDraft>()

  /** The call that a piece belongs to: one that is there, or a new one. Adds nothing of the piece to it. */
  find(piece: CallPiece): CallDraft {
    const before = this.#before(piece)
    if (before && !startsAnother(before, piece)) return before
    const call: CallDraft = {
      number: this.all.length,
      id: piece.id,
      name: '',
      arguments: '',
      json: new JsonProgress(),
      extra: undefined,
    }
    this.all.push(call)
    if (piece.index !== undefined) this.#byIndex.set(piece.index, call)
    if (piece.id !== '') this.#byId.set(piece.id, call)
    return call
  }

  #before({ index, id }: CallPiece): CallDraft | undefined {
    if (index !== undefined) return this.#byIndex.get(index)
    return (id === '' ? undefined : this.#byId.get(id)) ?? this.all.at(-1)
  }
}

/**
 * Whether a piece that could go on with a call begins the next one. Another id with a name does (lmdeploy and older vLLM
 * number every call 0: InternLM/lmdeploy#3412). Without an id, a name does once the call before is whole: a name alone is
 * repeated in every piece by some.
 */
function startsAnother(call: CallDraft, piece: CallPiece): boolean {
  if (piece.name === '') return false
  if (piece.id !== '' && call.id !== '') return piece.id !== call.id
  if (call.name === '') return false
  const isWhole = call.json.isClosed
  return isWhole ? piece.arguments !== '' || piece.name !== call.name : piece.name !== call.name
}

/** Whether JSON text that arrives in pieces has closed its outermost bracket; each character is looked at once. */
export class JsonProgress {
  #depth = 0
  #inString = false
  #isEscaped = false
  #hasOpened = false

  push(text: string): void {
    for (const char of text) {
      if (this.#isEscaped) this.#isEscaped = false
      else if (this.#inString) {
        if (char === '\\') this.#isEscaped = true
        else if (char === '"') this.#inString = false
      } else if (char === '"') this.#inString = true
      else if (char === '{' || char === '[') {
        this.#depth++
        this.#hasOpened = true
      } else if (char === '}' || char === ']') this.#depth--
    }
  }

  get isClosed(): boolean {
    return this.#hasOpened && this.#depth <= 0 && !this.#inString
  }
}
