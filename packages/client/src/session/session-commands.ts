// The methods of an opened session, as requests and inputs.
import type { ChatMessage, MessageId } from '@baton/core/internal'
import type { RequestType, Requests } from '@baton/protocol'
import { createClosedError, createError } from '../client-error.ts'
import type { InputRequest } from '../outbox/outbox.ts'
import type { FollowedSession } from './open-session.ts'
import type { RewindInput, SentInput, SessionClient } from './session-client.ts'

/** Number of older messages per page. */
const PAGE = 50

export function createCommands(session: FollowedSession): SessionClient {
  const { id, requests, view, world, inputs, listeners, options } = session
  const asks = { asks: options.asks } as { asks?: boolean } // JSON omits undefined fields
  const say = (request: InputRequest, asks?: MessageId): SentInput => {
    if (session.isClosed) throw createClosedError()
    return inputs.send(request.given.input, request, asks)
  }
  const order = async <Type extends RequestType>(
    type: Type,
    given: Requests[Type]['given'],
    isDone?: () => boolean,
  ): Promise<void> => void (await requests.ask(type, given, { isDone }))
  const rewind = (to: RewindInput): SentInput =>
    say({ type: 'input.rewind', given: { input: world.newId(), ...to } }, to.again && findQuestion(session, to.message))
  return {
    id,
    speech: options.speech ?? false,
    getSnapshot: () => session.snapshot,
    subscribe: (listener) => listeners.on('change', listener),
    on: listeners.on,
    send: (content, { id: input = world.newId(), ...more } = {}) =>
      say({ type: 'input.send', given: { input, content, ...asks, ...more } }),
    hear: (speaker, text) => say({ type: 'input.hear', given: { input: world.newId(), speaker, text, ...asks } }),
    notify: (event) => say({ type: 'input.notify', given: { input: world.newId(), ...asks, ...event } }),
    retry: (message) => inputs.retry(message),
    withdraw: async (input) => {
      if (inputs.withdraw(input)) return
      const waits = (one: ChatMessage): boolean => one.id === input && one.role === 'user' && one.waits
      try {
        await order('input.withdraw', { input }, () => !view.messages().some(waits))
      } catch (cause) {
        // The server had refused it, and it is here again.
        if (!inputs.withdraw(input)) throw cause
      }
    },
    rewind,
    edit: (message, replace) => rewind({ message, replace, interrupt: true }),
    regenerate: (message) => rewind({ message: message ?? findNewestAnswer(session), again: true, interrupt: true }),
    interrupt: (given = {}) => {
      const running = view.answer()?.id
      return order('turn.interrupt', given, () => view.answer()?.id !== running || !!view.answer()?.stop)
    },
    played: (given) => order('speech.played', given),
    decide: (decision) =>
      order('approval.decide', decision, () =>
        view.state.approvals.every((open) => open.approvalId !== decision.approvalId),
      ),
    answer: (answer) =>
      order('question.answer', answer, () =>
        view.state.questions.every((open) => open.questionId !== answer.questionId),
      ),
    describe: (patch) => order('session.describe', patch),
    configure: (patch) => order('session.configure', patch),
    control: (action) => order('session.control', { action }),
    fork: async (given = {}) => (await requests.ask('session.fork', given, { once: true })).session,
    info: async () => (await requests.ask('session.info', {})).info,
    older: (limit = PAGE) => readOlder(session, limit),
    close: () => session.end(),
  }
}

async function readOlder(session: FollowedSession, limit: number): Promise<boolean> {
  const { view, requests } = session
  const before = view.messages()[0]?.id
  if (!session.snapshot.more || !before) return false
  const page = await requests.ask('session.messages', { limit, before })
  // Otherwise it was read again meanwhile, or another page arrived first.
  if (view.messages()[0]?.id === before) {
    view.addOlder(page.messages)
    session.publish({ more: page.more })
  }
  return session.snapshot.more
}

/** The question of an answer; for a user's message, the message itself. */
function findQuestion({ view }: FollowedSession, message: MessageId): MessageId {
  const messages = view.messages()
  const named = messages.find((one) => one.id === message)
  if (named?.role !== 'assistant') return message
  return messages.findLast((one) => one.role === 'user' && one.exchange === named.exchange)?.id ?? message
}

function findNewestAnswer({ view }: FollowedSession): MessageId {
  const newest = view.answer()
  if (!newest) throw createError('unknown_input', 'no answer yet')
  return newest.id
}
