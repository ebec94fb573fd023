// The turns of a session on a server, as a chat reads them: the events of each, and how it ended.
import type { SessionClient, SessionMessage } from '@baton/client'
import type { SentInput, SessionAnswer } from '@baton/client/internal'
import { ClientError } from '@baton/client'
import type { EventBody, SessionEvent } from '@baton/core/internal'
import type { ConversationTurn, OnAside } from '../terminal/conversation.ts'

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
  /** The text of each step so far. */
  readonly texts: Map<number, string>
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

export function createRemoteTurns(client: SessionClient, onAside: OnAside): RemoteTurns {
  const followed = new Set<Followed>()
  client.on('event', (event) => {
    let isAside = true
    for (const turn of followed) {
      turn.isMine ||= begins(event, turn.input)
      if (!turn.isMine) continue
      isAside = false
      tell(turn, event)
      if (event.type !== 'turn-finished') continue
      turn.events.end()
      followed.delete(turn)
    }
    if (isAside) onAside(event)
  })
  // A session that is read again has no events for what it missed.
  client.on('status', (status) => {
    if (status === 'open' && !isAnswering(client)) onAside()
  })
  const follow = (input: string | undefined, answer: Promise<SessionAnswer>, begun?: readonly EventBody[]) => {
    const turn: Followed = { events: createEventQueue(), input, isMine: begun !== undefined, texts: new Map() }
    for (const event of begun ?? []) tell(turn, event)
    followed.add(turn)
    const outcome = answer
      .then((end) => {
        if (followed.has(turn)) tellEnd(client, turn, end)
        return { outcome: OUTCOMES[end.stop] }
      })
      .finally(() => {
        followed.delete(turn)
        turn.events.end()
      })
    // Refused or withdrawn: no event reports that. A failed turn has had its last event.
    outcome.catch(() => {})
    return { answer: outcome, [Symbol.asyncIterator]: () => turn.events[Symbol.asyncIterator]() }
  }
  return {
    begin: ({ id, answer }, anew) => follow(anew ? undefined : id, answer),
    resume: () => {
      const running = client.getSnapshot().messages.at(-1)
      if (running?.role !== 'assistant' || running.stop) return undefined
      return follow(running.id, awaitEnd(client, running.id), repeatEvents(client, running))
    },
  }
}

function tell({ events, texts }: Followed, event: EventBody): void {
  if (event.type === 'text') texts.set(event.step, (texts.get(event.step) ?? '') + event.text)
  if (event.type === 'step-reset') texts.delete(event.step)
  events.push(event)
}

/**
 * Sends the rest of a turn that ended without an event: the connection broke, the server did not know the last cursor,
 * and the session was read again.
 */
function tellEnd(client: SessionClient, turn: Followed, { stop, text, usage }: SessionAnswer): void {
  const { messages } = client.getSnapshot()
  const asked = messages.find(({ id }) => id === turn.input)
  const answer = messages.findLast((one) => one.role === 'assistant' && (!asked || one.exchange === asked.exchange))
  if (answer?.role !== 'assistant') return
  for (const event of repeatSteps(answer)) {
    if (event.type === 'text') tellText(turn, event)
    else tell(turn, event)
  }
  tell(turn, { type: 'turn-finished', message: answer.id, turn: answer.turn, stop, text, usage })
}

function tellText(turn: Followed, { message, step, text }: StepText): void {
  const known = turn.texts.get(step) ?? ''
  const isSame = text.startsWith(known)
  if (!isSame) tell(turn, { type: 'step-reset', message, step, reason: 'restart' })
  const offset = isSame ? known.length : 0
  if (offset < text.length) tell(turn, { type: 'text', message, step, offset, text: text.slice(offset) })
}

interface StepText {
  readonly message: string
  readonly step: number
  readonly text: string
}

function begins(event: SessionEvent, input: string | undefined): boolean {
  if (event.type === 'message-added') return event.message.id === input
  return event.type === 'message-entered' && (input === undefined || event.message === input)
}

/** Waits for the end of a shown answer in the snapshot, because a session that is read again sends no event for it. */
function awaitEnd(client: SessionClient, message: string): Promise<SessionAnswer> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const answer = client.getSnapshot().messages.findLast(({ id }) => id === message)
      if (answer?.role === 'assistant' && !answer.stop) return
      leave()
      if (answer?.role !== 'assistant' || !answer.stop)
        reject(new ClientError({ code: 'cancelled', message: 'the answer was taken back' }))
      else if (answer.stop === 'failed')
        reject(new ClientError(answer.error ?? { code: 'internal', message: 'the turn failed' }))
      else {
        const { stop, usage = {}, steps } = answer
        resolve({ stop, usage, text: steps.flatMap((step) => step.text || []).join('\n\n') })
      }
    }
    const leave = client.subscribe(look)
    client.on('status', (status) => {
      if (status === 'closed') reject(new ClientError({ code: 'session_closed', message: 'the chat was left' }))
    })
  })
}

type Answer = Extract<SessionMessage, { readonly role: 'assistant' }>

/** Events of the running turn, as a reader from its beginning would see them. */
function repeatEvents(client: SessionClient, answer: Answer): readonly EventBody[] {
  const { approvals, questions } = readWaiting(client)
  return [
    ...repeatSteps(answer),
    ...approvals.map((asked) => ({ type: 'approval-requested', ...asked }) as const),
    ...questions.map((question) => ({ type: 'question-asked', ...question }) as const),
  ]
}

/** Requests that wait for a person. */
export function readWaiting(client: SessionClient) {
  const { approvals, questions, calls } = client.getSnapshot()
  const asked = approvals.flatMap(({ callId, ...approval }) => {
    const open = calls.find(({ call }) => call.callId === callId)
    return open ? [{ ...approval, call: open.call }] : []
  })
  return { approvals: asked, questions }
}

function repeatSteps({ id: message, steps }: Answer): readonly EventBody[] {
  return steps.flatMap(({ step, text, calls }): readonly EventBody[] => [
    ...(text === '' ? [] : [{ type: 'text', message, step, offset: 0, text } as const]),
    ...calls.map((call) => ({ type: 'call', call }) as const),
  ])
}

function isAnswering(client: SessionClient): boolean {
  const last = client.getSnapshot().messages.findLast(({ role }) => role === 'assistant')
  return last?.role === 'assistant' && last.stop === undefined
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
