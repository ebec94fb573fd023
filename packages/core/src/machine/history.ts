// The history with its bodies, folded from records: turns a range of entries into messages. State has only the index.
import type { AssistantPart, CallPart, MediaSource, StoredMessage, UserMessage } from '../messages.ts'
import { listUntrusted, readText } from '../messages.ts'
import type { CallProposal, Fact, FactOf, InputBody, QuestionAnswer } from './fact.ts'
import { isVisible, makeWhole, renderInputs, text } from './render.ts'
import type { OpenBody, OpenCall, OpenQuestion, AskedQuestion, PlainOpenBody, SettledCall } from './render.ts'
import { answerIn, describeCalls, stepMessages } from './render.ts'
import type { CallSpan } from './call-spans.ts'
import { foldSpans } from './call-spans.ts'
import type { TaskBody } from './task-bodies.ts'
import {
  addTold,
  beginTask,
  editTask,
  endTask,
  forgetTasks,
  noteTaskQuestion,
  openTask,
  readGiven,
} from './task-bodies.ts'
import type { IndexEntry, PlanEntry } from './values.ts'
import type { RelayedRequest } from './relayed-entries.ts'
import { decideRelayed, findRelayedCall, foldRelayed } from './relayed-entries.ts'
import { cutParts, wholeChars } from './size.ts'
import { leaveOutOfInput, leaveOutOfResults } from './left-out.ts'

/** A history as JSON. Stored in snapshots, which are disposable, so its shape may change with any version. */
export interface HistorySnapshot extends Readonly<PlainHistory> {
  readonly inputs: readonly (readonly [string, InputBody])[]
  readonly notes: readonly (readonly [number, HistoryNote])[]
  readonly left: readonly HistoryEntry[] | null
  readonly relayed: readonly RelayedRequest[]
  readonly tasks: readonly TaskBody[]
  readonly spans: readonly CallSpan[]
  readonly open:
    | (PlainOpenBody & {
        readonly edited: readonly (readonly [string, string])[]
        readonly settlements: readonly (readonly [string, SettledCall])[]
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
  /** Requests of sessions below that are not closed there, oldest first. */
  relayed(): readonly RelayedRequest[]
  /** Open tasks and the newest ended ones, oldest first. */
  tasks(): readonly TaskBody[]
  /** Calls that outlive their turns: the open ones, and the newest that have ended. */
  spans(): readonly CallSpan[]
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
  readonly described: OpenBody['described'][number] | undefined
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
      if (SPANNING.has(fact.type) || (fact.type === 'call-settled' && fact.task))
        this.#content.spans = foldSpans(this.#content.spans, fact, record.pos, this.#content.lastTurn?.pos ?? 0)
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
    const { open, tasks } = this.#content
    const task = tasks.size === 0 ? undefined : openTask(tasks, callId)
    if (task) return task
    if (!open) return this.#content.relayed.size === 0 ? undefined : findRelayedCall(this.#content.relayed, callId)
    if (this.#openCalls?.of !== open.parts) {
      const described = new Map(open.described.map((call) => [call.callId, call]))
      const calls = open.parts.filter((part) => part.type === 'call')
      const byId = new Map(calls.map((part) => [part.callId, { part, described: described.get(part.callId) }]))
      this.#openCalls = { of: open.parts, byId }
    }
    const call = this.#openCalls.byId.get(callId)
    if (!call) return this.#content.relayed.size === 0 ? undefined : findRelayedCall(this.#content.relayed, callId)
    const { part, described: { about, chooses } = {} } = call
    const settled = open.settlements.has(callId)
    const given = open.edited.get(callId) ?? readGiven(part.arguments, chooses)
    return { callId, name: part.name, arguments: given, settled, ...(about && { about }) }
  }

  answerTo(callId: string, n: number): QuestionAnswer | undefined {
    const { open, tasks } = this.#content
    const asked = [...(open?.questions.values() ?? []), ...[...tasks.values()].flatMap(({ questions }) => questions)]
    return asked.find((question) => question.callId === callId && question.n === n)?.answer
  }

  openQuestions(): readonly OpenQuestion[] {
    const { questions, settlements } = this.#content.open ?? { questions: new Map(), settlements: new Map() }
    const own = [...questions.values()].filter(({ answer, callId }) => !answer && !settlements.has(callId))
    const ofTasks = [...this.#content.tasks.values()].filter(({ ended }) => !ended)
    return [...own, ...ofTasks.flatMap((task) => task.questions.filter(({ answer }) => !answer))]
  }

  relayed(): readonly RelayedRequest[] {
    return [...this.#content.relayed.values()]
  }

  spans(): readonly CallSpan[] {
    return this.#content.spans
  }

  tasks(): readonly TaskBody[] {
    return [...this.#content.tasks.values()]
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

/** Facts that begin and end calls that may outlive their turns, beside receipts. */
const SPANNING: ReadonlySet<Fact['type']> = new Set(['child-begun', 'task-settled', 'child-closed', 'child-lost'])

function emptyContent(keepAll: boolean): HistoryContent {
  return {
    inputs: new Map(),
    notes: new Map(),
    entries: [],
    left: keepAll ? [] : null,
    relayed: new Map(),
    tasks: new Map(),
    spans: [],
    exchange: 0,
    lastTurn: null,
    open: null,
    texts: [],
    progress: { attempt: 0, text: '' },
    plan: [],
    untrustedLeft: [],
  }
}

function copyContent({ inputs, notes, left, relayed, tasks, open, ...plain }: HistoryContent): HistorySnapshot {
  return {
    ...plain,
    inputs: [...inputs],
    notes: [...notes],
    left: left && [...left],
    relayed: [...relayed.values()],
    tasks: [...tasks.values()],
    open: open && {
      ...open,
      edited: [...open.edited],
      settlements: [...open.settlements],
      questions: [...open.questions],
    },
  }
}

function restoreContent({ inputs, notes, left, relayed, tasks, open, ...plain }: HistorySnapshot): HistoryContent {
  return {
    ...plain,
    inputs: new Map(inputs),
    notes: new Map(notes),
    left: left && [...left],
    relayed: new Map(relayed.map((one) => [one.id, one])),
    tasks: new Map(tasks.map((one) => [one.callId, one])),
    open: open && {
      ...open,
      edited: new Map(open.edited),
      settlements: new Map(open.settlements),
      questions: new Map(open.questions),
    },
  }
}

/** One entry's messages: a user message, or an assistant message with its results. */
export interface HistoryEntry {
  readonly entry: number
  readonly exchange: number
  readonly role: 'user' | 'step' | 'summary'
  /** Empty if nothing visible is left of an answer. */
  readonly messages: readonly StoredMessage[]
}

/** The part of a history that is plain JSON. */
export interface PlainHistory {
  entries: readonly HistoryEntry[]
  exchange: number
  lastTurn: { readonly turn: number; readonly pos: number } | null
  texts: readonly { readonly step: number; readonly text: string }[]
  /** Progress of the running attempt; the text of an ended one is in the history, or dropped. */
  progress: { readonly attempt: number; readonly text: string }
  plan: readonly PlanEntry[]
  /** Tools whose untrusted results left the window. */
  untrustedLeft: readonly string[]
}

export interface HistoryNote {
  readonly text: string
  /** The tool whose untrusted words it quotes. */
  readonly untrusted?: string
}

export interface HistoryContent extends PlainHistory {
  readonly inputs: Map<string, InputBody>
  readonly notes: Map<number, HistoryNote>
  /** Entries that left the window; kept only if a rewind may need them. */
  readonly left: HistoryEntry[] | null
  readonly relayed: Map<string, RelayedRequest>
  readonly tasks: Map<string, TaskBody>
  spans: readonly CallSpan[]
  open: OpenBody | null
}

/** Folds one fact into the content, in place. */
export function foldFact(content: HistoryContent, fact: Fact): void {
  switch (fact.type) {
    case 'input-accepted':
      content.inputs.set(fact.inputId, fact.body)
      break
    case 'input-withdrawn':
      content.inputs.delete(fact.inputId)
      break
    case 'note-queued': {
      const { note, text, untrusted } = fact
      content.notes.set(note, { text, ...(untrusted !== undefined && { untrusted }) })
      break
    }
    case 'inputs-entered':
      enter(content, fact)
      break
    case 'turn-started':
      content.texts = []
      content.exchange = fact.exchange
      break
    case 'model-started':
      content.progress = { attempt: fact.attempt, text: '' }
      break
    case 'attempt-progressed':
      content.progress = { attempt: fact.attempt, text: content.progress.text.slice(0, fact.offset) + fact.text }
      break
    case 'step-finished':
      openStep(content, fact.step, fact.parts, fact.calls)
      break
    case 'step-salvaged':
      openStep(content, fact.step, cutParts([text(content.progress.text)], fact.textChars), [])
      break
    case 'turn-finished':
      content.progress = { attempt: 0, text: '' }
      break
    case 'approval-decided':
      if (fact.via !== undefined) decideRelayed(content.relayed, fact)
      else if (content.tasks.has(fact.callId)) editTask(content.tasks, fact)
      else if (fact.edited) content.open?.edited.set(fact.callId, fact.edited.arguments)
      break
    case 'question-asked':
    case 'question-answered':
      noteQuestion(content, fact)
      break
    case 'call-settled':
      if (fact.via !== undefined) break
      if (fact.task) beginTask(content.tasks, content.open, placeTask(content, fact.callId))
      content.open?.settlements.set(fact.callId, readTold(content, fact))
      break
    case 'task-settled':
      endTask(content.tasks, { callId: fact.callId, ended: readSettled(fact) })
      break
    case 'request-relayed':
    case 'request-withdrawn':
      foldRelayed(content.relayed, fact)
      break
    case 'step-closed':
      closeStep(content, fact.entry)
      break
    default:
      foldEdit(content, fact)
  }
}

/** The step of the call gets the next entry. */
function placeTask({ entries, lastTurn }: HistoryContent, callId: string): Parameters<typeof beginTask>[2] {
  return { callId, since: lastTurn?.pos ?? 0, entry: (entries.at(-1)?.entry ?? 0) + 1 }
}

function readTold(content: HistoryContent, fact: FactOf<'call-settled'>): SettledCall {
  const settled = readSettled(fact)
  return fact.told ? addTold(content.tasks, settled, fact.told) : settled
}

function readSettled({ settlement, provenance, detail }: FactOf<'call-settled' | 'task-settled'>): SettledCall {
  return { settlement, ...(provenance && { provenance }), ...(detail !== undefined && { detail }) }
}

function noteQuestion(content: HistoryContent, fact: FactOf<'question-asked' | 'question-answered'>): void {
  if (noteTaskQuestion(content.tasks, fact) || !content.open) return
  const { questions } = content.open
  if (fact.type === 'question-asked') {
    const { callId, questionId, n, message, schema, expiresAtMs } = fact
    questions.set(questionId, { callId, questionId, n, message, schema, expiresAtMs })
  } else {
    const asked = questions.get(fact.questionId)
    if (asked) questions.set(fact.questionId, { ...asked, answer: answerIn(fact) })
  }
}

/** Facts that change existing history. */
function foldEdit(content: HistoryContent, fact: Fact): void {
  switch (fact.type) {
    case 'window-moved':
      drop(content, fact.fromEntry)
      rebase(content, fact.fromEntry)
      break
    case 'summary-finished':
      replaceBySummary(content, fact)
      break
    case 'answer-cut':
      cutAnswer(content, fact)
      break
    case 'inputs-left-out':
      leaveOut(content, fact)
      break
    case 'results-moved':
      moveResults(content, fact)
      break
    case 'output-refused':
      // Its output is void for people. The model still reads it, with the reason.
      content.texts = content.texts.map((said) => (said.step === fact.step ? { ...said, text: '' } : said))
      break
    case 'plan-set':
      content.plan = fact.entries
      break
    case 'history-rewound': {
      if (fact.index.length === 0) content.untrustedLeft = []
      forgetTasks(content.tasks, fact)
      const known = [...(content.left ?? []), ...content.entries]
      content.entries = fact.index.flatMap(
        ({ entry, role }) => known.findLast((one) => one.entry === entry && one.role === role) ?? [],
      )
      break
    }
    default:
      break
  }
}

/** Messages remember the inputs and notes they contain, so that their bodies are removed with them. */
interface UserEntry extends HistoryEntry {
  readonly inputs: readonly string[]
  readonly notes: readonly number[]
}

function enter(content: HistoryContent, fact: FactOf<'inputs-entered'>): void {
  const entered = fact.entries.map(({ entry, inputs, notes }): UserEntry => {
    const messages = [createUserMessage(content, inputs, notes)]
    return { entry, exchange: fact.exchange, role: 'user', inputs, notes, messages }
  })
  content.entries = [...content.entries, ...entered]
}

function createUserMessage(
  content: HistoryContent,
  inputs: readonly string[],
  notes: readonly number[],
): UserMessage<MediaSource> {
  const told = notes.map((note) => content.notes.get(note) ?? { text: '' })
  const bodies = inputs.flatMap((inputId) => content.inputs.get(inputId) ?? [])
  const marked = bodies.flatMap((body) => (body.type === 'transcript' ? [] : (body.untrusted ?? [])))
  const untrusted = [...new Set([...told.flatMap((note) => note.untrusted ?? []), ...marked])]
  const parts = [...told.map((note) => text(note.text)), ...renderInputs(bodies)]
  const known = untrusted.length > 0 && bodies.findLast((body) => body.type === 'user' && body.known !== undefined)
  return {
    role: 'user',
    parts,
    ...(untrusted.length > 0 && { untrusted }),
    ...(known && known.type === 'user' && known.known && { known: known.known }),
  }
}

function moveResults(content: HistoryContent, { calls, sizes: [first] }: FactOf<'results-moved'>): void {
  const move = (message: StoredMessage): StoredMessage =>
    message.role !== 'tool' || !message.parts.some(({ callId }) => calls.includes(callId))
      ? message
      : {
          ...message,
          parts: message.parts.map((part) => (calls.includes(part.callId) ? { ...part, moved: true as const } : part)),
        }
  content.entries = content.entries.map((entry) => {
    const messages = entry.messages.map(move)
    return messages.some((message, at) => message !== entry.messages[at]) ? { ...entry, messages } : entry
  })
  if (first) rebase(content, first.entry + 1)
}

/** Changes the bodies too, so that a repeated input comes without the removed content. */
function leaveOut(content: HistoryContent, fact: FactOf<'inputs-left-out'>): void {
  const { inputs, steps = [], sizes } = fact
  const staying = new Map(sizes.flatMap(({ entry, media }) => (media ? [[entry, media] as const] : [])))
  const stayOf = new Map(
    [...staying.values()].flatMap(({ parts, inputs: of = [] }) => of.map((inputId) => [inputId, parts] as const)),
  )
  for (const inputId of inputs) {
    const body = content.inputs.get(inputId)
    if (body) content.inputs.set(inputId, leaveOutOfInput(body, fact, stayOf.get(inputId) ?? 0))
  }
  let first = Infinity
  content.entries = content.entries.map((entry) => {
    const { inputs: brought = [], notes = [] } = entry as Partial<UserEntry> // only a user's entry has them
    const isStepLeft = steps.some((step) => isStep(entry, step))
    if (!isStepLeft && !brought.some((inputId) => inputs.includes(inputId))) return entry
    first = Math.min(first, entry.entry)
    if (!isStepLeft) return { ...entry, messages: [createUserMessage(content, brought, notes)] }
    const stay = staying.get(entry.entry)?.parts ?? 0
    const without = (message: StoredMessage) =>
      message.role === 'tool' ? leaveOutOfResults(message, fact, stay) : message
    return { ...entry, messages: entry.messages.map(without) }
  })
  rebase(content, first + 1)
}

function openStep(
  content: HistoryContent,
  step: number,
  said: readonly AssistantPart[],
  calls: readonly CallProposal[],
): void {
  const parts = said.map((part) => makeWhole(part))
  content.progress = { attempt: 0, text: '' }
  content.open = {
    step,
    exchange: content.exchange,
    parts,
    rebased: false,
    described: describeCalls(calls),
    edited: new Map(),
    settlements: new Map(),
    questions: new Map(),
  }
  content.texts = [...content.texts, { step, text: readText(parts) }]
}

/** Messages remember their step, so that a later cut finds them. */
type StepEntry = HistoryEntry & { readonly step: number }

export function isStepOf(entry: HistoryEntry, steps: ReadonlySet<number>): boolean {
  return entry.role === 'step' && steps.has((entry as StepEntry).step) // set by closeStep
}

function isStep(entry: HistoryEntry, step: number | undefined): boolean {
  return entry.role === 'step' && (entry as StepEntry).step === step // set by closeStep
}

function closeStep(content: HistoryContent, entry: number): void {
  const open = content.open
  if (!open) return
  const closed: StepEntry = {
    entry,
    exchange: open.exchange,
    role: 'step',
    step: open.step,
    messages: stepMessages(open),
  }
  content.entries = [...content.entries, closed]
  content.open = null
}

function drop(content: HistoryContent, fromEntry: number): void {
  const leaving = content.entries.filter(({ entry }) => entry < fromEntry)
  const told = leaving.flatMap(({ messages }) => messages)
  content.untrustedLeft = [...new Set([...content.untrustedLeft, ...listUntrusted(told)])]
  leave(content, leaving)
  content.entries = content.entries.filter(({ entry }) => entry >= fromEntry)
}

/** Frees what no rewind can need, bodies included. */
function leave(content: HistoryContent, entries: readonly HistoryEntry[]): void {
  if (content.left) {
    content.left.push(...entries)
    return
  }
  for (const entry of entries) {
    const { inputs = [], notes = [] } = entry as Partial<UserEntry> // only a user's entry has them
    inputs.forEach((inputId) => content.inputs.delete(inputId))
    notes.forEach((note) => content.notes.delete(note))
  }
}

function replaceBySummary(content: HistoryContent, fact: FactOf<'summary-finished'>): void {
  const older = content.entries.filter((entry) => entry.entry < fact.fromEntry)
  const newer = content.entries.filter((entry) => entry.entry > fact.toEntry)
  const replaced = content.entries.filter((entry) => entry.entry >= fact.fromEntry && entry.entry <= fact.toEntry)
  const untrusted = listUntrusted(replaced.flatMap(({ messages }) => messages))
  const summary: HistoryEntry = {
    entry: fact.toEntry,
    exchange: replaced.at(-1)?.exchange ?? 0,
    role: 'summary',
    messages: [
      {
        role: 'user',
        parts: [text(`[Summary of the conversation so far] ${fact.text}`)],
        ...(untrusted.length > 0 && { untrusted }),
      },
    ],
  }
  leave(content, replaced)
  content.entries = [...older, summary, ...newer]
  rebase(content, fact.toEntry)
}

/** Marks the answers from an entry on: the preceding messages are not what their model saw. */
function rebase(content: HistoryContent, fromEntry: number): void {
  content.entries = content.entries.map((entry) => {
    const [first] = entry.messages
    if (entry.entry < fromEntry || first?.role !== 'assistant' || first.rebased) return entry
    return { ...entry, messages: [{ ...first, rebased: true }, ...entry.messages.slice(1)] }
  })
}

/** The first cut entry may disappear completely, and a step that is still open follows it too. */
function cutAnswer(content: HistoryContent, fact: FactOf<'answer-cut'>): void {
  // A summary may have replaced earlier ones.
  const first = content.entries.find((entry) => fact.cuts.some(({ step }) => isStep(entry, step)))
  for (const cut of fact.cuts) cutStep(content, cut.step, cut.keepChars)
  if (!first) return
  rebase(content, first.entry + 1)
  if (content.open) content.open = { ...content.open, rebased: true }
}

function cutStep(content: HistoryContent, step: number, keepChars: number): void {
  content.texts = content.texts.map((said) =>
    said.step === step ? { step, text: said.text.slice(0, wholeChars(said.text, keepChars)) } : said,
  )
  if (content.open?.step === step) content.open = { ...content.open, parts: cutParts(content.open.parts, keepChars) }
  content.entries = content.entries.flatMap((entry) => {
    if (!isStep(entry, step)) return [entry]
    const [assistant, ...results] = entry.messages
    if (results.length === 0 && keepChars === 0) return []
    if (assistant?.role !== 'assistant') return [entry]
    const parts = cutParts(assistant.parts, keepChars)
    if (results.length > 0) return [{ ...entry, messages: [{ ...assistant, parts }, ...results] }]
    return [{ ...entry, messages: isVisible(parts) ? [{ ...assistant, parts }] : [] }]
  })
}
