// Packs a session's state for the next run: its long lists are stored by columns, in less than half of the bytes. An
// unpacked state equals the original, whatever fields the items of a list have.
import type { Call, State, Task } from '@baton/core/machine'
import { initialState } from '@baton/core/machine'

/** The lists of a state that grow with the conversation. */
const LONG_LISTS = ['index', 'recentInputs', 'recentCalls'] as const
type LongList = (typeof LONG_LISTS)[number]

export interface PackedState extends Omit<State, LongList> {
  readonly packed: Readonly<Record<LongList, PackedList>> & {
    /** Each text once; the lists refer to it by index. */
    readonly texts: readonly string[]
  }
}

interface PackedList {
  readonly length: number
  /** Columns by field name. */
  readonly columns: Readonly<Record<string, Column>>
}

interface Column {
  /** The encoding of its values: as they are, as whole numbers, as texts, or as lists of texts. */
  readonly of: 'values' | 'numbers' | 'texts' | 'lists'
  /** Numbers and text indexes are stored as differences from the previous one. */
  readonly values: readonly unknown[]
  /** Lengths of lists. */
  readonly lengths?: readonly number[]
  /** Items that have the field, as distances from the previous one; absent if all have it. */
  readonly at?: readonly number[]
}

export function packState(state: State): PackedState {
  const { index, recentInputs, recentCalls, ...rest } = state
  const places = new Map<string, number>()
  const lists = {
    index: packList(index, places),
    recentInputs: packList(recentInputs, places),
    recentCalls: packList(recentCalls, places),
  }
  return { ...rest, packed: { ...lists, texts: [...places.keys()] } }
}

/** Adds fields that an older worker's state lacks, with the values of a new session; its detached tools are tasks now. */
export function readCarriedState(carried: PackedState | State): State {
  const unpacked = 'packed' in carried ? unpackState(carried) : carried
  const { detached = [], ...state }: State & OlderState = unpacked
  const read = { ...initialState(state.session), ...state }
  return detached.length === 0
    ? read
    : { ...read, tasks: [...read.tasks, ...detached.map((call) => readTask(read, call))] }
}

interface OlderState {
  /** Tools of interrupted turns that kept running. */
  readonly detached?: readonly Call[]
}

function readTask({ counters, nowMs }: State, call: Call): Task {
  const task = {
    origin: 'interrupt',
    wake: 'note',
    asks: false,
    turn: counters.turn,
    exchange: 0,
    begunMs: nowMs,
  } as const
  return { ...call, task }
}

export function unpackState({ packed, ...rest }: PackedState): State {
  const { index, recentInputs, recentCalls, texts } = packed
  return {
    ...rest,
    index: unpackList(index, texts),
    recentInputs: unpackList(recentInputs, texts),
    recentCalls: unpackList(recentCalls, texts),
  }
}

function packList(items: readonly object[], places: Map<string, number>): PackedList {
  const found = new Map<string, { readonly at: number[]; readonly values: unknown[] }>()
  for (const [row, item] of items.entries())
    for (const [name, value] of Object.entries(item)) {
      if (value === undefined) continue
      const column = found.get(name) ?? { at: [], values: [] }
      found.set(name, column)
      column.at.push(row)
      column.values.push(value)
    }
  const columns = [...found].map(([name, { at, values }]): readonly [string, Column] => {
    const column = packColumn(values, places)
    return [name, at.length < items.length ? { ...column, at: listDifferences(at) } : column]
  })
  return { length: items.length, columns: Object.fromEntries(columns) }
}

function packColumn(values: readonly unknown[], places: Map<string, number>): Column {
  if (values.every(isWhole)) return { of: 'numbers', values: listDifferences(values) }
  if (values.every(isText)) return { of: 'texts', values: listDifferences(findPlaces(values, places)) }
  if (!values.every(isTextList)) return { of: 'values', values }
  const lengths = values.map(({ length }) => length)
  return { of: 'lists', values: listDifferences(findPlaces(values.flat(), places)), lengths }
}

function unpackList<Item>({ length, columns }: PackedList, texts: readonly string[]): readonly Item[] {
  const items = Array.from({ length }, (): Record<string, unknown> => ({}))
  for (const [name, column] of Object.entries(columns)) {
    const rows = column.at ? addUp(column.at) : items.keys()
    const values = unpackColumn(column, texts)
    let next = 0
    for (const row of rows) {
      const item = items[row]
      if (item) item[name] = values[next]
      next += 1
    }
  }
  return items as readonly Item[] // the packed fields
}

function unpackColumn({ of, values, lengths = [] }: Column, texts: readonly string[]): readonly unknown[] {
  if (of === 'values') return values
  const numbers = addUp(values.filter(isWhole))
  if (of === 'numbers') return numbers
  const words = numbers.map((place) => texts[place])
  if (of === 'texts') return words
  let next = 0
  return lengths.map((length) => words.slice(next, (next += length)))
}

function findPlaces(words: readonly string[], places: Map<string, number>): readonly number[] {
  return words.map((word) => {
    const place = places.get(word) ?? places.size
    places.set(word, place)
    return place
  })
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isText)
}

function listDifferences(numbers: readonly number[]): readonly number[] {
  return numbers.map((value, index) => value - (numbers[index - 1] ?? 0))
}

function addUp(differences: readonly number[]): readonly number[] {
  let sum = 0
  return differences.map((difference) => (sum += difference))
}
