// Assembles the calls of a streaming answer. Servers number calls or not; send ids once, in every piece or never; and
// send arguments in pieces, whole or as an object. This file decides which call a piece belongs to.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'
import type { MeantArguments } from '../meant-arguments.ts'
import { growCumulative, isNothing, JsonProgress, readGivenArguments, readMeantArguments } from '../meant-arguments.ts'

export interface CallDraft {
  /** Position in the answer, from 0. */
  readonly number: number
  /** The server's index in the call's first piece. */
  readonly index: number | undefined
  id: string
  /** The name on the wire; empty until known. */
  name: string
  /** JSON text so far: all pieces in order. */
  arguments: string
  /** The latest piece, while each piece starts with the previous one; `undefined` otherwise. */
  cumulative: string | undefined
  /** Whether the server sent any arguments, even an empty string. */
  isGiven: boolean
  /** Progress of `arguments`. Text already read never changes. */
  readonly json: JsonProgress
  /** Fields next to the call that go back with it. */
  extra: JsonObject | undefined
}

/** A piece of a call as a server sent it; unknown fields are empty. */
export interface CallPiece {
  readonly index: number | undefined
  readonly id: string
  readonly name: string
  /** `undefined` if the piece has no arguments. */
  readonly arguments: string | undefined
  readonly extra: JsonObject | undefined
  /** Whether the piece is in a list with other calls. */
  readonly isListed: boolean
}

/** Returns `undefined` if the value is not a call. */
export function readCallPiece(value: JsonValue, isListed = false): CallPiece | undefined {
  if (!isJsonObject(value)) return undefined
  // Some servers omit `function` and put its fields next to the id, or send it as JSON text.
  const made = readJsonText(value['function'])
  const fields = isJsonObject(made) ? { ...value, ...made } : value
  const given = ARGUMENTS.map((field) => fields[field]).find((one) => one !== undefined && one !== null)
  const extra = readExtra(value)
  return {
    index: readIndex(value['index']),
    // some servers use numbers
    id: typeof value['id'] === 'string' || typeof value['id'] === 'number' ? String(value['id']) : '',
    name: typeof fields['name'] === 'string' ? fields['name'] : '',
    arguments: readGivenArguments(given),
    extra: Object.keys(extra).length > 0 ? extra : undefined,
    isListed,
  }
}

/** Fields that hold the arguments; templates of Llama models write `parameters`. */
const ARGUMENTS = ['arguments', 'parameters', 'input', 'args'] as const

/** The calls of a delta or message: a list, one call, an object of calls by number (PHP), or any of these as JSON text. */
export function listCalls(given: JsonValue | undefined): readonly JsonValue[] {
  const value = readJsonText(given)
  if (Array.isArray(value)) return (value as readonly JsonValue[]).flatMap((one) => (Array.isArray(one) ? one : [one]))
  if (!isJsonObject(value)) return []
  const names = Object.keys(value)
  return names.length > 0 && names.every((name) => /^\d{1,9}$/.test(name)) ? Object.values(value) : [value]
}

function readJsonText(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  const parsed = parseJson(value)
  return parsed.ok ? parsed.value : value
}

/** Some servers send it as a string. */
function readIndex(index: JsonValue | undefined): number | undefined {
  if (typeof index === 'string' && /^\d{1,9}$/.test(index)) return Number(index)
  return typeof index === 'number' ? index : undefined
}

/** Fields that carry a Gemini signature: from Gemini's own endpoint and from LiteLLM's proxy. */
const EXTRA_FIELDS = ['extra_content', 'provider_specific_fields'] as const

/** Picks those fields from a call, or from its saved state. */
export function readExtra(holder: JsonObject): Partial<Record<(typeof EXTRA_FIELDS)[number], JsonObject>> {
  return Object.fromEntries(
    EXTRA_FIELDS.flatMap((field) => (isJsonObject(holder[field]) ? [[field, holder[field]]] : [])),
  )
}

/**
 * Calls in the order they began. A piece belongs to the call whose id it carries, otherwise to the one with its index,
 * otherwise to the only open call: some gateways number the tool rather than the call, or the pieces themselves.
 */
export class CallDrafts {
  readonly all: CallDraft[] = []
  readonly #byIndex = new Map<number, CallDraft>()
  readonly #byId = new Map<string, CallDraft>()

  /** Finds or creates the call a piece belongs to, without adding the piece to it. */
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
    const placed = index === undefined ? undefined : this.#byIndex.get(index)
    // The second of two calls with one id.
    if (known && placed && placed !== known && placed.id === id)
      return startsAnother(placed, piece) ? undefined : placed
    if (known)
      return hasSameId(known, piece, index !== undefined && !placed) && this.#isElsewhere(known, piece)
        ? undefined
        : known
    const before = index === undefined ? this.all.at(-1) : placed
    if (before) return startsAnother(before, piece) ? undefined : before
    return id === '' ? this.#findOpen(piece) : undefined
  }

  /**
   * The call that a piece with another index continues: the only one still waiting for arguments. A piece with a name
   * continues it only if the name matches, and if the call has an id or the piece cannot be the start of arguments.
   */
  #findOpen({ name, arguments: given = '' }: CallPiece): CallDraft | undefined {
    const open = this.all.filter(({ json, arguments: text }) => !json.isClosed || isNothing(text))
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
 * Whether a piece that could continue a call starts the next one. A different id with a name does (lmdeploy and older
 * vLLM number every call 0: InternLM/lmdeploy#3412). Without an id, a name does once the previous call is complete:
 * some servers repeat the name in every piece. A name before any arguments may be the rest of a split name.
 */
function startsAnother(call: CallDraft, piece: CallPiece): boolean {
  const { index, id, name, arguments: given = '', isListed } = piece
  if (name === '') return false
  // Some servers invent an id for each piece.
  if (id !== '' && call.id !== '') return id !== call.id && !(name === call.name && isRest(call, given))
  if (call.name === '') return false
  if (!call.json.isClosed) return name !== call.name && (call.arguments !== '' || index === undefined)
  if (name !== call.name) return true
  if (index === undefined) return given !== '' && (isListed || !isNothing(call.arguments))
  // Under its own index, the same call may be repeated, or arrive complete after an empty start.
  return given !== '' && given !== call.arguments && !isNothing(call.arguments)
}

/** Whether a piece continues unfinished arguments and cannot start new ones. */
function isRest({ json, arguments: text }: CallDraft, given: string): boolean {
  return !json.isClosed && text !== '' && !/^\s*(?:\{|$)/.test(given)
}

/** Whether a piece starts another call despite sharing this call's id: some servers give all calls the same id. */
function hasSameId(call: CallDraft, { name, arguments: given = '' }: CallPiece, isNewIndex: boolean): boolean {
  if (name === '' || !call.json.isClosed) return false
  if (name !== call.name || (isNewIndex && given === '')) return true
  return given !== '' && given !== call.arguments && !isNothing(call.arguments)
}

/** Whether a call without arguments only repeats the id and the name of one that has them. */
export function isEcho(call: CallDraft, all: readonly CallDraft[]): boolean {
  const { id, name, number } = call
  if (id === '' || call.arguments.trim() !== '') return false
  return all.some((one) => one.number < number && one.id === id && one.name === name && one.json.isClosed)
}

export function addArguments(call: CallDraft, text: string): void {
  call.isGiven = true
  if (text === '') return
  call.cumulative = growCumulative(call.cumulative, text)
  call.arguments += text
  call.json.push(text)
}

/** Adds a name that arrives whole, in two pieces, or cumulatively in each piece. Returns whether the name changed. */
export function addName(call: CallDraft, name: string): boolean {
  if (name === '' || name === call.name || (call.name !== '' && call.arguments !== '')) return false
  call.name = name.startsWith(call.name) ? name : call.name + name
  return true
}

export interface Emptiness {
  /** Whether an empty string means that there are no arguments. */
  readonly mayBeEmpty: boolean
  /** Whether arguments arrived that belong to no call, so that no call can be assumed to have none. */
  readonly hasStray: boolean
}

export function readArguments(call: CallDraft, { mayBeEmpty, hasStray }: Emptiness): MeantArguments {
  if (call.arguments.trim() === '') return { text: call.isGiven && mayBeEmpty && !hasStray ? '{}' : '' }
  if (hasStray && isNothing(call.arguments)) return { text: '' }
  return readMeantArguments({ text: call.arguments, cumulative: call.cumulative })
}
