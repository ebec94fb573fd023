// Writes the frames of one connection: adds the envelope, and limits unsent bytes. Keeps the calls that were written and
// not answered yet, in order: an app works through them strictly one after another, so the first is the one it is working
// on.
import type { Clock, Logger } from '@baton/core/internal'
import type { ServerFrame } from '@baton/protocol'
import { encodeFrame, PROTOCOL_VERSION } from '@baton/protocol'
import { encodeAppError } from '../shared/app-errors.ts'
import type { ConnectionLimits } from './limits.ts'
import type { Socket } from '../shared/socket.ts'
import { CLOSE_CODES } from '../shared/socket.ts'

/** A server's frame without its envelope. */
export type Body = { [Type in ServerFrame['type']]: BodyOf<Type> }[ServerFrame['type']]
type BodyOf<Type extends ServerFrame['type']> = {
  readonly type: Type
  readonly payload: Extract<ServerFrame, { readonly type: Type }>['payload']
}

export interface V1WriterOptions {
  readonly socket: Socket
  readonly clock: Clock
  readonly log: Logger
  readonly limits: Pick<ConnectionLimits, 'outgoingBytes'>
}

export class V1Writer {
  readonly #init: V1WriterOptions
  #version: typeof PROTOCOL_VERSION | undefined
  /** Time of the last timestamp: frames come in groups. */
  #nowMs = Number.NaN
  #timestamp = ''
  #isTooSlow = false

  constructor(init: V1WriterOptions) {
    this.#init = init
  }

  /** Called when the app's frames carry a version: ours then do too. */
  echoVersion(): void {
    this.#version = PROTOCOL_VERSION
  }

  /** False if the connection is broken or too slow; then nothing was written. */
  write(id: string, { type, payload }: Body, sessionId: string): boolean {
    const { socket, clock, log, limits } = this.#init
    if (this.#isTooSlow) return false
    const nowMs = clock.nowMs()
    if (nowMs !== this.#nowMs) this.#timestamp = new Date(nowMs).toISOString()
    this.#nowMs = nowMs
    const version = this.#version
    const envelope = {
      id,
      type,
      sessionId,
      timestamp: this.#timestamp,
      payload: type === 'error' ? encodeAppError(payload) : payload,
      ...(version && { protocolVersion: version }),
    }
    // Type and payload come from one body, so they match.
    const text = encodeFrame(envelope as ServerFrame)
    if (socket.bufferedBytes() + text.length > limits.outgoingBytes) {
      // Logged once: more frames arrive until the connection has ended.
      this.#isTooSlow = true
      log.warn('a connection was closed because it reads too slowly', {
        session: sessionId,
        limitBytes: limits.outgoingBytes,
      })
      socket.close(CLOSE_CODES.tooSlow, 'the connection reads too slowly')
      return false
    }
    return socket.send(text)
  }
}

export interface ModelOffer {
  readonly callId: string
  readonly offer: number
}

interface Written {
  readonly callId: string
  readonly offer: number | undefined
  reached: boolean
}

/** Apps need not answer display calls: the oldest are dropped, as if answered. */
const WRITTEN_MAX = 1000

export class WrittenCalls {
  #written: Written[] = []

  /** `offer` is absent for a display call, which is not awaited. Returns the offers that the app has now reached. */
  add(callId: string, offer?: number): readonly ModelOffer[] {
    this.#written.push({ callId, offer, reached: false })
    return this.#reach(this.#written.length > WRITTEN_MAX ? this.#written.splice(0, 1) : [])
  }

  /** Called when the app answered this call, and so has passed all before it. */
  answer(callId: string): readonly ModelOffer[] {
    const index = this.#written.findIndex((call) => call.callId === callId)
    if (index < 0) return []
    const passed = this.#written.slice(0, index)
    this.#written = this.#written.slice(index + 1)
    return this.#reach(passed)
  }

  /** Whether it was written and not answered. */
  has(callId: string): boolean {
    return this.#written.some((call) => call.callId === callId)
  }

  /** The app is working on the first one. */
  #reach(passed: readonly Written[]): readonly ModelOffer[] {
    const [first] = this.#written
    return [...passed, ...(first ? [first] : [])].flatMap((call) => {
      if (call.reached || call.offer === undefined) return []
      call.reached = true
      return [{ callId: call.callId, offer: call.offer }]
    })
  }
}
