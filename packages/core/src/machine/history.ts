// The history with its bodies, folded from records: turns a range of entries into messages. State has only the index.
import type { JsonObject } from '../json.ts'
import type { AssistantPart, CallPart, StoredMessage } from '../messages.ts'
import { listUntrusted } from '../messages.ts'
import type { Fact, InputBody, QuestionAnswer, Settlement } from './fact.ts'
import type {
  AskedQuestion,
  HistoryContent,
  HistoryEntry,
  HistoryNote,
  OpenQuestion,
  PlainHistory,
  PlainOpenBody,
} from './history-fold.ts'
import { foldFact, isStepOf } from './history-fold.ts'
import { makeWhole } from './render.ts'
import type { PlanEntry } from './spec.ts'
import type { IndexEntry } from './state.ts'

export type { HistoryEntry } from './history-fold.ts'
export type { OpenQuestion } from './history-fold.ts'

export interface OpenCall {
  readonly callId: string
  readonly name: string
  /** JSON text, as edited by a person if one did. */
  readonly arguments: string
  /** It has ended, and only waits for the other calls of its step. */
  readonly settled: boolean
  /** The description for people: a title, a kind, places, a diff. */
  readonly about?: JsonObject
}

/** A history as JSON. Stored in snapshots, which are disposable, so its shape may change with any version. */
export interface HistorySnapshot extends Readonly<PlainHistory> {
  readonly inputs: readonly (readonly [string, InputBody])[]
  readonly notes: readonly (readonly [number, HistoryNote])[]
  readonly left: readonly HistoryEntry[] | null
  readonly open:
    | (PlainOpenBody & {
        readonly edited: readonly (readonly [string, string])[]
        readonly settlements: readonly (readonly [string, Settlement])[]
        readonly questions: readonly (readonly [string, AskedQuestion])[]
      })
    | null
}

/** The part of a record that a history is folded from. */
interface FoldedRecord {
  readonly pos: number
  readonly facts: readonly Fact[]
}

export interface History {
  fold(record: FoldedRecord): void
  /** The messages of a request; the same objects each time, so that their encoding can be cached. */
  messages(fromEntry: number, toEntry: number): readonly StoredMessage[]
  entries(): readonly HistoryEntry[]
  openCall(callId: string): OpenCall | undefined
  /** The answer to the nth question of an open call; undefined while it is open or not asked. */
  answerTo(callId: string, n: number): QuestionAnswer | undefined
  openQuestions(): readonly OpenQuestion[]
  /** The plan of the newest `plan-set`. */
  plan(): readonly PlanEntry[]
  /**
   * Tools whose untrusted results the model has read since the conversation began, even if they have left the window.
   */
  untrusted(): readonly string[]
  /** The assistant's parts of the step whose calls are open. */
  openParts(): readonly AssistantPart[]
  /** The logged text of the running attempt, or of the last one. */
  progressText(): string
  /** Texts of the running turn's finished steps. */
  turnTexts(): readonly { readonly step: number; readonly text: string }[]
  /** The running turn's finished steps and their results, up to what the window still has. */
  turnMessages(): readonly StoredMessage[]
  /** The newest turn and the position of the record that began it. */
  lastTurn(): { readonly turn: number; readonly pos: number } | undefined
  /** Whether it has every entry of a state: a rewind may need entries that left the window. */
  has(index: readonly IndexEntry[]): boolean
  /** Replaces its content with another history folded from the same records. */
  takeOver(other: History): void
  /** All its content, for a snapshot. */
  takeSnapshot(): HistorySnapshot
}

/** A call of an answer that these records finish, as `History.openCall` has it before a person edits it. */
export function findNewCall(
  records: readonly { readonly facts: readonly Fact[] }[],
  callId: string,
): Pick<OpenCall, 'name' | 'arguments'> | undefined {
  for (const { facts } of records)
    for (const fact of facts)
      if (fact.type === 'step-finished')
        for (const part of fact.parts) if (part.type === 'call' && part.callId === callId) return makeWhole(part)
  return undefined
}

export interface HistoryOptions {
  /** Also keeps what left the window, for a rewind that reaches further back. */
  readonly keepAll?: boolean
  /** Continues from a snapshot. */
  readonly snapshot?: HistorySnapshot
}

export function createHistory(options: HistoryOptions = {}): History {
  return new FoldedHistory(options.snapshot ? restoreContent(options.snapshot) : emptyContent(options.keepAll === true))
}

interface Described {
  readonly part: CallPart
  readonly about: JsonObject | undefined
}

class FoldedHistory implements History {
  #content: HistoryContent
  /** Calls of the open step by id, built on first use. */
  #openCalls: { readonly of: readonly AssistantPart[]; readonly byId: ReadonlyMap<string, Described> } | undefined

  constructor(content: HistoryContent) {
    this.#content = content
  }

  fold(record: FoldedRecord): void {
    for (const fact of record.facts) {
      if (fact.type === 'turn-started') this.#content.lastTurn = { turn: fact.turn, pos: record.pos }
      foldFact(this.#content, fact)
    }
  }

  messages(fromEntry: number, toEntry: number): readonly StoredMessage[] {
    const asked: StoredMessage[] = []
    for (const { entry, messages } of this.#content.entries)
      if (entry >= fromEntry && entry <= toEntry) for (const message of messages) asked.push(message)
    return asked
  }

  entries(): readonly HistoryEntry[] {
    return this.#content.entries
  }

  openCall(callId: string): OpenCall | undefined {
    const { open } = this.#content
    if (!open) return undefined
    if (this.#openCalls?.of !== open.parts) {
      const about = new Map(open.described.map((call) => [call.callId, call.about]))
      const calls = open.parts.filter((part) => part.type === 'call')
      const byId = new Map(calls.map((part) => [part.callId, { part, about: about.get(part.callId) }]))
      this.#openCalls = { of: open.parts, byId }
    }
    const call = this.#openCalls.byId.get(callId)
    if (!call) return undefined
    const { part, about } = call
    const settled = open.settlements.has(callId)
    const given = open.edited.get(callId) ?? part.arguments
    return { callId, name: part.name, arguments: given, settled, ...(about && { about }) }
  }

  answerTo(callId: string, n: number): QuestionAnswer | undefined {
    const asked = [...(this.#content.open?.questions.values() ?? [])]
    return asked.find((question) => question.callId === callId && question.n === n)?.answer
  }

  openQuestions(): readonly OpenQuestion[] {
    const { questions, settlements } = this.#content.open ?? { questions: new Map(), settlements: new Map() }
    return [...questions.values()].filter(({ answer, callId }) => !answer && !settlements.has(callId))
  }

  plan(): readonly PlanEntry[] {
    return this.#content.plan
  }

  untrusted(): readonly string[] {
    const { entries, untrustedLeft } = this.#content
    return [...new Set([...untrustedLeft, ...listUntrusted(entries.flatMap(({ messages }) => messages))])]
  }

  openParts(): readonly AssistantPart[] {
    return this.#content.open?.parts ?? []
  }

  progressText(): string {
    return this.#content.progress.text
  }

  turnTexts(): HistoryContent['texts'] {
    return this.#content.texts.filter(({ text }) => text !== '')
  }

  turnMessages(): readonly StoredMessage[] {
    const steps = new Set(this.#content.texts.map(({ step }) => step))
    return this.#content.entries.flatMap((entry) => (isStepOf(entry, steps) ? entry.messages : []))
  }

  lastTurn(): { readonly turn: number; readonly pos: number } | undefined {
    return this.#content.lastTurn ?? undefined
  }

  has(index: readonly IndexEntry[]): boolean {
    const known = new Set(this.#content.entries.map(({ entry, role }) => `${role} ${entry}`))
    return index.every(({ entry, role }) => known.has(`${role} ${entry}`))
  }

  takeOver(other: History): void {
    this.#content = { ...restoreContent(other.takeSnapshot()), left: null }
  }

  takeSnapshot(): HistorySnapshot {
    return copyContent(this.#content)
  }
}

function emptyContent(keepAll: boolean): HistoryContent {
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
    plan: [],
    untrustedLeft: [],
  }
}

function copyContent({ inputs, notes, left, open, ...plain }: HistoryContent): HistorySnapshot {
  return {
    ...plain,
    inputs: [...inputs],
    notes: [...notes],
    left: left && [...left],
    open: open && {
      ...open,
      edited: [...open.edited],
      settlements: [...open.settlements],
      questions: [...open.questions],
    },
  }
}

function restoreContent({ inputs, notes, left, open, ...plain }: HistorySnapshot): HistoryContent {
  return {
    ...plain,
    inputs: new Map(inputs),
    notes: new Map(notes),
    left: left && [...left],
    open: open && {
      ...open,
      edited: new Map(open.edited),
      settlements: new Map(open.settlements),
      questions: new Map(open.questions),
    },
  }
}
