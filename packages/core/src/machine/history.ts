// The history with its bodies: folded from records, it turns a range of entries into messages. State has only the index.
import type { AssistantMessage, AssistantPart, Message, ResultPart, ToolMessage } from '../messages.ts'
import { textOf } from '../messages.ts'
import { cutParts, wholeChars } from './cut-parts.ts'
import type { Fact, FactOf, InputBody, Settlement } from './fact.ts'
import type { SessionRecord } from './record.ts'
import { renderInputs, renderSettlement, text } from './render.ts'

/** One entry's messages: a user message, or an assistant message with its results. */
export interface HistoryEntry {
  readonly entry: number
  readonly exchange: number
  readonly role: 'user' | 'step' | 'summary'
  /** None where nothing visible is left of an answer that was cut short. */
  readonly messages: readonly Message[]
}

export interface OpenCall {
  readonly callId: string
  readonly name: string
  /** JSON text; those of a person who edited them, where one did. */
  readonly arguments: string
  /** It has ended, and only waits for the other calls of its step. */
  readonly settled: boolean
}

/** What of a history is JSON as it is. */
interface Plain {
  entries: readonly HistoryEntry[]
  exchange: number
  lastTurn: { readonly turn: number; readonly pos: number } | null
  texts: readonly { readonly step: number; readonly text: string }[]
  progress: { readonly attempt: number; readonly text: string }
}

interface Book extends Plain {
  readonly inputs: Map<string, InputBody>
  readonly notes: Map<number, string>
  /** Entries that left the window; kept only where a rewind may ask for them. */
  readonly left: HistoryEntry[] | null
  open: OpenBody | null
}

interface PlainOpenBody {
  readonly step: number
  readonly exchange: number
  readonly parts: readonly AssistantPart[]
  /** See `AssistantMessage.rebased`. */
  readonly rebased: boolean
}

interface OpenBody extends PlainOpenBody {
  readonly edited: ReadonlyMap<string, string>
  readonly settlements: ReadonlyMap<string, Settlement>
}

/** A history as JSON. It stands in snapshots, which are disposable, so its shape may change with any version. */
export interface KeptHistory extends Readonly<Plain> {
  readonly inputs: readonly (readonly [string, InputBody])[]
  readonly notes: readonly (readonly [number, string])[]
  readonly left: readonly HistoryEntry[] | null
  readonly open:
    | (PlainOpenBody & {
        readonly edited: readonly (readonly [string, string])[]
        readonly settlements: readonly (readonly [string, Settlement])[]
      })
    | null
}

export interface History {
  fold(record: SessionRecord): void
  /** The messages of a request; the same objects each time, so that what was encoded of them can be kept. */
  messages(fromEntry: number, toEntry: number): readonly Message[]
  entries(): readonly HistoryEntry[]
  openCall(callId: string): OpenCall | undefined
  /** The assistant's parts of the step whose calls are open. */
  openParts(): readonly AssistantPart[]
  /** Texts of the running turn's finished steps. */
  turnTexts(): readonly string[]
  /** The newest turn and the position of the record that began it. */
  lastTurn(): { readonly turn: number; readonly pos: number } | undefined
  /** All that it knows, for a snapshot. */
  keep(): KeptHistory
}

export interface HistoryOptions {
  /** Keeps what left the window too, for a rewind that reaches behind it. */
  readonly keepAll?: boolean
  /** Goes on from a snapshot. */
  readonly kept?: KeptHistory
}

export function createHistory(options: HistoryOptions = {}): History {
  return new FoldedHistory(options.kept ? bookFrom(options.kept) : emptyBook(options.keepAll === true))
}

class FoldedHistory implements History {
  readonly #book: Book

  constructor(book: Book) {
    this.#book = book
  }

  fold(record: SessionRecord): void {
    for (const fact of record.facts) {
      if (fact.type === 'turn-started') this.#book.lastTurn = { turn: fact.turn, pos: record.pos }
      foldFact(this.#book, fact)
    }
  }

  messages(fromEntry: number, toEntry: number): readonly Message[] {
    const asked = this.#book.entries.filter(({ entry }) => entry >= fromEntry && entry <= toEntry)
    return asked.flatMap(({ messages }) => messages)
  }

  entries(): readonly HistoryEntry[] {
    return this.#book.entries
  }

  openCall(callId: string): OpenCall | undefined {
    return openCall(this.#book, callId)
  }

  openParts(): readonly AssistantPart[] {
    return this.#book.open?.parts ?? []
  }

  turnTexts(): readonly string[] {
    return this.#book.texts.map((step) => step.text).filter((said) => said !== '')
  }

  lastTurn(): { readonly turn: number; readonly pos: number } | undefined {
    return this.#book.lastTurn ?? undefined
  }

  keep(): KeptHistory {
    return kept(this.#book)
  }
}

function emptyBook(keepAll: boolean): Book {
  return {
    inputs: new Map(),
    notes: new Map(),
    entries: [],
    left: keepAll ? [] : null,
    exchange: 0,
    lastTurn: null,
    open: null,
    texts: [],
    progress: { attempt: 0, text: '' },
  }
}

function kept({ inputs, notes, left, open, ...plain }: Book): KeptHistory {
  return {
    ...plain,
    inputs: [...inputs],
    notes: [...notes],
    left: left && [...left],
    open: open && { ...open, edited: [...open.edited], settlements: [...open.settlements] },
  }
}

function bookFrom({ inputs, notes, left, open, ...plain }: KeptHistory): Book {
  return {
    ...plain,
    inputs: new Map(inputs),
    notes: new Map(notes),
    left: left && [...left],
    open: open && { ...open, edited: new Map(open.edited), settlements: new Map(open.settlements) },
  }
}

function openCall(book: Book, callId: string): OpenCall | undefined {
  const part = book.open?.parts.find((candidate) => candidate.type === 'call' && candidate.callId === callId)
  if (part?.type !== 'call') return undefined
  const settled = book.open?.settlements.has(callId) ?? false
  return { callId, name: part.name, arguments: book.open?.edited.get(callId) ?? part.arguments, settled }
}

function foldFact(book: Book, fact: Fact): void {
  switch (fact.type) {
    case 'input-accepted':
      book.inputs.set(fact.inputId, fact.body)
      break
    case 'note-queued':
      book.notes.set(fact.note, fact.text)
      break
    case 'inputs-entered':
      enter(book, fact)
      break
    case 'turn-started':
      book.texts = []
      book.exchange = fact.exchange
      break
    case 'model-started':
      book.progress = { attempt: fact.attempt, text: '' }
      break
    case 'attempt-progressed':
      book.progress = { attempt: fact.attempt, text: book.progress.text.slice(0, fact.offset) + fact.text }
      break
    case 'step-finished':
      openStep(book, fact.step, fact.parts)
      break
    case 'step-salvaged':
      openStep(book, fact.step, cutParts([text(book.progress.text)], fact.textChars))
      break
    case 'approval-decided':
      if (book.open && fact.edited)
        book.open = { ...book.open, edited: new Map(book.open.edited).set(fact.callId, fact.edited.arguments) }
      break
    case 'call-settled':
      if (book.open)
        book.open = { ...book.open, settlements: new Map(book.open.settlements).set(fact.callId, fact.settlement) }
      break
    case 'step-closed':
      closeStep(book, fact.entry)
      break
    default:
      foldEdit(book, fact)
  }
}

/** Facts that change what stands in the history already. */
function foldEdit(book: Book, fact: Fact): void {
  switch (fact.type) {
    case 'window-moved':
      drop(book, (entry) => entry.entry < fact.fromEntry)
      rebase(book, fact.fromEntry)
      break
    case 'summary-finished':
      replaceBySummary(book, fact)
      break
    case 'answer-cut':
      cutAnswer(book, fact)
      break
    case 'history-rewound': {
      const known = [...(book.left ?? []), ...book.entries]
      book.entries = fact.index.flatMap(
        ({ entry, role }) => known.findLast((one) => one.entry === entry && one.role === role) ?? [],
      )
      break
    }
    default:
      break
  }
}

/** Messages remember what entered with them, so that its body can go when they go. */
interface UserEntry extends HistoryEntry {
  readonly inputs: readonly string[]
  readonly notes: readonly number[]
}

function enter(book: Book, fact: FactOf<'inputs-entered'>): void {
  const entered = fact.entries.map(({ entry, inputs, notes }): UserEntry => {
    const told = notes.map((note) => text(book.notes.get(note) ?? ''))
    const bodies = inputs.flatMap((inputId) => book.inputs.get(inputId) ?? [])
    return {
      entry,
      exchange: fact.exchange,
      role: 'user',
      inputs,
      notes,
      messages: [{ role: 'user', parts: [...told, ...renderInputs(bodies)] }],
    }
  })
  book.entries = [...book.entries, ...entered]
}

function openStep(book: Book, step: number, parts: readonly AssistantPart[]): void {
  book.open = { step, exchange: book.exchange, parts, rebased: false, edited: new Map(), settlements: new Map() }
  book.texts = [...book.texts, { step, text: textOf(parts) }]
}

/** Messages remember their step, so that a later cut finds them. */
interface StepEntry extends HistoryEntry {
  readonly step: number
}

function isStep(entry: HistoryEntry, step: number | undefined): boolean {
  return entry.role === 'step' && (entry as StepEntry).step === step // closeStep makes them with their number
}

function closeStep(book: Book, entry: number): void {
  const open = book.open
  if (!open) return
  const closed: StepEntry = {
    entry,
    exchange: open.exchange,
    role: 'step',
    step: open.step,
    messages: stepMessages(open),
  }
  book.entries = [...book.entries, closed]
  book.open = null
}

function stepMessages(open: OpenBody): readonly Message[] {
  const assistant: AssistantMessage = { role: 'assistant', parts: open.parts, ...(open.rebased && { rebased: true }) }
  const results = open.parts.flatMap((part): readonly ResultPart[] => {
    if (part.type !== 'call') return []
    const settlement = open.settlements.get(part.callId) ?? { type: 'unknown', reason: 'missing' }
    const edited = open.edited.get(part.callId)
    const note = edited === undefined ? [] : [text(`[A person changed the arguments to ${edited}]`)]
    const content = [...note, ...renderSettlement(settlement)]
    return [{ type: 'result', callId: part.callId, name: part.name, isError: settlement.type !== 'ok', content }]
  })
  const tool: ToolMessage = { role: 'tool', parts: results }
  if (results.length > 0) return [assistant, tool]
  return isVisible(open.parts) ? [assistant] : []
}

/** Thoughts or blanks alone are no answer: providers refuse such a message. */
function isVisible(parts: readonly AssistantPart[]): boolean {
  return parts.some(
    (part) => part.type === 'provider' || part.type === 'call' || (part.type === 'text' && part.text.trim() !== ''),
  )
}

function drop(book: Book, leaves: (entry: HistoryEntry) => boolean): void {
  leave(book, book.entries.filter(leaves))
  book.entries = book.entries.filter((entry) => !leaves(entry))
}

/** What no rewind can ask for gives its memory back, bodies included. */
function leave(book: Book, entries: readonly HistoryEntry[]): void {
  if (book.left) {
    book.left.push(...entries)
    return
  }
  for (const entry of entries) {
    const { inputs = [], notes = [] } = entry as Partial<UserEntry> // only a user's entry has them
    inputs.forEach((inputId) => book.inputs.delete(inputId))
    notes.forEach((note) => book.notes.delete(note))
  }
}

function replaceBySummary(book: Book, fact: FactOf<'summary-finished'>): void {
  const older = book.entries.filter((entry) => entry.entry < fact.fromEntry)
  const newer = book.entries.filter((entry) => entry.entry > fact.toEntry)
  const replaced = book.entries.filter((entry) => entry.entry >= fact.fromEntry && entry.entry <= fact.toEntry)
  const summary: HistoryEntry = {
    entry: fact.toEntry,
    exchange: replaced.at(-1)?.exchange ?? 0,
    role: 'summary',
    messages: [{ role: 'user', parts: [text(`[Summary of the conversation so far] ${fact.text}`)] }],
  }
  leave(book, replaced)
  book.entries = [...older, summary, ...newer]
  rebase(book, fact.toEntry)
}

/** Marks the answers from an entry on: what stands before them is not what their model saw. */
function rebase(book: Book, fromEntry: number): void {
  book.entries = book.entries.map((entry) => {
    const [first] = entry.messages
    if (entry.entry < fromEntry || first?.role !== 'assistant' || first.rebased) return entry
    return { ...entry, messages: [{ ...first, rebased: true }, ...entry.messages.slice(1)] }
  })
}

/** The first cut entry may leave altogether, and a step that is still open stands behind it too. */
function cutAnswer(book: Book, fact: FactOf<'answer-cut'>): void {
  const first = book.entries.find((entry) => isStep(entry, fact.cuts[0]?.step))
  for (const cut of fact.cuts) cutStep(book, cut.step, cut.keepChars)
  if (!first) return
  rebase(book, first.entry + 1)
  if (book.open) book.open = { ...book.open, rebased: true }
}

function cutStep(book: Book, step: number, keepChars: number): void {
  book.texts = book.texts.map((said) =>
    said.step === step ? { step, text: said.text.slice(0, wholeChars(said.text, keepChars)) } : said,
  )
  if (book.open?.step === step) book.open = { ...book.open, parts: cutParts(book.open.parts, keepChars) }
  book.entries = book.entries.flatMap((entry) => {
    if (!isStep(entry, step)) return [entry]
    const [assistant, ...results] = entry.messages
    if (results.length === 0 && keepChars === 0) return []
    if (assistant?.role !== 'assistant') return [entry]
    const parts = cutParts(assistant.parts, keepChars)
    if (results.length > 0) return [{ ...entry, messages: [{ role: 'assistant', parts }, ...results] }]
    return [{ ...entry, messages: isVisible(parts) ? [{ role: 'assistant', parts }] : [] }]
  })
}
