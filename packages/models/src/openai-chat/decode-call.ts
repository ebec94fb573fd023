// The calls of an answer while they arrive. Servers number them, or not; give ids once, in every piece, or never; send
// arguments in pieces, whole, or as an object. Which call a piece belongs to is decided here.
import type { JsonObject, JsonValue } from '@baton/core'
import { isJsonObject } from '@baton/core'
import type { MeantArguments } from '../meant-arguments.ts'
import { isEmptyObject, JsonProgress, readMeantArguments } from '../meant-arguments.ts'

export interface CallDraft {
  /** Number in the answer, from 0. */
  readonly number: number
  /** As the server numbered its first piece. */
  readonly index: number | undefined
  id: string
  /** On the wire; empty until it is known. */
  name: string
  /** JSON text so far: all pieces in their order. */
  arguments: string
  /** The newest piece, as long as each began with the one before it; undefined once one did not. */
  cumulative: string | undefined
  /** Whether the server said anything of the arguments, be it an empty text. */
  isGiven: boolean
  /** Progress of `arguments`: text that has been read never changes. */
  readonly json: JsonProgress
  /** Fields beside the call that go back with it. */
  extra: JsonObject | undefined
}

/** A piece of a call as a server sent it, with what is not known left empty. */
export interface CallPiece {
  readonly index: number | undefined
  readonly id: string
  readonly name: string
  /** Undefined where the piece says nothing of them. */
  readonly arguments: string | undefined
  readonly extra: JsonObject | undefined
  /** Whether it stands beside other calls in one list. */
  readonly isListed: boolean
}

/** Undefined for what is no call at all. */
export function readCallPiece(value: JsonValue, isListed = false): CallPiece | undefined {
  if (!isJsonObject(value)) return undefined
  // Some leave the function out, and write its fields beside the id.
  const made = isJsonObject(value['function']) ? value['function'] : value
  const given = made['arguments']
  const extra = readExtra(value)
  return {
    index: readIndex(value['index']),
    // Some count them.
    id: typeof value['id'] === 'string' || typeof value['id'] === 'number' ? String(value['id']) : '',
    name: typeof made['name'] === 'string' ? made['name'] : '',
    arguments: typeof given === 'string' ? given : isJsonObject(given) ? JSON.stringify(given) : undefined,
    extra: Object.keys(extra).length > 0 ? extra : undefined,
    isListed,
  }
}

/** Some write it as a text. */
function readIndex(index: JsonValue | undefined): number | undefined {
  if (typeof index === 'string' && /^\d{1,9}$/.test(index)) return Number(index)
  return typeof index === 'number' ? index : undefined
}

/** Fields with a signature of Gemini's: of its own endpoint, and of LiteLLM's proxy before it. */
const EXTRA_FIELDS = ['extra_content', 'provider_specific_fields'] as const

/** Those of a call, or of the state that was kept of it. */
export function readExtra(holder: JsonObject): Partial<Record<(typeof EXTRA_FIELDS)[number], JsonObject>> {
  return Object.fromEntries(
    EXTRA_FIELDS.flatMap((field) => (isJsonObject(holder[field]) ? [[field, holder[field]]] : [])),
  )
}

/**
 * Calls in the order in which they began. A piece belongs to the call whose id it carries, else to the one with its index,
 * else to the only call that is still open: gateways number the tool and not the call, or the pieces themselves.
 */
export class CallDrafts {
  readonly all: CallDraft[] = []
  readonly #byIndex = new Map<number, CallDraft>()
  readonly #byId = new Map<string, CallDraft>()

  /** The call that a piece belongs to: one that is there, or a new one. Adds nothing of the piece to it. */
  find(piece: CallPiece): CallDraft {
    const call = this.#findKnown(piece) ?? this.#add(piece.index)
    if (piece.index !== undefined && !(piece.id !== '' && this.#byIndex.has(piece.index) && this.#byId.has(piece.id)))
      this.#byIndex.set(piece.index, call)
    if (piece.id !== '' && call.id === '') this.#byId.set(piece.id, call)
    return call
  }

  #findKnown(piece: CallPiece): CallDraft | undefined {
    const { index, id } = piece
    const known = id === '' ? undefined : this.#byId.get(id)
    if (known) return hasSameId(known, piece) && this.#isElsewhere(known, piece) ? undefined : known
    const before = index === undefined ? this.all.at(-1) : this.#byIndex.get(index)
    if (before) return startsAnother(before, piece) ? undefined : before
    return id === '' ? this.#findOpen(piece) : undefined
  }

  /**
   * The call that a piece under another index goes on with: the only one that waits for arguments. With a name it is that call
   * only where the name is the same, and where the call has an id, or where the piece can begin no arguments.
   */
  #findOpen({ name, arguments: given = '' }: CallPiece): CallDraft | undefined {
    const open = this.all.filter(({ json, arguments: text }) => !json.isClosed || isEmptyObject(text))
    if (name === '') return open.length === 1 ? open[0] : undefined
    const [only, ...others] = open.filter((call) => call.name === name)
    if (only && others.length === 0 && only.id !== '') return only
    const last = others.at(-1) ?? only
    return last && isRest(last, given) ? last : undefined
  }

  #isElsewhere(call: CallDraft, { index, name, isListed }: CallPiece): boolean {
    return index === undefined ? isListed || name !== call.name : this.#byIndex.get(index) !== call
  }

  #add(index: number | undefined): CallDraft {
    const call: CallDraft = {
      number: this.all.length,
      index,
      id: '',
      name: '',
      arguments: '',
      cumulative: '',
      isGiven: false,
      json: new JsonProgress(),
      extra: undefined,
    }
    this.all.push(call)
    return call
  }
}

/**
 * Whether a piece that could go on with a call begins the next one. Another id with a name does (lmdeploy and older vLLM
 * number every call 0: InternLM/lmdeploy#3412). Without an id, a name does once the call before is whole: a name alone is
 * repeated in every piece by some. A name before any argument may be the rest of a name.
 */
function startsAnother(call: CallDraft, { index, id, name, arguments: given = '', isListed }: CallPiece): boolean {
  if (name === '') return false
  // Some make up an id for each piece.
  if (id !== '' && call.id !== '') return id !== call.id && !(name === call.name && isRest(call, given))
  if (call.name === '') return false
  if (!call.json.isClosed) return name !== call.name && (call.arguments !== '' || index === undefined)
  if (name !== call.name) return true
  if (index === undefined) return given !== '' && (isListed || !isEmptyObject(call.arguments))
  // Under its own number the same call may come once more, or whole behind an empty beginning.
  return given !== '' && given !== call.arguments && !isEmptyObject(call.arguments)
}

/** Whether arguments that have begun go on with a text that can begin none. */
function isRest({ json, arguments: text }: CallDraft, given: string): boolean {
  return !json.isClosed && text !== '' && !/^\s*(?:\{|$)/.test(given)
}

/** Whether a piece begins another call although it has the id of this one: a server gave all of them the same. */
function hasSameId(call: CallDraft, { name, arguments: given = '' }: CallPiece): boolean {
  if (name === '' || !call.json.isClosed) return false
  return name !== call.name || (given !== '' && given !== call.arguments && !isEmptyObject(call.arguments))
}

export function addArguments(call: CallDraft, text: string): void {
  call.isGiven = true
  if (text === '') return
  if (call.cumulative !== undefined) call.cumulative = text.startsWith(call.cumulative) ? text : undefined
  call.arguments += text
  call.json.push(text)
}

/** A name comes whole, in two pieces, or in each piece all of it so far. Gives whether it is another one now. */
export function addName(call: CallDraft, name: string): boolean {
  if (name === '' || name === call.name || (call.name !== '' && call.arguments !== '')) return false
  call.name = name.startsWith(call.name) ? name : call.name + name
  return true
}

export interface Emptiness {
  /** Whether an empty text says that there are none. */
  readonly mayBeEmpty: boolean
  /** Whether arguments came that belong to no call: then no call is known to have none. */
  readonly hasStray: boolean
}

export function readArguments(call: CallDraft, { mayBeEmpty, hasStray }: Emptiness): MeantArguments {
  if (call.arguments.trim() === '') return { text: call.isGiven && mayBeEmpty && !hasStray ? '{}' : '' }
  if (hasStray && isEmptyObject(call.arguments)) return { text: '' }
  return readMeantArguments({ text: call.arguments, cumulative: call.cumulative })
}
