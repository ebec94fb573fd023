// Keys of effects, by the input that answers one and by the effect that withdraws one. They are written down apart from the
// machine's own, which they check.
import type { Effect, Input, State } from '../machine/index.ts'
import { findCall } from '../machine/index.ts'

export function answerKey(input: Input, before: State): string | null {
  switch (input.type) {
    case 'model-finished':
    case 'model-failed':
      return `call-model:${input.attempt}`
    case 'summary-finished':
    case 'summary-failed':
      return `summarise:${input.attempt}`
    case 'work-lost': {
      const { work } = input
      if (work.type === 'tool') return `run-tool:${work.callId}:${work.attempt}`
      return `${before.attempt?.purpose === 'summary' ? 'summarise' : 'call-model'}:${work.attempt}`
    }
    case 'tool-finished':
      return `run-tool:${input.callId}:${input.attempt}`
    case 'timer-fired':
      return `set-timer:${input.timer}:${input.generation}`
    case 'approval':
      return `ask-approval:${input.approvalId}`
    case 'question-answer':
      return `ask-question:${input.questionId}`
    case 'tool-result': {
      const offer = findCall(before, input.callId)?.offer
      return offer?.connection === input.connection ? `offer-call:${input.callId}:${offer.number}` : null
    }
    default:
      return null
  }
}

export function withdrawnKey(effect: Effect): string | undefined {
  switch (effect.type) {
    case 'abort-model':
      return `call-model:${effect.attempt}`
    case 'abort-summary':
      return `summarise:${effect.attempt}`
    case 'abort-tool':
      return `run-tool:${effect.callId}:${effect.attempt}`
    case 'withdraw-offer':
      return `offer-call:${effect.callId}:${effect.offer}`
    case 'withdraw-approval':
      return `ask-approval:${effect.approvalId}`
    case 'withdraw-question':
      return `ask-question:${effect.questionId}`
    case 'leave-child':
      return `run-child:${effect.callId}`
    case 'clear-timer':
      return `set-timer:${effect.timer}:${effect.generation}`
    default:
      return undefined
  }
}
