// The current conversation: folds session events into messages. For lists, exports, and fronts that show a chat.
// @internal: programs import Conversation from @baton/host.
import type { SourcePart, Usage } from '../messages.ts'
import { wholeChars } from '../machine/size.ts'
import type {
  AnswerView,
  CallView,
  EventBody,
  EventError,
  MessageId,
  StepFinish,
  TurnStop,
  UserMessageView,
} from './session-event.ts'

/** A complete message of the conversation. */
export type ChatMessage = UserChatMessage | AssistantChatMessage

export interface UserChatMessage extends UserMessageView {
  /** Whether it is queued until the model is free. */
  readonly waits: boolean
  /** Present once the model has read it. */
  readonly exchange?: number
  /** Why a provider permanently refused its images and files. */
  readonly leftOut?: string
}

export interface AssistantChatMessage extends AnswerView {
  /** Steps in order, one per model call. */
  readonly steps: readonly StepView[]
  /** Present once the turn has ended. */
  readonly stop?: TurnStop
  readonly usage?: Usage
  readonly error?: EventError
}

export interface StepView {
  readonly step: number
  readonly model: string
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly CallView[]
  readonly sources: readonly SourcePart[]
  /** Present once the model has finished the step. */
  readonly finish?: StepFinish
  readonly usage?: Usage
}

type Writable<View> = { -readonly [Field in keyof View]: View[Field] }
type WritableStep = Writable<Omit<StepView, 'calls'>> & { calls: CallView[] }
type WritableAnswer = Writable<Omit<AssistantChatMessage, 'steps'>> & { steps: WritableStep[]; waits?: never }

type WritableMessage = Writable<UserChatMessage> | WritableAnswer

/** Holds every message of the conversation. Feed it every event from the start, or from where `messages` was read. */
export class Conversation {
  #messages: WritableMessage[] = []
  readonly #byId = new Map<MessageId, WritableMessage>()
  /** Views of messages that have not changed since. */
  readonly #views = new WeakMap<WritableMessage, ChatMessage>()
  #all: readonly ChatMessage[] | undefined

  /** Starts with a page of messages; feed events from the page's `next`. */
  constructor(page: readonly ChatMessage[] = []) {
    this.addOlder(page)
  }

  /**
   * The messages, oldest first, with queued ones last. Views are immutable copies: the same array is returned until
   * something changes, and the same view until its message changes.
   */
  messages(): readonly ChatMessage[] {
    this.#all ??= this.#messages.map((message) => {
      const view = this.#views.get(message) ?? copyMessage(message)
      this.#views.set(message, view)
      return view
    })
    return this.#all
  }

  has(id: MessageId): boolean {
    return this.#byId.has(id)
  }

  /** Adds an older page at the start; messages that are already known do not change. */
  addOlder(page: readonly ChatMessage[]): void {
    const older = page.filter(({ id }) => !this.#byId.has(id)).map(copyMessage)
    for (const message of older) this.#byId.set(message.id, message)
    this.#messages = [...older, ...this.#messages]
    this.#all = undefined
  }

  take(event: EventBody): void {
    switch (event.type) {
      case 'message-added':
        this.#add(event.message)
        break
      case 'message-entered':
        this.#enter(event.message, event.exchange)
        break
      case 'message-withdrawn':
        this.#remove((message) => message.id === event.message)
        break
      case 'messages-removed': {
        this.#takeBack(event)
        break
      }
      case 'content-left-out':
        for (const id of event.messages) {
          const message = this.#byId.get(id)
          if (message?.role !== 'user') continue
          message.leftOut = event.reason
          this.#touch(message)
        }
        break
      case 'turn-finished': {
        const answer = this.#findAnswer(event.message)
        if (!answer) break
        answer.stop = event.stop
        answer.usage = event.usage
        if (event.error) answer.error = event.error
        this.#touch(answer)
        break
      }
      case 'call':
        this.#takeCall(event.call)
        break
      default:
        this.#takeStepEvent(event)
    }
  }

  #takeStepEvent(event: EventBody): void {
    if (!('step' in event) || !('message' in event) || typeof event.message !== 'string') return
    const answer = this.#findAnswer(event.message)
    if (!answer) return
    const known = answer.steps.findLast(({ step }) => step === event.step)
    const step = known ?? createStep(event.step)
    if (!known) answer.steps.push(step)
    this.#touch(answer)
    switch (event.type) {
      case 'step-started':
        step.model = event.model
        break
      case 'text':
      case 'reasoning':
        // Cut only if it repeats: a cut makes the engine copy text that is still being built.
        if (event.offset < step[event.type].length) step[event.type] = step[event.type].slice(0, event.offset)
        step[event.type] += event.text
        break
      case 'step-reset':
        answer.steps = answer.steps.filter((other) => other !== step)
        break
      case 'text-cut':
        step.text = step.text.slice(0, wholeChars(step.text, event.keepChars))
        break
      case 'sources':
        step.sources = event.sources
        break
      case 'step-finished':
        step.finish = event.finish
        step.usage = event.usage
        break
      default:
        break
    }
  }

  #findAnswer(id: MessageId) {
    const message = this.#byId.get(id)
    return message?.role === 'assistant' ? message : undefined
  }

  #takeCall(call: CallView): void {
    const answer = this.#findAnswer(call.message)
    if (!answer) return
    const step = answer.steps.find((one) => one.step === call.step)
    if (!step) return
    this.#touch(answer)
    const index = step.calls.findIndex(({ callId }) => callId === call.callId)
    if (index >= 0) step.calls[index] = call
    else step.calls.push(call)
  }

  #add(view: UserMessageView | AnswerView): void {
    const message = view.role === 'user' ? { ...view, waits: true } : { ...view, steps: [] }
    this.#byId.set(view.id, message)
    this.#touch(message)
    if (message.role === 'user') this.#messages.push(message)
    else this.#place(message)
  }

  /** Places it after everything the model has read, and before queued messages. */
  #enter(id: MessageId, exchange: number): void {
    const message = this.#byId.get(id)
    if (message?.role !== 'user') return
    message.exchange = exchange
    message.waits = false
    this.#touch(message)
    // Searched from the end, where messages wait: the cost does not grow with the conversation.
    this.#messages.splice(this.#messages.lastIndexOf(message), 1)
    this.#place(message)
  }

  #place(message: WritableMessage): void {
    const last = this.#messages.findLastIndex(({ waits }) => !waits)
    this.#messages.splice(last + 1, 0, message)
  }

  #takeBack({ fromExchange, keep, keepSteps }: Extract<EventBody, { readonly type: 'messages-removed' }>): void {
    const kept = new Set(keep)
    const steps = new Set(keepSteps)
    for (const message of this.#messages)
      if (message.role === 'assistant' && message.exchange >= fromExchange) {
        message.steps = message.steps.filter(({ step }) => steps.has(step))
        this.#touch(message)
      }
    this.#remove((message) => {
      if (message.exchange === undefined || message.exchange < fromExchange) return false
      return message.role === 'assistant' ? message.steps.length === 0 : !kept.has(message.id)
    })
  }

  #touch(message: WritableMessage): void {
    this.#views.delete(message)
    this.#all = undefined
  }

  #remove(leaves: (message: WritableMessage) => boolean): void {
    this.#all = undefined
    for (const message of this.#messages) if (leaves(message)) this.#byId.delete(message.id)
    this.#messages = this.#messages.filter((message) => !leaves(message))
  }
}

function copyMessage(message: ChatMessage): WritableMessage {
  if (message.role === 'user') return { ...message }
  return { ...message, steps: message.steps.map((step) => ({ ...step, calls: [...step.calls] })) }
}

function createStep(step: number): WritableStep {
  return { step, model: '', text: '', reasoning: '', calls: [], sources: [] }
}
