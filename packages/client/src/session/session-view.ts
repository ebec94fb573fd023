// The shown state of a session: its messages, open calls and questions, folded from events. Every array is replaced
// when it changes, and only then.
import type {
  AssistantChatMessage,
  CallView,
  ChatMessage,
  EventError,
  JsonValue,
  MessageId,
  ModelSettings,
  PendingApproval,
  PendingQuestion,
  PlanEntry,
  SessionActivity,
  SessionDetails,
  SessionEvent,
} from '@baton/core/internal'
import { Conversation } from '@baton/core/conversation'
import type { ChildMessages } from './child-views.ts'

/** An unsettled call. */
export interface OpenCallView<Call extends CallView = CallView> {
  readonly call: Call
  /** The newest note of its tool. */
  readonly progress?: JsonValue
}

/** A call's input as the model writes it. */
export interface WrittenCall {
  readonly callId: string
  readonly message: MessageId
  readonly step: number
  readonly name: string
  /** Incomplete JSON text. */
  readonly text: string
}

/** Why the model's answer was discarded, while the model is called again. */
export interface RetryView {
  readonly message: MessageId
  readonly reason: string
  readonly error: EventError | undefined
  readonly retryAtMs: number | undefined
}

export interface ViewState {
  readonly calls: readonly OpenCallView[]
  readonly writing: readonly WrittenCall[]
  readonly approvals: readonly PendingApproval[]
  readonly questions: readonly PendingQuestion[]
  readonly plan: readonly PlanEntry[]
  readonly activity: SessionActivity
  readonly agent: string
  readonly model: string
  readonly models: readonly string[]
  readonly title: string | null
  readonly meta: SessionDetails['meta']
  readonly settings: ModelSettings | undefined
  readonly retrying: RetryView | undefined
  /**
   * With the option `children`: delegated calls that run, or ran since the session was read, in the order of their first
   * events; the newest 64.
   */
  readonly children: readonly ChildMessages[]
}

export const EMPTY_VIEW: ViewState = {
  calls: [],
  writing: [],
  approvals: [],
  questions: [],
  plan: [],
  activity: 'idle',
  agent: '',
  model: '',
  models: [],
  title: null,
  meta: {},
  settings: undefined,
  retrying: undefined,
  children: [],
}

type EventOf<Type extends SessionEvent['type']> = Extract<SessionEvent, { readonly type: Type }>

export class SessionView {
  #conversation = new Conversation()
  /** Takes events of delegated calls, and those that remove messages. */
  below: ((event: SessionEvent) => void) | undefined
  /** Replaced whenever one of its fields changes. */
  state: ViewState = EMPTY_VIEW

  messages(): readonly ChatMessage[] {
    return this.#conversation.messages()
  }

  has(message: MessageId): boolean {
    return this.#conversation.has(message)
  }

  /** The newest answer, whose turn may have ended. */
  answer(): AssistantChatMessage | undefined {
    return this.messages().findLast((message) => message.role === 'assistant')
  }

  addOlder(page: readonly ChatMessage[]): void {
    this.#conversation.addOlder(page)
  }

  /** Replaces the whole state with the session's current one. Repeated events may follow, and are harmless. */
  load(page: readonly ChatMessage[], info: SessionDetails): void {
    this.#conversation = new Conversation(page)
    this.state = EMPTY_VIEW
    for (const message of page)
      if ('steps' in message) for (const { calls } of message.steps) for (const call of calls) this.#takeCall(call)
    this.#copy(info)
  }

  /** Loads the code for `children`; events that arrive before wait for it. @throws what the import throws */
  async followChildren(): Promise<void> {
    const early: SessionEvent[] = []
    this.below = (event) => void early.push(event)
    const { followChildren } = await import('./child-views.ts').catch((cause: unknown) => {
      this.below = undefined
      throw cause
    })
    this.below = followChildren(this, () => new Conversation())
    early.forEach(this.below)
  }

  take(event: SessionEvent): void {
    if (isBelow(event)) return this.below?.(event)
    const { calls, writing, approvals, questions } = this.state
    this.#conversation.take(event)
    switch (event.type) {
      case 'call':
        this.#takeCall(event.call)
        break
      case 'call-writing':
        this.#takeWriting(event)
        break
      case 'call-progress':
        this.set({
          calls: calls.map((open) => (open.call.callId === event.callId ? { ...open, progress: event.note } : open)),
        })
        break
      case 'step-reset':
        this.#reset(event)
        break
      case 'step-started':
        this.set({ retrying: undefined })
        break
      case 'turn-finished':
        this.set({ writing: [], retrying: undefined })
        break
      case 'approval-requested': {
        const { approvalId, call, expiresAtMs } = event
        // As in `session.info`. Its input has been validated against the tool's schema, an object at its root, or no
        // approval would be requested.
        this.set({
          approvals: put(
            approvals,
            { ...(call as CallView & Pick<PendingApproval, 'input'>), approvalId, expiresAtMs },
            ({ callId }) => callId === call.callId,
          ),
        })
        break
      }
      case 'approval-decided':
        this.set({ approvals: drop(approvals, ({ approvalId }) => approvalId === event.approvalId) })
        break
      case 'question-asked': {
        const { type: _, cursor: __, at: ___, ...question } = event
        this.set({ questions: put(questions, question, ({ questionId }) => questionId === event.questionId) })
        break
      }
      case 'request-withdrawn':
        this.set({
          approvals: drop(approvals, ({ approvalId }) => approvalId === event.requestId),
          questions: drop(questions, ({ questionId }) => questionId === event.requestId),
        })
        break
      case 'question-answered':
        this.set({ questions: drop(questions, ({ questionId }) => questionId === event.questionId) })
        break
      case 'session':
        this.#copy(event)
        break
      case 'messages-removed':
        this.set({
          calls: drop(calls, ({ call }) => !this.has(call.message)),
          writing: drop(writing, ({ message }) => !this.has(message)),
        })
        this.below?.(event)
        break
      default:
    }
  }

  #takeCall(call: CallView): void {
    const { calls, writing, approvals, questions } = this.state
    const { callId, status } = call
    const isIt = (one: { readonly callId: string }): boolean => one.callId === callId
    const isOver = status === 'settled'
    const isOpen = (open: OpenCallView): boolean => isIt(open.call)
    this.set({
      calls: isOver ? drop(calls, isOpen) : put(calls, { ...calls.find(isOpen), call }, isOpen),
      writing: drop(writing, isIt),
      approvals: status === 'awaiting-approval' ? approvals : drop(approvals, isIt),
      questions: isOver ? drop(questions, isIt) : questions,
    })
  }

  #takeWriting({ callId, message, step, name, offset, text }: EventOf<'call-writing'>): void {
    const { writing } = this.state
    const isIt = (one: WrittenCall): boolean => one.callId === callId
    const known = writing.find(isIt)?.text ?? ''
    if (offset > known.length) return // its beginning was not read: the whole call follows
    this.set({ writing: put(writing, { callId, message, step, name, text: known.slice(0, offset) + text }, isIt) })
  }

  #reset({ message, step, reason, error, retryAtMs }: EventOf<'step-reset'>): void {
    const { writing, calls } = this.state
    const isOf = (one: { readonly message: MessageId; readonly step: number }): boolean =>
      one.message === message && one.step === step
    this.set({
      writing: drop(writing, isOf),
      calls: drop(calls, ({ call }) => isOf(call)),
      retrying: { message, reason, error, retryAtMs },
    })
  }

  /** Copies the fields that a view has. */
  #copy(fields: object): void {
    const known = Object.entries(fields).filter(([name]) => name in EMPTY_VIEW)
    this.set(Object.fromEntries(known)) // with the names and types of the view
  }

  set(change: Partial<ViewState>): void {
    this.state = { ...this.state, ...change }
  }
}

/** Whether an event is of a delegated call's session. Requests are the root's, with the path of the call that asks. */
export function isBelow({ path, type }: SessionEvent): boolean {
  return path !== undefined && !/^(approval|question|request)-/.test(type)
}

/** Returns the same list if no item is removed. */
function drop<Item>(list: readonly Item[], goes: (item: Item) => boolean): readonly Item[] {
  return list.some(goes) ? list.filter((item) => !goes(item)) : list
}

/** Replaces the matching item, or appends the new one. */
function put<Item>(list: readonly Item[], item: Item, isIt: (item: Item) => boolean): readonly Item[] {
  return list.some(isIt) ? list.map((one) => (isIt(one) ? item : one)) : [...list, item]
}
