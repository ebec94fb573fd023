// Finds the records that messages come from, so that a page of messages costs a page, whatever the log's length. The
// index is derived from the log: it catches up when it is asked, is kept in the session's blobs, and is built again if
// it was lost. In memory it is a cache that the garbage collector may take.
import type { BlobStore, Logger, MessageId } from '@baton/core/internal'
import { readTurnOf, shortHash } from '@baton/core/internal'
import type { Fact, FactOf, SessionRecord } from '@baton/core/machine'
import { describeThrown } from '../describe-thrown.ts'
import type { Chunk, IndexContent, IndexedInput, Section } from './message-sections.ts'
import {
  countMessages,
  createChunk,
  decodeContent,
  decodeSections,
  emptyContent,
  encodeContent,
  encodeSections,
  hashId,
  hasMessage,
  INDEX_NAME,
  rewindSections,
} from './message-sections.ts'

export interface MessageIndexOptions {
  readonly session: string
  readonly birth: () => string
  readonly blobs: Pick<BlobStore, 'get' | 'put'>
  readonly log: () => Logger
  /** The published records from a position on. */
  readonly records: (fromPos: number) => AsyncIterable<SessionRecord>
  /** `INDEX_SIZES` by default. */
  readonly sizes?: IndexSizes
}

export interface FoundSections {
  /** In order; the last one has the message asked for. */
  readonly sections: readonly Section[]
  /** Whether the conversation has older sections. */
  readonly hasOlder: boolean
  /** Inputs that no turn has read. */
  readonly queue: readonly IndexedInput[]
  /** Whether they reach to the end of the conversation. */
  readonly reachesEnd: boolean
  /** Position of the record that began the newest turn of the log. */
  readonly lastStart: number | undefined
  /** Position of the last indexed record. */
  readonly pos: number
}

export interface FoundPlace {
  readonly input?: IndexedInput
  /** Absent for an input that no turn has read. */
  readonly section?: Section
  /** Index of the section's chunk; behind the last one for the newest sections. */
  readonly chunk?: number
}

export interface IndexSizes {
  /** Number of sections in a stored chunk. Memory holds the newest sections, fewer than two chunks of them. */
  readonly chunk: number
  /** The index is stored when it is this many records newer than its stored form. */
  readonly storedRecords: number
  /** Chunks that were read and stay in memory. */
  readonly readChunks: number
}

export const INDEX_SIZES: IndexSizes = { chunk: 128, storedRecords: 256, readChunks: 4 }

/** Thrown for a stored chunk that is missing or damaged. */
class LostChunk extends Error {}

export class MessageIndex {
  readonly #init: MessageIndexOptions
  readonly #sizes: IndexSizes
  /** Absent until the first question, and after a failure. Weak: a session that is read rarely does not hold it. */
  #content: WeakRef<IndexContent> | undefined
  /** Hash of the newest record, and the position that is stored. */
  #mark = ''
  #storedPos = -1
  #work: Promise<unknown> = Promise.resolve()

  constructor(init: MessageIndexOptions) {
    this.#init = init
    this.#sizes = init.sizes ?? INDEX_SIZES
  }

  /**
   * The sections with the `limit` messages before this one, or with the newest. Undefined if the conversation has no such
   * message. @throws BatonError `store_failed`, `log_damaged`
   */
  select(limit: number, before?: MessageId): Promise<FoundSections | undefined> {
    return this.#ask(async (content) => {
      const { chunks, tail, queue, lastStart, pos } = content
      const place = before === undefined ? {} : await this.#locate(content, before)
      if (!place) return undefined
      const waiting = [...queue.values()]
      let rest = limit
      // Those of the message's own section may all be newer.
      if (place.section === undefined) rest -= place.input ? waiting.indexOf(place.input) : waiting.length
      const sections: Section[] = []
      let hasOlder = false
      for (let index = place.chunk ?? chunks.length; index >= 0; index--) {
        const group = index === chunks.length ? tail : await this.#open(content, chunks[index])
        const end = group.findIndex(({ turn }) => turn === place.section?.turn)
        for (const section of group.slice(0, end < 0 ? group.length : end + 1).toReversed()) {
          hasOlder = rest <= 0
          if (hasOlder) break
          sections.unshift(section)
          if (section.turn !== place.section?.turn) rest -= countMessages(section)
        }
        if (hasOlder) break
      }
      const reachesEnd = place.section === undefined || place.section.end === undefined
      return { sections, hasOlder, queue: waiting, reachesEnd, lastStart, pos }
    })
  }

  /** Undefined if the conversation has no message with this id. @throws BatonError `store_failed`, `log_damaged` */
  locate(id: MessageId): Promise<FoundPlace | undefined> {
    return this.#ask((content) => this.#locate(content, id))
  }

  /** Questions are answered one after another, each from an index that has caught up with the log. */
  #ask<Answer>(question: (content: IndexContent) => Promise<Answer>): Promise<Answer> {
    const answer = this.#work.then(async () => {
      try {
        return await question(await this.#catchUp())
      } catch (cause) {
        this.#forget()
        if (!(cause instanceof LostChunk)) throw cause
        return await question(await this.#catchUp(emptyContent()))
      }
    })
    this.#work = answer.catch(() => {}) // its caller gets the failure
    return answer
  }

  #forget(): void {
    this.#content = undefined
    this.#storedPos = -1
  }

  async #catchUp(begun?: IndexContent): Promise<IndexContent> {
    const content = begun ?? this.#content?.deref() ?? (await this.#load())
    this.#content = undefined
    let last: SessionRecord | undefined
    for await (const record of this.#init.records(content.pos + 1)) {
      for (const fact of record.facts) {
        const changing = this.#take(content, { fact, record })
        if (changing) await changing
      }
      content.pos = record.pos
      last = record
      if (content.tail.length >= 2 * this.#sizes.chunk)
        content.chunks.push(createChunk(content.tail.splice(0, this.#sizes.chunk), content.pos))
    }
    if (last) this.#mark = hashRecord(last)
    this.#content = new WeakRef(content)
    if (content.pos - this.#storedPos >= this.#sizes.storedRecords) await this.#store(content)
    return content
  }

  async #load(): Promise<IndexContent> {
    const { birth, blobs, records, session } = this.#init
    this.#storedPos = -1
    const text = await blobs.get(session, INDEX_NAME).catch(() => undefined) // the log has everything
    const stored = decodeContent(text, birth())
    if (!stored) return emptyContent()
    const { content, record } = stored
    for await (const known of records(content.pos)) {
      if (hashRecord(known) !== record) break
      this.#mark = record
      this.#storedPos = content.pos
      return content
    }
    return emptyContent()
  }

  /** A lost index does no harm. */
  async #store(content: IndexContent): Promise<void> {
    const { session, blobs, birth, log } = this.#init
    this.#storedPos = content.pos
    try {
      for (const [index, { sections, ...chunk }] of content.chunks.entries()) {
        if (!sections) continue
        await blobs.put(session, chunk.name, encodeSections(sections))
        content.chunks[index] = chunk
        this.#keepRead(content, chunk.name, sections)
      }
      await blobs.put(session, INDEX_NAME, encodeContent(content, { birth: birth(), record: this.#mark }))
    } catch (cause) {
      log().warn('the index of messages could not be stored', { session, cause: describeThrown(cause) })
    }
  }

  async #open(content: IndexContent, chunk: Chunk | undefined): Promise<readonly Section[]> {
    if (!chunk) return []
    const known = chunk.sections ?? content.read.get(chunk.name)
    if (known) return known
    const sections = decodeSections(await this.#init.blobs.get(this.#init.session, chunk.name))
    if (!sections) throw new LostChunk(`the chunk ${chunk.name} of the index is lost`)
    this.#keepRead(content, chunk.name, sections)
    return sections
  }

  #keepRead({ read }: IndexContent, name: string, sections: readonly Section[]): void {
    read.set(name, sections)
    for (const oldest of read.keys()) {
      if (read.size <= this.#sizes.readChunks) return
      read.delete(oldest)
    }
  }

  async #locate(content: IndexContent, id: MessageId): Promise<FoundPlace | undefined> {
    const { chunks, tail, queue } = content
    const waiting = queue.get(id)
    if (waiting) return { input: waiting }
    const turn = readTurnOf(id)
    const hash = hashId(id)
    const mayHave = (chunk: Chunk | undefined, next: number | undefined): boolean =>
      chunk !== undefined &&
      (chunk.ids.includes(hash) || (turn !== undefined && chunk.turn <= turn && (next === undefined || turn < next)))
    for (let index = chunks.length; index >= 0; index--) {
      const isTail = index === chunks.length
      if (!isTail && !mayHave(chunks[index], chunks[index + 1]?.turn ?? tail[0]?.turn)) continue
      const section = (isTail ? tail : await this.#open(content, chunks[index])).findLast((one) => hasMessage(one, id))
      const input = section?.inputs.find((one) => one.id === id)
      if (section) return { section, chunk: index, ...(input && { input }) }
    }
    return undefined
  }

  /** Takes a fact. The promise, if any, resolves when the fact was taken. */
  #take(content: IndexContent, { fact, record }: Happened): Promise<void> | undefined {
    const { tail, queue } = content
    const { pos } = record
    switch (fact.type) {
      case 'turn-started': {
        const { turn, exchange } = fact
        const last = tail.at(-1)
        if (last && last.end === undefined) tail[tail.length - 1] = { ...last, end: pos }
        tail.push({ pos, turn, exchange, inputs: [], answers: true })
        content.lastStart = pos
        return undefined
      }
      case 'input-accepted': {
        const { inputId: id } = fact
        queue.set(id, { id, pos, ...(content.lastStart !== undefined && { since: content.lastStart }) })
        return undefined
      }
      case 'input-withdrawn':
        queue.delete(fact.inputId)
        return undefined
      case 'inputs-entered':
        enterInputs(content, fact)
        return undefined
      case 'inputs-left-out':
        return this.#leaveOut(content, fact, pos)
      case 'history-rewound':
        return this.#rewind(content, fact, record)
      default:
        return undefined
    }
  }

  async #leaveOut(content: IndexContent, { inputs }: FactOf<'inputs-left-out'>, pos: number): Promise<void> {
    for (const id of inputs) {
      const place = await this.#locate(content, id)
      if (!place?.input) continue
      const { input, section } = place
      const left: IndexedInput = { ...input, left: [...(input.left ?? []), pos] }
      if (section)
        await this.#replace(content, {
          ...section,
          inputs: section.inputs.map((one) => (one.id === id ? left : one)),
        })
      else content.queue.set(id, left)
    }
  }

  async #replace(content: IndexContent, section: Section): Promise<void> {
    const swap = (sections: readonly Section[]): Section[] =>
      sections.map((one) => (one.turn === section.turn ? section : one))
    if ((content.tail[0]?.turn ?? Infinity) <= section.turn) content.tail = swap(content.tail)
    else
      for (const [index, chunk] of content.chunks.entries()) {
        const next = content.chunks[index + 1]?.turn ?? Infinity
        if (chunk.turn > section.turn || section.turn >= next) continue
        content.chunks[index] = createChunk(swap(await this.#open(content, chunk)), content.pos + 1)
      }
  }

  async #rewind(content: IndexContent, fact: FactOf<'history-rewound'>, { pos, facts }: SessionRecord): Promise<void> {
    while ((content.tail[0]?.exchange ?? Infinity) > fact.exchange) {
      const chunk = content.chunks.at(-1)
      if (!chunk) break
      const sections = await this.#open(content, chunk)
      content.chunks.pop()
      content.tail = [...sections, ...content.tail]
    }
    const { kept, gone } = rewindSections(content.tail, fact, pos)
    content.tail = [...kept]
    const again = new Set(
      facts.flatMap((one) => (one.type === 'inputs-entered' ? one.entries.flatMap(({ inputs }) => inputs) : [])),
    )
    for (const input of gone) if (again.has(input.id)) content.queue.set(input.id, { ...input, again: true })
  }
}

function hashRecord(record: SessionRecord): string {
  return shortHash(JSON.stringify(record))
}

interface Happened {
  readonly fact: Fact
  readonly record: SessionRecord
}

function enterInputs({ tail, queue, pos }: IndexContent, { entries }: FactOf<'inputs-entered'>): void {
  const ids = entries.flatMap(({ inputs }) => inputs)
  const entered = ids.map((id) => queue.get(id) ?? { id, pos: pos + 1 })
  for (const id of ids) queue.delete(id)
  const last = tail.at(-1)
  if (last) tail[tail.length - 1] = { ...last, inputs: [...last.inputs, ...entered] }
}
