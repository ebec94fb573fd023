// The parts of a message index: a section for each turn with what the conversation has of it, and chunks of older
// sections. They are values without a store; `message-index.ts` folds, keeps and finds them.
import type { MessageId } from '@baton/core/internal'
import { DERIVED_BLOBS, nameAnswer, shortHash } from '@baton/core/internal'
import type { FactOf } from '@baton/core/machine'

/** Name of the stored index; those of its chunks begin with it. */
export const INDEX_NAME = `${DERIVED_BLOBS}messages`
/** Version of the stored index; another one is built again. */
const VERSION = 1
/** Length of a `shortHash`. */
const HASH_CHARS = 16

/** An input, with the records of its message that may lie outside its section. */
export interface IndexedInput {
  readonly id: MessageId
  /** Position of the record that accepted it. */
  readonly pos: number
  /** Position of the record that began the turn before it; absent before the first turn. */
  readonly since?: number
  /** Whether it was asked again after a rewind. */
  readonly again?: true
  /** Positions of the records in which a provider refused its content. */
  readonly left?: readonly number[]
}

/** The messages of a turn. Its records reach from `pos` to `end`, both included. */
export interface Section {
  /** Position of the record that began the turn; one record may begin several. */
  readonly pos: number
  /** Position of the record that began the next turn of the log; absent for the newest turn. */
  readonly end?: number
  readonly turn: number
  readonly exchange: number
  /** Inputs that the model has read in this turn. */
  readonly inputs: readonly IndexedInput[]
  /** Whether the conversation has its answer. */
  readonly answers: boolean
  /** Positions of later rewinds that took back a part of it. */
  readonly rewinds?: readonly number[]
}

/** Older sections, stored together. */
export interface Chunk {
  readonly name: string
  /** Turn and exchange of its first section. */
  readonly turn: number
  readonly exchange: number
  /** Hashes of its inputs' ids. */
  readonly ids: readonly number[]
  /** Absent once they are stored. */
  readonly sections?: readonly Section[]
}

/** The content of the index, up to and including the record at `pos`. */
export interface IndexContent {
  pos: number
  /** Position of the record that began the newest turn of the log, even if it was taken back. */
  lastStart: number | undefined
  chunks: Chunk[]
  /** The newest sections. */
  tail: Section[]
  /** Inputs that no turn has read yet. */
  queue: Map<MessageId, IndexedInput>
  /** Sections of stored chunks that were read, by name. */
  readonly read: Map<string, readonly Section[]>
}

export function emptyContent(): IndexContent {
  return { pos: -1, lastStart: undefined, chunks: [], tail: [], queue: new Map(), read: new Map() }
}

export function countMessages({ inputs, answers }: Section): number {
  return inputs.length + (answers ? 1 : 0)
}

export function hasMessage({ inputs, answers, turn }: Section, id: MessageId): boolean {
  return inputs.some((input) => input.id === id) || (answers && nameAnswer(turn) === id)
}

export function hashId(id: MessageId): number {
  return Number.parseInt(shortHash(id).slice(0, 8), 16)
}

/** The name contains the position it was folded up to, so two different chunks never share a name. */
export function createChunk(sections: readonly Section[], pos: number): Chunk {
  const [first] = sections
  return {
    name: `${INDEX_NAME}.${first?.turn ?? 0}.${pos}`,
    turn: first?.turn ?? 0,
    exchange: first?.exchange ?? 0,
    ids: sections.flatMap(({ inputs }) => inputs.map(({ id }) => hashId(id))),
    sections,
  }
}

export interface CutSections {
  readonly kept: readonly Section[]
  /** Inputs of what was taken back. */
  readonly gone: readonly IndexedInput[]
}

/** Takes back what a rewind removes from the sections of an exchange and of later ones. */
export function rewindSections(
  sections: readonly Section[],
  { exchange, index }: FactOf<'history-rewound'>,
  pos: number,
): CutSections {
  const stays = index.filter((entry) => entry.exchange === exchange)
  const keptIds = new Set(stays.flatMap(({ inputs = [] }) => inputs))
  const keepsSteps = stays.some(({ step }) => step !== undefined)
  const gone: IndexedInput[] = []
  const kept = sections.flatMap((section): readonly Section[] => {
    if (section.exchange < exchange) return [section]
    const inputs = section.exchange === exchange ? section.inputs.filter(({ id }) => keptIds.has(id)) : []
    const answers = section.exchange === exchange && section.answers && keepsSteps
    gone.push(...section.inputs.filter((input) => !inputs.includes(input)))
    if (inputs.length === 0 && !answers) return []
    return [{ ...section, inputs, answers, rewinds: [...(section.rewinds ?? []), pos] }]
  })
  return { kept, gone }
}

interface StoredContent extends Omit<IndexContent, 'queue'> {
  readonly version: number
  readonly birth: string
  /** Hash of the record at `pos`: another log of this name has another record there. */
  readonly record: string
  readonly queue: readonly IndexedInput[]
}

export interface IndexMark {
  readonly birth: string
  readonly record: string
}

/** The content as text. Its chunks are stored already. */
export function encodeContent({ queue, chunks, pos, lastStart, tail }: IndexContent, mark: IndexMark): string {
  const stored = chunks.map((chunk) => ({ ...chunk, sections: undefined }))
  return seal({ pos, lastStart, tail, ...mark, version: VERSION, chunks: stored, queue: [...queue.values()] })
}

/** Undefined for a text of another version or birth, and for a damaged one. */
export function decodeContent(
  text: string | undefined,
  birth: string,
): { readonly content: IndexContent; readonly record: string } | undefined {
  const stored = unseal<StoredContent>(text)
  if (stored?.version !== VERSION || stored.birth !== birth) return undefined
  const { pos, lastStart, chunks, tail, record } = stored
  const queue = new Map(stored.queue.map((input) => [input.id, input]))
  return { content: { pos, lastStart, chunks, tail, queue, read: new Map() }, record }
}

export function encodeSections(sections: readonly Section[]): string {
  return seal(sections)
}

/** Undefined for a damaged text. */
export function decodeSections(text: string | undefined): readonly Section[] | undefined {
  return unseal<readonly Section[]>(text)
}

function seal(value: unknown): string {
  const text = JSON.stringify(value)
  return `${shortHash(text)} ${text}`
}

/** The value as it was sealed; its hash shows whether it was damaged. */
function unseal<Value>(sealed = ''): Value | undefined {
  const text = sealed.slice(HASH_CHARS + 1)
  return shortHash(text) === sealed.slice(0, HASH_CHARS) ? (JSON.parse(text) as Value) : undefined // nothing else is written under this name
}
