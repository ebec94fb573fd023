// A connection following its session: session events are projected and written, and facts about the writing that the
// machine needs (a call that could not be written, an answer being spoken) are submitted.
import type { EventStream, Logger, Refused, FrontSession, SessionEvent, JsonObject } from '@baton/core/internal'
import { AT_REST, isBatonError, readMonotonicMs } from '@baton/core/internal'
import type { ClientReport } from '@baton/core/machine'
import { describeThrown } from '@baton/runtime'
import { BoundedMap } from './bounded-map.ts'
import { CLOSE_CODES } from '../shared/socket.ts'
import type { V1Output } from './v1-projection.ts'
import { V1Projection } from './v1-projection.ts'
import type { AppConnectionOptions } from './connection-options.ts'
import type { ModelOffer, V1Writer } from './v1-writer.ts'
import { WrittenCalls } from './v1-writer.ts'

export interface FollowerOptions {
  readonly session: FrontSession
  readonly writer: V1Writer
  /** Writes `session.started`, before any session event. */
  readonly onStarted: () => void
}

/** Submitted results that may still be ignored. */
const PENDING_RESULTS_MAX = 1000
const TOOLS_MAX = 1000
/** Parses `convo.setState:<id of its frame>`: the call's id names the tool, so its result needs no lookup. */
const DISPLAY_CALL = /^((?:convo|tts)\.[a-zA-Z]+):/

export function parseDisplayTool(callId: string): string | undefined {
  return DISPLAY_CALL.exec(callId)?.[1]
}

export async function followSession(
  init: AppConnectionOptions,
  { session, writer, onStarted }: FollowerOptions,
): Promise<SessionFollower | { readonly refused: Refused }> {
  // Read before the connection is attached, so that no offer is missed, and from the start of the last turn, since a
  // reconnecting app has not seen all of it. It recognizes known frames by their ids.
  const last = session.lastTurn()
  const events = session.events({ from: last ? { pos: last.pos, since: last.pos } : 'now', delivery: true })
  const attached = await session.submit(describeApp(init))
  if (attached.type === 'refused') {
    events.leave()
    return { refused: attached }
  }
  const state = createFollowerState(init, { session, writer }, attached.pos)
  onStarted()
  readEvents(state, events).catch((cause: unknown) => {
    init.log.warn('a connection lost its session', { session: session.id, cause: describeThrown(cause) })
    init.socket.close(CLOSE_CODES.failed, 'internal error')
  })
  return new SessionFollower(state, events)
}

export class SessionFollower {
  readonly session: FrontSession
  readonly #state: FollowerState
  readonly #events: EventStream

  constructor(state: FollowerState, events: EventStream) {
    this.session = state.session
    this.#state = state
    this.#events = events
  }

  /** Called when the app answered a call, of the model or for display. */
  noteAnswer(callId: string): Promise<void> {
    return tellReached(this.#state, this.#state.calls.answer(callId))
  }

  /** Logs it if this connection's result is ignored. */
  trackResult(callId: string): void {
    this.#state.pendingResults.set(callId, true)
  }

  /** The tool of an open call, or of one recently written to this connection. */
  findToolName(callId: string): string | undefined {
    return this.session.openCall(callId)?.name ?? this.#state.tools.get(callId)
  }

  /** Whether this result was requested from the app, or the session waits for it. */
  awaits(callId: string): boolean {
    return this.#state.calls.has(callId) || this.session.openCall(callId)?.settled === false
  }

  /** Whether a turn is running, or the app has not received all of it. */
  isBusy(): boolean {
    return this.#state.inTurn || !AT_REST.has(this.session.phase)
  }

  async leave(): Promise<void> {
    const state = this.#state
    state.left = true
    state.timer?.stop()
    await tell(state, { type: 'client-detached', connection: state.init.connection })
    this.#events.leave()
    await this.session.close()
  }
}

/** Apps of version 1 act on what they read; they cannot report what was heard or what a person decided. */
function describeApp({ connection, principal }: AppConnectionOptions): ClientReport {
  const can = { sequential: true, claims: false, reportsPlayback: false, asks: false }
  return { type: 'client-attached', connection, principal: principal.id, ...can }
}

interface FollowerState {
  readonly init: AppConnectionOptions
  readonly session: FrontSession
  readonly writer: V1Writer
  /** Records before this were sent to earlier connections. */
  readonly livePos: number
  readonly projection: V1Projection
  readonly calls: WrittenCalls
  readonly turnLog: TurnLog
  /** Calls whose results were submitted. */
  readonly pendingResults: BoundedMap<true>
  /** Names for the log, also for late or repeated results. */
  readonly tools: BoundedMap<string>
  left: boolean
  /** Whether the app got a turn's start, but not yet its end. */
  inTurn: boolean
  timer: { readonly atMs: number; readonly stop: () => void } | undefined
}

function createFollowerState(
  init: AppConnectionOptions,
  { session, writer }: Pick<FollowerState, 'session' | 'writer'>,
  livePos: number,
): FollowerState {
  const { limits } = init
  return {
    init,
    session,
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
        // Slow apps are detected by the writer. Here this process was too busy to read the events, or the session
        // continued at another one. The app misses nothing when it reconnects.
        log.warn('a connection was closed: this process missed part of its session', {
          session: state.session.id,
          pos: event.cursor.pos,
        })
        socket.close(CLOSE_CODES.restarted, 'the server missed part of the session; connect again')
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
  // The end of a turn that earlier connections saw is not sent again.
  if (event.type === 'turn-finished' && !isLive) state.inTurn = false
  // This client is still connected, so it attaches again.
  if (event.type === 'clients-gone' && isLive) void tell(state, describeApp(state.init))
}

function perform(state: FollowerState, outputs: readonly V1Output[]): void {
  for (const output of outputs) performOne(state, output)
  planTimer(state)
}

/** Keeps a single timer, for the next partial. */
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
      // The connection that sent the result logs this, and no other.
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
  // The app's screen is not waited for; a broken connection is noticed when it ends.
  if (state.writer.write(id, { type: 'tool.call', payload }, state.session.id)) state.calls.add(callId)
}

function writeCall(state: FollowerState, { id, callId, offer }: Extract<V1Output, { type: 'call' }>): void {
  const { session, writer, calls } = state
  const call = session.openCall(callId)
  // It has been settled meanwhile, so the app must not run it.
  if (!call || call.settled) return
  const payload = { callId, name: call.name, arguments: call.arguments }
  state.turnLog.add(call.name)
  state.tools.set(callId, call.name)
  const written = writer.write(id, { type: 'tool.call', payload }, session.id)
  if (written) void tellReached(state, calls.add(callId, offer))
  else void tell(state, { type: 'offer-failed', callId, offer })
}

/** The machine must know before the app's voice begins, to determine what an interrupt cut off. */
function askToSpeak(state: FollowerState, turn: number): void {
  const refuse = (): void => {
    if (!state.left) perform(state, state.projection.handleRefusal(turn, readMonotonicMs(state.init.clock)))
  }
  state.session.submit({ type: 'display-written', turn }).then(
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
  for (const { callId, offer } of offers) await tell(state, { type: 'call-reached', callId, offer })
}

/** Never fails: a closed session need not be informed. */
async function tell(state: FollowerState, report: ClientReport): Promise<void> {
  try {
    const answer = await state.session.submit(report)
    if (answer.type === 'refused')
      state.init.log.warn('a report to the session was refused', {
        session: state.session.id,
        input: report.type,
        code: answer.code,
      })
  } catch (cause) {
    if (isBatonError(cause) && cause.code === 'session_closed') return
    state.init.log.warn('a report to the session was lost', {
      session: state.session.id,
      input: report.type,
      cause: describeThrown(cause),
    })
  }
}

interface EndedTurn {
  readonly turn: number
  readonly session: string
  readonly outcome: string
  readonly causes: readonly string[]
  /** As in the record; apps get less. */
  readonly error?: { readonly code: string; readonly message: string }
}

interface Line {
  readonly message: string
  readonly data: JsonObject
}

/** Names per line; repeated frames, like partials, are counted as one. */
const NAMES_MAX = 200

/** The line logged at the end of a turn: the frames written, in order, and their causes. */
class TurnLog {
  #names: { readonly name: string; count: number }[] = []

  begin(): void {
    this.#names = []
  }

  /** Adds a written frame: its type, or the tool's name for a call. */
  add(name: string): void {
    const last = this.#names.at(-1)
    if (last?.name === name) last.count++
    else if (this.#names.length < NAMES_MAX) this.#names.push({ name, count: 1 })
  }

  end({ turn, session, outcome, causes, error }: EndedTurn): Line {
    const frames = this.#names.map(({ name, count }) => (count === 1 ? name : `${name} x${count}`)).join(' -> ')
    this.#names = []
    return { message: `turn ${turn}: ${frames}`, data: { turn, session, outcome, causes, ...(error && { error }) } }
  }
}
