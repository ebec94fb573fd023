// One connection of a version 1 app: processes the app's frames in order, and follows its session.
import type { Accepted, FrontSession, JsonObject, Refused } from '@baton/core/internal'
import type { Outcome } from '@baton/core/machine'
import type { ClientFrame, Decoded } from '@baton/protocol'
import { decodeClientFrame } from '@baton/protocol'
import { describeThrown } from '@baton/runtime'
import { checkParsedSize, checkRates, checkUnparsed, findTranscriptProblem } from './frame-checks.ts'
import type { Message } from './app-frames.ts'
import { AppFrames } from './app-frames.ts'
import type { FrontConnection } from '../shared/socket.ts'
import { CLOSE_CODES } from '../shared/socket.ts'
import type { AppConnectionOptions } from './connection-options.ts'
import type { ConnectionState, FrameOf } from './v1-opening.ts'
import { reportFailure, sendError, openSession, startSession } from './v1-opening.ts'
import type { SessionFollower } from './v1-follower.ts'
import { parseDisplayTool } from './v1-follower.ts'
import { V1Writer } from './v1-writer.ts'

export function openV1Connection(init: AppConnectionOptions): FrontConnection {
  return new AppConnection(init)
}

class AppConnection implements FrontConnection {
  readonly #state: ConnectionState
  readonly #frames: AppFrames
  #busy = false
  /** Whether another connection has opened the session that this one waits for. */
  #woken = false

  constructor(init: AppConnectionOptions) {
    const { timers, limits } = init
    const stopWaiting = timers.start(limits.startMs, () =>
      this.close(CLOSE_CODES.policy, 'no session.start was received'),
    )
    const wake = (): void => {
      this.#woken = true
      this.#run()
    }
    const writer = new V1Writer(init)
    const nothing = {
      follower: undefined,
      link: undefined,
      sessionId: undefined,
      startText: '',
      refused: 0,
      forget: () => {},
    }
    this.#state = { ...nothing, init, writer, stopWaiting, wake, isGone: () => this.#frames.isClosed }
    this.#frames = new AppFrames({
      init,
      isBusy: () => this.isBusy() || this.#state.link !== undefined,
      fail: (code, message) => sendError(this.#state, code, message),
      onFrame: () => this.#run(),
      onEnd: () => this.#end(),
    })
  }

  isBusy(): boolean {
    return this.#busy || (this.#state.follower?.isBusy() ?? false)
  }

  busySession(): string | undefined {
    return this.#state.follower?.isBusy() ? this.#state.sessionId : undefined
  }

  close(code: number, reason: string): void {
    this.#state.init.socket.close(code, reason)
  }

  #end(): void {
    this.#state.stopWaiting()
    this.#state.forget()
    this.#run()
  }

  #run(): void {
    this.#pump().catch((cause: unknown) => {
      const { log, connection } = this.#state.init
      log.warn('a connection failed', { connection, cause: describeThrown(cause) })
      this.close(CLOSE_CODES.failed, 'internal error')
    })
  }

  /** Processes frames in order, each after the previous one was accepted. */
  async #pump(): Promise<void> {
    if (this.#busy) return
    this.#busy = true
    try {
      while (!this.#frames.isClosed) {
        if (this.#woken) await openSession(this.#state, () => {})
        this.#woken = false
        const message = this.#frames.take()
        if (!message) return
        await takeMessage(this.#state, message)
      }
    } finally {
      this.#busy = false
      if (this.#frames.isClosed) await leave(this.#state)
    }
  }
}

async function leave(state: ConnectionState): Promise<void> {
  const { follower, link } = state
  state.follower = undefined
  link?.close()
  await follower?.leave()
}

const NOT_TEXT: Decoded<ClientFrame> = {
  ok: false,
  error: { code: 'invalid_event', message: 'a message must be text, not bytes' },
}

/** Consecutive frames refused before parsing until a connection is closed. */
const REFUSED_MAX = 500

async function takeMessage(state: ConnectionState, message: Message): Promise<void> {
  const { connection, log, strangersLog = log } = state.init
  const { text, bytes } = message
  const refusal = checkUnparsed(state, message)
  if (refusal) {
    sendError(state, refusal.code, refusal.message)
    state.refused += 1
    if (state.refused > REFUSED_MAX) state.init.socket.close(CLOSE_CODES.policy, 'too many frames were refused')
    return
  }
  state.refused = 0
  const decoded = text === undefined ? NOT_TEXT : decodeClientFrame(text)
  const tooMany = checkRates(state, decoded.ok ? decoded.frame : undefined)
  if (tooMany !== undefined) {
    sendError(state, 'rate_limited', tooMany, decoded.ok ? decoded.frame?.sessionId : decoded.error.sessionId)
    return
  }
  if (!decoded.ok) {
    sendError(state, 'invalid_event', decoded.error.message, decoded.error.sessionId)
    return
  }
  const { frame } = decoded
  if (!frame) {
    strangersLog.info('a frame of an unknown type was ignored', { connection, type: shorten(decoded.unknownType) })
    return
  }
  if (frame.protocolVersion !== undefined) state.writer.echoVersion()
  const misplaced = checkParsedSize(state, frame, bytes) ?? checkPlacement(state, frame)
  if (misplaced) {
    sendError(state, misplaced.code, misplaced.message, frame.sessionId)
    return
  }
  if (frame.type === 'session.start' && state.sessionId === undefined) state.startText = text ?? ''
  const isLinked = state.link !== undefined
  if (!isLinked) await takeFrame(state, frame)
  // The frame that started the session was already sent there.
  if (isLinked || frame.type !== 'session.start') state.link?.send(text ?? '')
}

function shorten(type: string | undefined): string {
  return (type ?? '').slice(0, 100)
}

function checkPlacement(
  state: ConnectionState,
  frame: ClientFrame,
): { readonly code: 'invalid_event' | 'session_mismatch'; readonly message: string } | undefined {
  if (frame.type === 'session.start' && frame.payload.sessionId !== frame.sessionId)
    return { code: 'session_mismatch', message: 'sessionId and payload.sessionId must be the same' }
  if (state.sessionId === undefined)
    return frame.type === 'session.start'
      ? undefined
      : { code: 'invalid_event', message: `the first frame must be session.start, not ${frame.type}` }
  if (frame.sessionId === state.sessionId) return undefined
  const message = `this connection belongs to session ${JSON.stringify(state.sessionId)}; open another one`
  return { code: 'session_mismatch', message }
}

async function takeFrame(state: ConnectionState, frame: ClientFrame): Promise<void> {
  if (frame.type === 'session.start') {
    await startSession(state, frame)
    return
  }
  // No message was sent in this session yet: it begins now.
  if (!state.follower && frame.type === 'user.audio.transcript.final') {
    const problem = findTranscriptProblem(state, frame)
    if (problem) sendError(state, problem.code, problem.message)
    else await openSession(state, () => {})
  }
  const { follower } = state
  if (!follower) return
  switch (frame.type) {
    case 'user.audio.transcript.final':
      await takeTranscript(state, follower.session, frame)
      break
    case 'tool.result':
      await takeResult(state, follower, frame)
      break
    case 'audio.output.interrupted': {
      const { reason } = frame.payload
      await tell(state, follower.session.submit({ type: 'interrupt', reason, heard: { type: 'display' } }))
      break
    }
    default:
      frame satisfies never
  }
}

async function takeTranscript(
  state: ConnectionState,
  session: FrontSession,
  frame: FrameOf<'user.audio.transcript.final'>,
): Promise<void> {
  const problem = findTranscriptProblem(state, frame)
  if (problem) {
    sendError(state, problem.code, problem.message)
    return
  }
  const { text } = frame.payload
  // Apps of version 1 cannot show an approval: a call that needs one is denied at once.
  const parts = [{ type: 'text', text }] as const
  await tell(state, session.submit({ type: 'user-input', inputId: frame.id, parts, asks: false }))
}

/** Logs every result, whatever its outcome; results of display calls end here. */
async function takeResult(
  state: ConnectionState,
  follower: SessionFollower,
  frame: FrameOf<'tool.result'>,
): Promise<void> {
  const { init } = state
  const { callId, result, error } = frame.payload
  const display = parseDisplayTool(callId)
  const tool = display ?? follower.findToolName(callId) ?? null
  const data: JsonObject = { session: frame.sessionId, callId, tool, error: result === null ? (error ?? '') : null }
  init.log.info('a result was received', data)
  if (display !== undefined) {
    await follower.noteAnswer(callId)
    return
  }
  follower.trackResult(callId)
  const outcome = decodeResult(frame, init.limits.resultBytes)
  // Submitted together, so that the result and the call the app has reached are one commit.
  const report = { type: 'tool-result', callId, connection: init.connection, outcome } as const
  await Promise.all([tell(state, follower.session.submit(report)), follower.noteAnswer(callId)])
}

function decodeResult({ payload }: FrameOf<'tool.result'>, resultBytes: number): Outcome {
  const { result, error } = payload
  const bytes = Buffer.byteLength(result ?? error ?? '')
  if (bytes > resultBytes) {
    const message = `the result has ${bytes} bytes; at most ${resultBytes} are accepted`
    return { type: 'error', code: 'result_too_large', message }
  }
  if (result === null) return { type: 'error', code: 'tool_failed', message: error ?? '' }
  return { type: 'ok', content: [{ type: 'text', text: result }] }
}

async function tell(state: ConnectionState, told: Promise<Accepted | Refused>): Promise<void> {
  try {
    const answer = await told
    if (answer.type === 'refused') sendError(state, answer.code, answer.message)
  } catch (cause) {
    reportFailure(state, cause)
  }
}
