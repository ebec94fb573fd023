// The turns of a session on a server, as a chat reads them: the events of each, and how it ended.
import type { SessionClient, SessionMessage } from '@baton/client'
import type { SentInput, SessionAnswer } from '@baton/client/internal'
import { ClientError } from '@baton/client'
import type { EventBody, SessionEvent } from '@baton/core/internal'
import type { ConversationTurn } from '../terminal/conversation.ts'

export interface RemoteTurns {
  /** Follows an input that was just sent. `anew`: it repeats an earlier request, under that one's id. */
  begin(sent: SentInput, anew?: 'anew'): ConversationTurn
  /** The turn that was running when the session was opened. */
  resume(): ConversationTurn | undefined
}

interface Followed {
  readonly events: EventQueue
  /** The message that begins it; `undefined` for the next one to enter. */
  readonly input: string | undefined
  isMine: boolean
}

const OUTCOMES: Readonly<Record<SessionAnswer['stop'], string>> = {
  end: 'answered',
  tool: 'tool',
  'max-tokens': 'answered',
  limit: 'answered',
  refused: 'refused',
  cancelled: 'interrupted',
  stopped: 'stopped',
  silent: 'silent',
}

export function createRemoteTurns(client: SessionClient): RemoteTurns {
  const followed = new Set<Followed>()
  client.on('event', (event) => {
    for (const turn of followed) {
      turn.isMine ||= begins(event, turn.input)
      if (!turn.isMine) continue
      turn.events.push(event)
      if (event.type !== 'turn-finished') continue
      turn.events.end()
      followed.delete(turn)
    }
  })
  const follow = (input: string | undefined, answer: Promise<SessionAnswer>, begun?: readonly EventBody[]) => {
    const turn: Followed = { events: createEventQueue(), input, isMine: begun !== undefined }
    for (const event of begun ?? []) turn.events.push(event)
    followed.add(turn)
    const outcome = answer.then(({ stop }) => ({ outcome: OUTCOMES[stop] }))
    // Refused or withdrawn: no event reports that. A failed turn has had its last event.
    outcome.catch(() => {
      followed.delete(turn)
      turn.events.end()
    })
    return { answer: outcome, [Symbol.asyncIterator]: () => turn.events[Symbol.asyncIterator]() }
  }
  return {
    begin: ({ id, answer }, anew) => follow(anew ? undefined : id, answer),
    resume: () => {
      const running = client.getSnapshot().messages.at(-1)
      if (running?.role !== 'assistant' || running.stop) return undefined
      return follow(running.id, awaitEnd(client), repeatEvents(client, running))
    },
  }
}

function begins(event: SessionEvent, input: string | undefined): boolean {
  if (event.type === 'message-added') return event.message.id === input
  return event.type === 'message-entered' && (input === undefined || event.message === input)
}

/** A turn's open requests were reported before, so only its end mentions them. */
function awaitEnd(client: SessionClient): Promise<SessionAnswer> {
  return new Promise((resolve, reject) => {
    const stop = client.on('event', (event) => {
      if (event.type !== 'turn-finished') return
      stop()
      const { stop: why, text, usage, error } = event
      if (why === 'failed') reject(new ClientError(error ?? { code: 'internal', message: 'the turn failed' }))
      else resolve({ stop: why, text, usage })
    })
    client.on('status', (status) => {
      if (status === 'closed') reject(new ClientError({ code: 'session_closed', message: 'the chat was left' }))
    })
  })
}

/** Events of the running turn, as a reader from its beginning would see them. */
function repeatEvents(
  client: SessionClient,
  { id: message, steps }: Extract<SessionMessage, { readonly role: 'assistant' }>,
): readonly EventBody[] {
  const { approvals, questions, calls } = client.getSnapshot()
  const told = steps.flatMap(({ step, text, calls: called }): readonly EventBody[] => [
    ...(text === '' ? [] : [{ type: 'text', message, step, offset: 0, text } as const]),
    ...called.map((call) => ({ type: 'call', call }) as const),
  ])
  const asked = approvals.flatMap(({ approvalId, callId, expiresAtMs }): readonly EventBody[] => {
    const open = calls.find(({ call }) => call.callId === callId)
    return open ? [{ type: 'approval-requested', approvalId, call: open.call, expiresAtMs }] : []
  })
  return [...told, ...asked, ...questions.map((question) => ({ type: 'question-asked', ...question }) as const)]
}

interface EventQueue extends AsyncIterable<EventBody> {
  push(event: EventBody): void
  end(): void
}

/**
 * A queue of a turn's events: pushed in order, iterated by its one reader.
 * Bounded by the turn, because waiting text is joined.
 */
export function createEventQueue(): EventQueue {
  const waiting: EventBody[] = []
  let isOver = false
  let wake = Promise.withResolvers<void>()
  const tell = (): void => {
    wake.resolve()
    wake = Promise.withResolvers()
  }
  return {
    push: (event) => {
      const last = waiting.at(-1)
      if (event.type === 'text' && last?.type === 'text')
        waiting[waiting.length - 1] = { ...last, text: last.text + event.text }
      else waiting.push(event)
      tell()
    },
    end: () => {
      isOver = true
      tell()
    },
    [Symbol.asyncIterator]: async function* () {
      for (;;) {
        yield* waiting.splice(0)
        if (waiting.length > 0) continue
        if (isOver) return
        await wake.promise
      }
    },
  }
}
