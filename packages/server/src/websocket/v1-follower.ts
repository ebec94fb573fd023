// A connection follows its session: what the session tells is projected and written, and what the machine must know of
// the writing (a call that could not be written, an answer that is spoken) is submitted.
import type {
  Accepted,
  ClientConnection,
  ConnectionInit,
  EventStream,
  Logger,
  Refused,
  Session,
  SessionEvent,
} from '@baton/core'
import { isBatonError, readMonotonicMs } from '@baton/core'
import type { ClientReport, Phase } from '@baton/core/machine'
import { describeThrown } from '@baton/runtime'
import { BoundedMap } from './bounded-map.ts'
import { CLOSE_CODES } from '../shared/socket.ts'
import type { V1Output } from './v1-projection.ts'
import { V1Projection } from './v1-projection.ts'
import type { AppConnectionInit } from './connection-init.ts'
import { TurnLog } from './v1-turn-log.ts'
import type { ModelOffer } from './v1-written-calls.ts'
import { WrittenCalls } from './v1-written-calls.ts'
import type { V1Writer } from './v1-writer.ts'

export interface FollowerInit {
  readonly session: Session
  readonly writer: V1Writer
  /** Writes `session.started`, before anything that the session tells. */
  readonly onStarted: () => void
}

/** Results that were handed in and may still be ignored. */
const PENDING_RESULTS_MAX = 1000
const TOOLS_MAX = 1000
/** `convo.setState:<id of its frame>`: the call's id tells the tool, so nothing must be remembered for its result. */
const DISPLAY_CALL = /^((?:convo|tts)\.[a-zA-Z]+):/

export function parseDisplayTool(callId: string): string | undefined {
  return DISPLAY_CALL.exec(callId)?.[1]
}

export async function followSession(
  init: AppConnectionInit,
  { session, writer, onStarted }: FollowerInit,
): Promise<SessionFollower | { readonly refused: Refused }> {
  // Read before the connection is attached, so that no offer is missed; and from the last turn's beginning, since an app
  // that was away has not seen all of it. What it has seen it knows by the ids of the frames.
  const last = session.lastTurn()
  const events = session.events({ from: last ? { pos: last.pos, since: last.pos } : 'now', delivery: true })
  const connection = session.connect(describeApp(init))
  const attached = await connection.attach()
  if (attached.type === 'refused') {
    events.leave()
    return { refused: attached }
  }
  const state = createFollowerState(init, { session, connection, writer }, attached.pos)
  onStarted()
  readEvents(state, events).catch((cause: unknown) => {
    init.log.warn('a connection lost its session', { session: session.id, cause: describeThrown(cause) })
    init.socket.close(CLOSE_CODES.failed, 'internal error')
  })
  return new SessionFollower(state, events)
}

export class SessionFollower {
  readonly session: Session
  readonly connection: ClientConnection
  readonly #state: FollowerState
  readonly #events: EventStream

  constructor(state: FollowerState, events: EventStream) {
    this.session = state.session
    this.connection = state.connection
    this.#state = state
    this.#events = events
  }

  /** The app answered a call, of the model or for display. */
  noteAnswer(callId: string): Promise<void> {
    return tellReached(this.#state, this.#state.calls.answer(callId))
  }

  /** A result of this connection was handed in: if it is ignored, that is logged. */
  trackResult(callId: string): void {
    this.#state.pendingResults.set(callId, true)
  }

  /** The tool of a call of the model: one that is open, or that was written to this connection lately. */
  findToolName(callId: string): string | undefined {
    return this.session.openCall(callId)?.name ?? this.#state.tools.get(callId)
  }

  /** The app was asked for this result, or the session waits for it. */
  awaits(callId: string): boolean {
    return this.#state.calls.has(callId) || this.session.openCall(callId)?.settled === false
  }

  /** A turn runs, or the app has not been told all of it. */
  isBusy(): boolean {
    return this.#state.inTurn || !AT_REST.has(this.session.phase)
  }

  async leave(): Promise<void> {
    const state = this.#state
    state.left = true
    state.timer?.stop()
    await tell(state, 'client-detached', state.connection.detach())
    this.#events.leave()
    await this.session.close()
  }
}

/** Phases in which nothing goes on until something new comes. */
const AT_REST: ReadonlySet<Phase> = new Set(['idle', 'paused', 'stopped'])

/** Apps of version 1 act on what they read, and have no words for what was heard or what a person decides. */
function describeApp({ connection }: AppConnectionInit): ConnectionInit {
  return { connection, sequential: true }
}

interface FollowerState {
  readonly init: AppConnectionInit
  readonly session: Session
  readonly connection: ClientConnection
  readonly writer: V1Writer
  /** Records before it were sent to earlier connections. */
  readonly livePos: number
  readonly projection: V1Projection
  readonly calls: WrittenCalls
  readonly turnLog: TurnLog
  /** Calls whose results were handed in. */
  readonly pendingResults: BoundedMap<true>
  /** Names for the log, also when a call's result comes late or again. */
  readonly tools: BoundedMap<string>
  left: boolean
  /** The app was told that a turn began, and not yet that it ended. */
  inTurn: boolean
  timer: { readonly atMs: number; readonly stop: () => void } | undefined
}

function createFollowerState(
  init: AppConnectionInit,
  { session, connection, writer }: Pick<FollowerState, 'session' | 'connection' | 'writer'>,
  livePos: number,
): FollowerState {
  const { limits } = init
  return {
    init,
    session,
    connection,
    writer,
    livePos,
    projection: new V1Projection({
      session: session.id,
      connection: init.connection,
      partialMs: limits.partialMs,
      livePos,
      clock: init.clock,
    }),
    calls: new WrittenCalls(),
    turnLog: new TurnLog(),
    pendingResults: new BoundedMap(PENDING_RESULTS_MAX),
    tools: new BoundedMap(TOOLS_MAX),
    left: false,
    inTurn: false,
    timer: undefined,
  }
}

async function readEvents(state: FollowerState, events: EventStream): Promise<void> {
  const { socket, isDraining, log } = state.init
  for (let batch = await events.nextBatch(); batch; batch = await events.nextBatch())
    for (const event of batch.events) {
      if (state.left) return
      if (event.type === 'behind') {
        // How fast the app reads is watched by the writer. Here this process was too busy to take the events, or the session
        // went on at another one. The app misses nothing when it comes back.
        log.warn('a connection is closed: its session went on and this process missed a part of it', {
          session: state.session.id,
          pos: event.cursor.pos,
        })
        socket.close(CLOSE_CODES.restarted, 'the server missed a part of the session; connect again')
        return
      }
      takeEvent(state, event)
    }
  if (state.left) return
  if (isDraining()) socket.close(CLOSE_CODES.goingAway, 'the server is shutting down')
  else socket.close(CLOSE_CODES.restarted, 'the session was closed')
}

function takeEvent(state: FollowerState, event: SessionEvent): void {
  perform(state, state.projection.handleEvent(event, readMonotonicMs(state.init.clock)))
  const isLive = event.at === undefined || event.at.pos >= state.livePos
  // The end of a turn that earlier connections saw is not told again.
  if (event.type === 'turn-finished' && !isLive) state.inTurn = false
  // This client is still there.
  if (event.type === 'clients-gone' && isLive) void tell(state, 'client-attached', state.connection.attach())
}

function perform(state: FollowerState, outputs: readonly V1Output[]): void {
  for (const output of outputs) performOne(state, output)
  planTimer(state)
}

/** One timer at a time, for the next partial. */
function planTimer(state: FollowerState): void {
  const { clock, timers } = state.init
  const atMs = state.projection.pollAtMs()
  if (atMs === state.timer?.atMs) return
  state.timer?.stop()
  state.timer = undefined
  if (atMs === undefined || state.left) return
  const stop = timers.start(Math.max(0, atMs - readMonotonicMs(clock)), () => {
    state.timer = undefined
    if (!state.left) perform(state, state.projection.handleTime(readMonotonicMs(clock)))
  })
  state.timer = { atMs, stop }
}

function performOne(state: FollowerState, output: V1Output): void {
  const { session, writer, turnLog } = state
  const log: Logger = state.init.log
  switch (output.type) {
    case 'partial':
    case 'final': {
      const type = `assistant.speech.${output.type}` as const
      turnLog.add(type)
      writer.write(output.id, { type, payload: { text: output.text } }, session.id)
      break
    }
    case 'display':
      writeDisplay(state, output)
      break
    case 'error': {
      const { id, code, message } = output
      turnLog.add('error')
      writer.write(id, { type: 'error', payload: { code, message } }, session.id)
      break
    }
    case 'call':
      writeCall(state, output)
      break
    case 'ask-to-speak':
      askToSpeak(state, output.turn)
      break
    case 'turn-began':
      state.inTurn = true
      turnLog.begin()
      break
    case 'turn-ended': {
      state.inTurn = false
      const { message, data } = turnLog.end({ ...output, session: session.id })
      log.info(message, data)
      break
    }
    case 'result-ignored': {
      const { callId, reason } = output
      // Other connections of the session leave the line to the one that the result came from.
      if (state.pendingResults.take(callId)) log.warn('a result was ignored', { session: session.id, callId, reason })
      break
    }
    default:
      output satisfies never
  }
}

function writeDisplay(
  state: FollowerState,
  { id, name, arguments: given }: Extract<V1Output, { type: 'display' }>,
): void {
  const callId = `${name}:${id}`
  state.turnLog.add(name)
  const payload = { callId, name, arguments: JSON.stringify(given) }
  // The app's screen is not waited for, and a broken connection is noticed by its end.
  if (state.writer.write(id, { type: 'tool.call', payload }, state.session.id)) state.calls.add(callId)
}

function writeCall(state: FollowerState, { id, callId, offer }: Extract<V1Output, { type: 'call' }>): void {
  const { session, writer, calls } = state
  const call = session.openCall(callId)
  // Settled in the meantime: what is not open any more must not be run.
  if (!call || call.settled) return
  const payload = { callId, name: call.name, arguments: call.arguments }
  state.turnLog.add(call.name)
  state.tools.set(callId, call.name)
  const written = writer.write(id, { type: 'tool.call', payload }, session.id)
  if (written) void tellReached(state, calls.add(callId, offer))
  else void tell(state, 'offer-failed', state.connection.missed(callId, offer))
}

/** The machine is told before the app's voice begins, so that it knows what an interrupt cut off. */
function askToSpeak(state: FollowerState, turn: number): void {
  const refuse = (): void => {
    if (!state.left) perform(state, state.projection.handleRefusal(turn, readMonotonicMs(state.init.clock)))
  }
  state.connection.display(turn).then(
    (answer) => {
      if (answer.type === 'refused') refuse()
    },
    (cause: unknown) => {
      state.init.log.warn('an answer could not be spoken', { session: state.session.id, cause: describeThrown(cause) })
      refuse()
    },
  )
}

async function tellReached(state: FollowerState, offers: readonly ModelOffer[]): Promise<void> {
  for (const { callId, offer } of offers) await tell(state, 'call-reached', state.connection.reached(callId, offer))
}

/** Never fails: a session that is gone needs to be told nothing. */
async function tell(
  state: FollowerState,
  what: ClientReport['type'],
  told: Promise<Accepted | Refused>,
): Promise<void> {
  try {
    const answer = await told
    if (answer.type === 'refused')
      state.init.log.warn('a notice was refused', { session: state.session.id, input: what, code: answer.code })
  } catch (cause) {
    if (isBatonError(cause) && cause.code === 'session_closed') return
    state.init.log.warn('a notice was lost', {
      session: state.session.id,
      input: what,
      cause: describeThrown(cause),
    })
  }
}
