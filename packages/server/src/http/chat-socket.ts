// Chats over a WebSocket, as the `WebSocketChatTransport` of ai 7 speaks it: requests with an id, and chunks that are numbered.
// Source: ai 7.0.173, `ui/websocket-chat-transport.ts`.
import type { JsonObject, Principal, Session } from '@baton/core'
import { isJsonObject, parseJson } from '@baton/core'
import { describeThrown } from '@baton/runtime'
import { CLOSE_CODES } from '../shared/socket.ts'
import type { Socket } from '../shared/socket.ts'
import type { OpenedChat } from './chat.ts'
import { checkDraining, checkThere, createChatWorld, openChat, readUntil, resumeChat } from './chat.ts'
import { readChatRequest } from './chat-request.ts'
import type { HandlerParts } from './handler.ts'
import { describeError } from './http-errors.ts'
import { createInvalid } from './ui-messages.ts'

export interface ChatConnection {
  /** An answer is being told. */
  isBusy(): boolean
  busySession(): string | undefined
  close(code: number, reason: string): void
}

/** Requests of one connection at once; one more is answered by an error. */
const REQUESTS_MAX = 16

export function openChatConnection(parts: HandlerParts, socket: Socket, principal: Principal): ChatConnection {
  return new Connection(parts, socket, principal)
}

interface Running {
  readonly session: string
  hasLeft: boolean
  /** Ends the reading; the turn goes on. */
  readonly left: PromiseWithResolvers<void>
}

class Connection implements ChatConnection {
  readonly #parts: HandlerParts
  readonly #socket: Socket
  readonly #principal: Principal
  readonly #running = new Map<string, Running>()

  constructor(parts: HandlerParts, socket: Socket, principal: Principal) {
    this.#parts = parts
    this.#socket = socket
    this.#principal = principal
    socket.onMessage((text) => this.#take(text))
    socket.onClose(() => {
      for (const one of this.#running.values()) leave(one)
    })
  }

  isBusy(): boolean {
    return this.#running.size > 0
  }

  busySession(): string | undefined {
    return [...this.#running.values()][0]?.session
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason)
  }

  #take(text: string | undefined): void {
    const parsed = text === undefined ? undefined : parseJson(text)
    const frame = parsed?.ok && isJsonObject(parsed.value) ? parsed.value : undefined
    const requestId = frame?.['requestId']
    if (!frame || typeof requestId !== 'string' || requestId.length > 256) {
      this.#socket.close(CLOSE_CODES.policy, 'a frame is JSON with a requestId')
      return
    }
    const known = this.#running.get(requestId)
    if (frame['type'] === 'abort') {
      if (known) leave(known)
      return
    }
    this.#serve(frame, requestId, known !== undefined).catch((cause: unknown) => {
      const { log } = this.#parts.world
      this.#tell({ type: 'error', requestId, errorText: describeError(cause, log) })
    })
  }

  async #serve(frame: JsonObject, requestId: string, isKnown: boolean): Promise<void> {
    const { host, allow } = this.#parts
    const { type, id, body } = frame
    if (type !== 'send' && type !== 'resume') throw createInvalid('type must be "send", "resume" or "abort"')
    if (typeof id !== 'string' || id === '') throw createInvalid('id must be the chat’s id')
    if (isKnown || this.#running.size >= REQUESTS_MAX)
      throw createInvalid(
        isKnown ? 'this requestId is in use' : `a connection may have ${REQUESTS_MAX} requests at once`,
      )
    const more = isJsonObject(body) ? body : {}
    const request = type === 'send' ? readChatRequest({ ...more, ...frame }, allow) : undefined
    if (request) checkDraining(this.#parts, request.wish)
    if (request) await checkThere(this.#parts, request)
    const running: Running = { session: id, hasLeft: false, left: Promise.withResolvers() }
    this.#running.set(requestId, running)
    try {
      const session = await host.session(id, { principal: this.#principal })
      try {
        const world = createChatWorld(this.#parts, id)
        const opened = request ? await openChat(session, request, world) : await resumeChat(session, world)
        if (opened) await this.#tellAnswer(opened, { requestId, running, session })
        else this.#tell({ type: 'no-active', requestId })
      } finally {
        await session.close()
      }
    } finally {
      this.#running.delete(requestId)
    }
  }

  async #tellAnswer({ answer, events }: OpenedChat, { requestId, running, session }: Telling): Promise<void> {
    const { log } = this.#parts.world
    let sequence = 0
    this.#tell({ type: 'start', requestId })
    try {
      for await (const event of readUntil(events, running.left.promise)) {
        for (const chunk of await answer.take(event))
          this.#tell({ type: 'chunk', requestId, sequence: sequence++, chunk })
        if (answer.isOver) break
      }
      if (answer.isOver) this.#tell({ type: 'end', requestId })
      // Without its end the page knows that something is missing, and resumes.
      else if (!running.hasLeft) this.#socket.close(CLOSE_CODES.restarted, 'the session is closed here')
    } catch (cause) {
      log.warn('an answer could not be told to its end', { session: session.id, cause: describeThrown(cause) })
      this.#socket.close(CLOSE_CODES.failed, 'an answer could not be told')
    } finally {
      await answer.leave()
    }
  }

  #tell(frame: object): void {
    if (!this.#socket.send(JSON.stringify(frame))) return
    if (this.#socket.bufferedBytes() > this.#parts.limits.waitingBytes)
      this.#socket.close(CLOSE_CODES.tooSlow, 'the reader is too slow')
  }
}

interface Telling {
  readonly requestId: string
  readonly running: Running
  readonly session: Session
}

function leave(running: Running): void {
  running.hasLeft = true
  running.left.resolve()
}
