// Performs a chat page's requests on its session: messages, edits, further answers, results, decisions and resuming.
import type { EventStream, FrontSession, Principal, SessionEvent } from '@baton/core/internal'
import { AT_REST, BatonError, Cutoff, isBatonError, readRequest } from '@baton/core/internal'
import type { ChatAnswerOptions } from './chat-answer.ts'
import type { ChatData } from './chat-types.ts'
import { ChatAnswer } from './chat-answer.ts'
import { hasEndedOtherwise, takeGiven } from './take-given.ts'
import type { ChatRequest, Given, Said, Wish } from './chat-request.ts'
import type { LinkMedia } from './ui-messages.ts'
import type { HandlerParts } from './handler-parts.ts'
import type { AnswerEvents } from './newest-turn.ts'
import { createPieceJoiner } from './event-response.ts'
import { chain, readTurn } from './newest-turn.ts'
import { createMediaLinks, nameEdit, showMessageId } from './ui-messages.ts'
import type { UiChunk } from './ui-chunks.ts'
import { showTitle } from '../shared/calls-below.ts'
import { readPages } from '../shared/message-pages.ts'
import type { ServerWorld } from '../shared/server-world.ts'

export interface ChatWorld extends Pick<ServerWorld, 'clock' | 'timers' | 'newId' | 'log'> {
  /** The session's owner. */
  readonly principal: Principal
  readonly linkMedia: LinkMedia
  /** Milliseconds after its end during which an answer is sent again to a page that resumes. */
  readonly replayMs: number
  /** Whether a new message ends a turn that waits for its page or its user. */
  readonly cancelWaiting: boolean
  /** Whether a stop came since the request did, and found no turn to end. */
  readonly isStopped: () => boolean
}

/** @throws BatonError `server_draining` for a request that would start a turn */
export function checkDraining({ isDraining }: HandlerParts, { type }: Wish): void {
  if (type === 'continue' || !isDraining?.()) return
  throw new BatonError({
    code: 'server_draining',
    message: 'the server is shutting down',
    hint: 'Send the message again in a moment.',
  })
}

/** Only a message may create a session. @throws BatonError `unknown_session` */
export async function checkThere({ host }: HandlerParts, { chat, wish }: ChatRequest): Promise<void> {
  if (wish.type === 'send' || ((await host.has?.(chat)) ?? true)) return
  throw new BatonError({
    code: 'unknown_session',
    message: 'there is no such chat',
    hint: 'The first message of a chat creates its session.',
  })
}

export function createChatWorld(
  { world, limits, basePath, cancelWaiting }: HandlerParts,
  { id, principal }: { readonly id: string; readonly principal: Principal },
  isStopped = (): boolean => false,
): ChatWorld {
  const linkMedia = createMediaLinks(basePath, id)
  return { ...world, principal, linkMedia, replayMs: limits.replayMs, cancelWaiting, isStopped }
}

/** Resolves when no turn of the session is running: it is at rest, or waits for a person or client. */
async function waitForRest(session: FrontSession): Promise<void> {
  const reader = session.events({ from: 'now' })
  try {
    if ((await session.info()).activity !== 'running') return
    for await (const event of reader)
      if (event.type === 'session' && event.activity !== undefined && event.activity !== 'running') return
  } finally {
    reader.leave()
  }
}

/** Releases a turn without a reader once it has ended, then closes the session's handle. Never rejects. */
export async function endTurn(session: FrontSession, hasEnded: boolean, release: () => void): Promise<void> {
  try {
    if (!hasEnded) await waitForRest(session)
  } catch {
    // The session is closed here, so no turn is running.
  }
  release()
  await session.close().catch(() => {})
}

/** The events of one turn, and what the page already has of it. */
export interface OpenedChat {
  readonly answer: ChatAnswer
  readonly events: AnswerEvents
  /** The chunk listing what the message waits for; sent first. */
  readonly waiting?: UiChunk
}

export interface ChunkWriter {
  readonly world: Pick<ServerWorld, 'clock' | 'timers'>
  readonly write: (chunk: UiChunk) => void
  readonly waitForRoom: () => Promise<void> | undefined
}

/** Resolves when the answer is complete, its session closed, or its reader gone. @throws the session's errors */
export async function tellChunks(
  { answer, events, waiting }: OpenedChat,
  left: Promise<void>,
  { world, write, waitForRoom }: ChunkWriter,
): Promise<void> {
  void left.then(() => events.leave())
  const waitForMore = createPieceJoiner(world)
  if (waiting) write(waiting)
  try {
    while (!answer.isOver) {
      const batch = await events.nextBatch()
      if (!batch) return
      for (const event of batch) {
        const taken = answer.take(event)
        const chunks = taken instanceof Promise ? await taken : taken
        for (const chunk of chunks) write(chunk)
        const room = waitForRoom()
        if (room) await room
        if (answer.isOver) break
      }
      const more = waitForMore(batch)
      if (more) await more
    }
  } finally {
    events.leave()
  }
}

/**
 * Performs the request, and returns the events that answer it.
 * @throws BatonError the session's refusal, before anything is sent
 */
export async function openChat(session: FrontSession, request: ChatRequest, world: ChatWorld): Promise<OpenedChat> {
  const { wish } = request
  switch (wish.type) {
    case 'send':
      return await send(session, { ...request, wish }, world)
    case 'edit':
    case 'regenerate':
      return await askAgain(session, { ...request, wish }, world)
    case 'continue':
      return await goOn(session, wish, world)
    default:
      return wish satisfies never
  }
}

type Of<Type extends Wish['type']> = Extract<Wish, { readonly type: Type }>

async function send(
  session: FrontSession,
  { wish, model, settings }: ChatRequest & { readonly wish: Of<'send'> },
  world: ChatWorld,
): Promise<OpenedChat> {
  await takeUnsent(session, wish.given, world)
  await sendEarlier(session, wish)
  // It reads what a concurrent request does meanwhile, too.
  const reader = session.events({ from: 'now' })
  try {
    const nextPos = session.pos + 1
    const activity = AT_REST.has(session.phase) ? 'idle' : (await session.info()).activity
    const waitsFor = activity === 'idle' ? [] : await findWaiting(session)
    const ends = waitsFor.length > 0 && world.cancelWaiting && activity === 'waiting'
    const waiting = waitsFor.length > 0 && !ends && ({ type: 'data-waiting', data: waitsFor, transient: true } as const)
    const said = { type: 'user-input', inputId: wish.id, parts: wish.parts, settings } as const
    const delivery = ends && ({ delivery: 'interrupt', heard: { type: 'all' } } as const)
    const taken = await session.submit({ ...said, ...delivery, ...(model !== undefined && { model }) })
    if (taken.type === 'refused') throw new BatonError(taken)
    if (world.isStopped()) await session.takeBack(wish.id)
    const answer = createAnswer(session, world, { livePos: nextPos })
    if (taken.pos >= nextPos) return { answer, events: readAnswer(reader, wish.id), ...(waiting && { waiting }) }
    reader.leave() // it was sent before: its turn may have ended
    return { answer, events: readTurnOf(session, wish.id) }
  } catch (cause) {
    reader.leave()
    throw cause
  }
}

/** Sends earlier messages that the session does not know yet; they are answered together with the newest one. */
async function sendEarlier(session: FrontSession, { id, earlier }: Of<'send'>): Promise<void> {
  for (const said of earlier.length === 0 ? [] : await findUnknown(session, [...earlier, { id, parts: [] }])) {
    const input = { type: 'user-input', inputId: said.id, parts: said.parts, more: true } as const
    const taken = said.id === id ? undefined : await session.submit(input)
    // A message refused for good stays on the page, and must not cause later ones to be refused.
    if (taken?.type === 'refused' && taken.code === 'queue_full') throw new BatonError(taken)
  }
}

/** Messages after the last known one. */
async function findUnknown(session: FrontSession, said: readonly Said[]): Promise<readonly Said[]> {
  for await (const { messages } of readPages(session)) {
    const ids = new Set(messages.flatMap(({ id }) => [id, showMessageId(id)]))
    const last = said.findLastIndex(({ id }) => ids.has(id))
    if (last >= 0) return said.slice(last + 1)
  }
  return said
}

/** Open calls that wait for a person or a client, and open questions. */
async function findWaiting(session: FrontSession): Promise<ChatData['waiting']> {
  const { past, calls, reader } = await readTurn(session)
  reader.leave()
  /** Questions' calls, by question. A call below that asks is not shown; the delegated one is. */
  const asked = new Map<string, string>()
  for (const event of past) {
    const change = readRequest(event)
    if (change?.type === 'question') asked.set(change.id, change.asked.path?.[0]?.callId ?? change.callId)
    else if (change?.type === 'over') asked.delete(change.id)
  }
  const asking = new Set(asked.values())
  return [...calls.values()].flatMap((call) => {
    const { callId, name, status, runs } = call
    const title = showTitle(call)
    const isHeld = runs === 'client' && (status === 'waiting' || status === 'running')
    const by =
      status === 'awaiting-approval' ? 'approval' : isHeld ? 'client' : asking.has(callId) ? 'question' : undefined
    return by === undefined || status === 'settled'
      ? []
      : [{ callId, name, waitsFor: by, ...(title !== undefined && { title }) } as const]
  })
}

/** Events of the turn that reads a message. */
function readAnswer(reader: EventStream, message: string): AnswerEvents {
  let isRead = false
  const isOfAnswer = (event: SessionEvent): boolean => {
    isRead ||= event.type === 'message-entered' && event.message === message
    return isRead || (event.type === 'message-added' && event.message.id === message)
  }
  return {
    nextBatch: async () => {
      for (let batch = await reader.nextBatch(); batch; batch = await reader.nextBatch()) {
        if (isRead) return batch.events
        // It was withdrawn before the model read it.
        if (batch.events.some((event) => event.type === 'message-withdrawn' && event.message === message)) break
        const own = batch.events.filter(isOfAnswer)
        if (own.length > 0) return own
      }
      reader.leave()
      return undefined
    },
    leave: () => reader.leave(),
  }
}

/** Events of a message that was sent before. The last event says how its turn failed. */
function readTurnOf(session: FrontSession, message: string): AnswerEvents {
  const turn = session.turn(message)
  turn.answer.catch(() => {}) // readers of the events get the failure there
  const events = turn[Symbol.asyncIterator]()
  const left = new Cutoff()
  const next = async (): Promise<readonly SessionEvent[] | undefined> => {
    const { value } = await events.next()
    return value && [value]
  }
  return {
    nextBatch: () =>
      left.until(next()).catch((cause: unknown) => {
        if (isBatonError(cause)) return undefined
        throw cause
      }),
    leave: () => left.end(new BatonError({ code: 'session_closed', message: 'the page has left' })),
  }
}

/**
 * Applies results that a page sends with its next message. Their calls would wait until their deadlines, or the model
 * would not learn that a call without a result has finished after all.
 */
async function takeUnsent(session: FrontSession, given: readonly Given[], { newId }: ChatWorld): Promise<void> {
  const own = given.filter((one) => one.type !== 'decision' && !one.isElsewhere)
  if (own.length === 0 || !session.lastTurn()) return
  const { calls, reader } = await readTurn(session)
  reader.leave()
  for (const one of own) await takeGiven(session, one, { calls, requested: new Set(), newId })
}

async function askAgain(
  session: FrontSession,
  { wish, model, settings }: ChatRequest & { readonly wish: Of<'edit' | 'regenerate'> },
  world: ChatWorld,
): Promise<OpenedChat> {
  // A repeated turn cannot have its own settings, so the session's are changed.
  const hasSettings = Object.keys(settings).length > 0
  if (model !== undefined || hasSettings)
    await session.configure({ ...(model !== undefined && { model }), ...(hasSettings && { settings }) })
  const { head } = await session.info()
  const message = await findMessage(session, wish.message, wish.type === 'edit' ? 'user' : undefined)
  const inputId = nameEdit(message, world.newId())
  const change = wish.type === 'edit' ? ({ replace: wish.parts } as const) : ({ again: true } as const)
  const { pos, turn } = await session.rewind({ message, inputId, interrupt: true, ...change })
  if (turn !== undefined && world.isStopped()) await session.takeBack(turn)
  // A turn interrupted for this ends first, and so does what another page asked again meanwhile.
  const isOwn = ({ type, cursor }: SessionEvent): boolean =>
    type === 'messages-removed' && (cursor.pos > pos || (cursor.pos === pos && cursor.read !== undefined))
  const events = skipUntil(session.events({ from: head }), isOwn)
  return { answer: createAnswer(session, world, { livePos: head.pos }), events }
}

/** Returns the session's id of a message as the page knows it, or the newest answer's id without one. */
async function findMessage(session: FrontSession, id: string | undefined, role: 'user' | undefined): Promise<string> {
  for await (const { messages } of readPages(session)) {
    const found = messages.findLast((one) =>
      id === undefined ? one.role === 'assistant' : one.id === id || showMessageId(one.id) === id,
    )
    if (found && role !== undefined && found.role !== role)
      throw new BatonError({ code: 'invalid_event', message: `message ${found.id} is not a user's message` })
    if (found) return found.id
  }
  throw new BatonError({
    code: 'unknown_input',
    message: `the conversation has no ${id === undefined ? 'answer yet' : `message "${id.slice(0, 100)}"`}`,
    hint: 'Load the conversation again: another page may have changed it.',
  })
}

async function goOn(session: FrontSession, { known, given }: Of<'continue'>, world: ChatWorld): Promise<OpenedChat> {
  if (!session.lastTurn())
    throw new BatonError({ code: 'unknown_input', message: 'the conversation has no answer to continue' })
  const { past, calls, reader, livePos } = await readTurn(session)
  const endedOtherwise = new Set<string>()
  const requests = past.flatMap((event) => readRequest(event) ?? [])
  const requested = new Set(requests.flatMap(({ type, id }) => (type === 'approval' ? [id] : [])))
  try {
    for (const one of given) {
      const isTaken = await takeGiven(session, one, { calls, requested, newId: world.newId })
      if (one.type !== 'decision' && (!isTaken || hasEndedOtherwise(one, calls))) endedOtherwise.add(one.callId)
    }
  } catch (cause) {
    reader.leave()
    throw cause
  }
  const answer = createAnswer(session, world, { livePos, calls, known: { ...known, endedOtherwise } })
  return { answer, events: chain(past, reader) }
}

/**
 * The answer being written, from its beginning; `undefined` if there is none.
 * @throws BatonError
 */
export async function resumeChat(session: FrontSession, world: ChatWorld): Promise<OpenedChat | undefined> {
  if (!session.lastTurn()) return undefined
  const { past, calls, reader, livePos } = await readTurn(session)
  const { activity, lastMs } = await session.info()
  const isOver = past.some(({ type }) => type === 'turn-finished') && activity !== 'running' && activity !== 'waiting'
  if (isOver && world.clock.nowMs() - lastMs > world.replayMs) {
    reader.leave()
    return undefined
  }
  return { answer: createAnswer(session, world, { livePos, calls }), events: chain(past, reader) }
}

function createAnswer(
  session: FrontSession,
  { clock, timers, newId, log, linkMedia, principal }: ChatWorld,
  more: Pick<ChatAnswerOptions, 'livePos' | 'calls' | 'known'>,
): ChatAnswer {
  return new ChatAnswer({ session, principal, timers, newId, log, linkMedia, nowMs: () => clock.nowMs(), ...more })
}

/** Skips events up to the first match. */
function skipUntil(reader: EventStream, isFirst: (event: SessionEvent) => boolean): AnswerEvents {
  let isSkipped = true
  return {
    nextBatch: async () => {
      for (let batch = await reader.nextBatch(); batch; batch = await reader.nextBatch()) {
        if (!isSkipped) return batch.events
        const first = batch.events.findIndex(isFirst)
        if (first < 0) continue
        isSkipped = false
        return batch.events.slice(first)
      }
      return undefined
    },
    leave: () => reader.leave(),
  }
}
