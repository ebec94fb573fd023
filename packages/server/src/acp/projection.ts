// Turns session events into updates for an editor, and the conversation too, when an editor loads a session. It knows no
// connection, and neither protocol version.
import type {
  CallView,
  EventBody,
  Principal,
  SessionEvent,
  SessionEventOf,
  StoredPart,
  UserMessageView,
  ChatMessage,
  Session,
} from '@baton/core/internal'
import { readRequest } from '@baton/core/internal'
import type { CallPlace } from './shown-call.ts'
import { cutText, showCall, textBlock, toBlock } from './shown-call.ts'
import type { Block, Update } from './updates.ts'
import { readPages } from '../shared/message-pages.ts'
import { ownerDecides } from '../shared/owner-decides.ts'

export interface ProjectionOptions extends CallPlace {
  /** Whether this connection sent the message, and so shows it already. */
  readonly isOwn: (message: string) => boolean
  readonly nowMs: () => number
  /** The session's owner, whose editor it is. */
  readonly principal: Principal
}

/** The id of a step's text or thoughts, the same each time the session is sent. */
export function nameText({ message, step }: { readonly message: string; readonly step: number }): string {
  return `${message}.${step}`
}

export function nameThought(of: { readonly message: string; readonly step: number }): string {
  return `${nameText(of)}.thought`
}

/** Maximum characters of a running tool's note. */
const NOTE_CHARS = 4000

export class Projection {
  readonly #init: ProjectionOptions
  /** Text and thoughts of the current step sent so far. */
  readonly #told = { text: '', thought: '' }
  #step = ''
  /**
   * The last update of each unsettled call of the turn: the session reports more often than an editor's view changes.
   */
  readonly #calls = new Map<string, string>()
  /** Calls that run in the background. */
  readonly #tasks = new Set<string>()
  /** Calls known from the history. */
  readonly #knownCalls: ReadonlySet<string>
  #costMicros: number | undefined
  #summaries = 0

  constructor(
    init: ProjectionOptions,
    known: { readonly calls?: ReadonlySet<string>; readonly costMicros?: number } = {},
  ) {
    this.#init = init
    this.#knownCalls = known.calls ?? new Set()
    this.#costMicros = known.costMicros
  }

  take(event: SessionEvent): readonly Update[] | Promise<readonly Update[]> {
    switch (event.type) {
      case 'text':
      case 'reasoning':
        return this.#write(event)
      case 'message-added':
        return event.message.role === 'user' ? this.#showMessage(event.message) : RUNNING
      case 'call':
        return this.#showCall(event.call)
      case 'call-progress':
        return this.#showNote(event)
      case 'step-reset':
        return this.#takeBack(event, 0)
      case 'text-cut':
        return this.#takeBack(event, event.keepChars)
      case 'step-finished':
        return this.#showUse(event)
      case 'turn-finished':
        for (const callId of this.#calls.keys()) if (!this.#tasks.has(callId)) this.#calls.delete(callId)
        return [{ type: 'ended', end: { stop: event.stop, ...(event.error && { error: event.error }) } }]
      case 'session':
        return showSession(event, this.#init.nowMs())
      default:
        return this.#showNews(event)
    }
  }

  #showNews(event: EventBody): readonly Update[] {
    switch (event.type) {
      case 'compacted': {
        const { text: summary } = event
        this.#summaries += 1
        return [{ type: 'compacted', id: `compaction-${this.#summaries}`, ...(summary !== undefined && { summary }) }]
      }
      case 'limit':
        return [{ type: 'notice', severity: event.reached ? 'warning' : 'info', title: describeLimit(event) }]
      case 'content-left-out': {
        const title = 'The provider refused an image or a file, so the model got a note instead'
        return [{ type: 'notice', severity: 'warning', title, text: event.reason }]
      }
      default: {
        const change = readRequest(event)
        if (change?.type === 'approval' && !ownerDecides(this.#init.principal, change.asked.call)) return NOTHING
        return change ? (change.type === 'over' ? RUNNING : WAITING) : NOTHING
      }
    }
  }

  #enterStep(id: string): void {
    if (this.#step === id) return
    this.#step = id
    this.#told.text = ''
    this.#told.thought = ''
  }

  /** Skips text that was already sent. */
  #write(event: SessionEventOf<'text' | 'reasoning'>): readonly Update[] {
    this.#enterStep(nameText(event))
    const type = event.type === 'text' ? 'text' : 'thought'
    const text = event.text.slice(Math.max(0, this.#told[type].length - event.offset))
    if (text === '') return NOTHING
    this.#told[type] += text
    return [{ type, id: type === 'text' ? nameText(event) : nameThought(event), text }]
  }

  #takeBack(of: { readonly message: string; readonly step: number }, keepChars: number): readonly Update[] {
    if (this.#step !== nameText(of)) return NOTHING
    const { text, thought } = this.#told
    this.#told.text = text.slice(0, keepChars)
    if (keepChars === 0) this.#told.thought = ''
    return [
      ...(text.length > keepChars
        ? [{ type: 'text-replaced', id: nameText(of), text: this.#told.text } as const]
        : NOTHING),
      ...(thought !== '' && keepChars === 0
        ? [{ type: 'thought-replaced', id: nameThought(of), text: '' } as const]
        : NOTHING),
    ]
  }

  async #showMessage(message: UserMessageView): Promise<readonly Update[]> {
    const content = await showParts(message, this.#init)
    return [{ type: 'user-message', id: message.id, content, isOwn: this.#init.isOwn(message.id) }]
  }

  async #showCall(call: CallView): Promise<readonly Update[]> {
    const isNew = !this.#calls.has(call.callId) && !this.#knownCalls.has(call.callId)
    const shown = await showCall(call, this.#init)
    const told = call.status === 'settled' ? '' : JSON.stringify(shown)
    if (told !== '' && this.#calls.get(call.callId) === told) return NOTHING
    this.#calls.set(call.callId, told)
    // It continues after its turn.
    if (call.task === 'running') this.#tasks.add(call.callId)
    else this.#tasks.delete(call.callId)
    return [{ type: 'call', call: shown, isNew }]
  }

  #showNote({ callId, note }: SessionEventOf<'call-progress'>): readonly Update[] {
    const text = cutText(typeof note === 'string' ? note : JSON.stringify(note), NOTE_CHARS)
    return [{ type: 'call-content', callId, content: [{ type: 'content', content: textBlock(text) }] }]
  }

  #showUse({ context, usage }: SessionEventOf<'step-finished'>): readonly Update[] {
    if (usage.costMicros !== undefined) this.#costMicros = (this.#costMicros ?? 0) + usage.costMicros
    if (context?.size === undefined) return NOTHING
    const { used, size } = context
    const costMicros = this.#costMicros
    return [{ type: 'usage', used, size, ...(costMicros !== undefined && { costMicros }) }]
  }
}

/** Frozen, because it is shared. */
const NOTHING: readonly never[] = Object.freeze([])
const RUNNING: readonly Update[] = [{ type: 'state', state: 'running' }]
const WAITING: readonly Update[] = [{ type: 'state', state: 'requires_action' }]

/** Marks text from a speaker or a program to distinguish it from a user's. */
export async function showParts(
  { from, speaker, name, parts, detail }: UserMessageView,
  place: Pick<CallPlace, 'media' | 'resultChars'>,
): Promise<readonly Block[]> {
  const blocks = await Promise.all((parts as readonly StoredPart[]).map((part) => toBlock(part, place)))
  if (from === 'user') return blocks
  const who = from === 'transcript' ? `${speaker ?? 'somebody'}: ` : `[${name ?? 'event'}] `
  const told = detail === undefined ? '' : JSON.stringify(detail)
  return [textBlock(`${who}${told}`), ...blocks]
}

function showSession({ title, plan }: SessionEventOf<'session'>, atMs: number): readonly Update[] {
  return [
    ...(plan ? [{ type: 'plan', entries: plan } as const] : NOTHING),
    ...(title !== undefined ? [{ type: 'title', title, atMs } as const] : NOTHING),
  ]
}

const LIMITS = {
  rounds: 'rounds of tool calls',
  calls: 'tool calls',
  tokens: 'tokens',
  cost: 'cost',
  time: 'time',
  output: 'output tokens',
  messages: 'messages that the model reads',
  wakes: 'turns that tasks alone began',
} as const

function describeLimit({ limit, reached, used, max }: Omit<SessionEventOf<'limit'>, 'cursor'>): string {
  const figures = used === undefined || max === undefined ? '' : ` (${figure(limit, used)} of ${figure(limit, max)})`
  return reached
    ? `The turn has reached its limit of ${LIMITS[limit]}${figures}`
    : `The turn has used four fifths of its limit of ${LIMITS[limit]}${figures}`
}

function figure(limit: keyof typeof LIMITS, value: number): string {
  if (limit === 'cost') return `${(value / 1_000_000).toFixed(4)} US$`
  return limit === 'time' ? `${Math.round(value / 1000)} s` : String(value)
}

export interface History {
  /** Oldest first. */
  readonly messages: readonly ChatMessage[]
  /** Whether older messages were left out. */
  readonly isCut: boolean
  /** The cursor where events continue. */
  readonly next: Awaited<ReturnType<Session['messages']>>['next']
}

const PAGE = 200

/**
 * Leaves out waiting inputs, which are sent when the model reads them. @throws BatonError `store_failed`, `log_damaged`
 */
export async function readHistory(session: Session, most: number): Promise<History> {
  let pages: (readonly ChatMessage[])[] = []
  let count = 0
  let isCut = false
  let next: History['next'] = { pos: 0 }
  for await (const page of readPages(session, Math.min(PAGE, most))) {
    if (page.isNewest) {
      pages = []
      count = 0
      next = page.next
    }
    pages.unshift(page.messages)
    count += page.messages.length
    isCut = page.more || count > most
    if (count >= most) break
  }
  return { messages: pages.flat().slice(-most), isCut, next }
}

export function sumCost(messages: readonly ChatMessage[]): number | undefined {
  const costs = messages.map((message) => (message.role === 'assistant' ? message.usage?.costMicros : undefined))
  return costs.reduce((sum, cost) => (cost === undefined ? sum : (sum ?? 0) + cost), undefined)
}

export function listCalls(messages: readonly ChatMessage[]): ReadonlySet<string> {
  const steps = messages.flatMap((message) => (message.role === 'assistant' ? message.steps : []))
  return new Set(steps.flatMap(({ calls }) => calls.map(({ callId }) => callId)))
}

export async function showMessage(message: ChatMessage, place: CallPlace): Promise<readonly Update[]> {
  if (message.role === 'user') {
    const content = await showParts(message, place)
    return [{ type: 'user-message', id: message.id, content, isOwn: false }]
  }
  const updates: Update[] = []
  for (const { step, text, reasoning, calls } of message.steps) {
    const of = { message: message.id, step }
    if (reasoning !== '') updates.push({ type: 'whole-thought', id: nameThought(of), text: reasoning })
    if (text !== '') updates.push({ type: 'whole-text', id: nameText(of), text })
    for (const call of calls) updates.push({ type: 'call', call: await showCall(call, place), isNew: true })
  }
  return updates
}
