// Chats over a WebSocket, in the protocol of ai 7's `WebSocketChatTransport`: requests with an id, and numbered chunks.
// Source: ai 7.0.173, `ui/websocket-chat-transport.ts`.
import type { JsonObject, Principal, FrontSession } from '@baton/core/internal'
import { isBatonError, isJsonObject, parseJson, frontOf } from '@baton/core/internal'
import { describeThrown } from '@baton/runtime'
import { CLOSE_CODES, closeSlow, waitForReader } from '../shared/socket.ts'
import type { FrontConnection, Socket } from '../shared/socket.ts'
import type { OpenedChat } from './chat.ts'
import { checkDraining, checkThere, createChatWorld, endTurn, openChat, resumeChat, tellChunks } from './chat.ts'
import type { ChatRequest } from './chat-request.ts'
import { readChatRequest } from './chat-request.ts'
import { createInvalid } from './ui-messages.ts'
import type { Asker } from './chat-quotas.ts'
import type { HandlerParts, HandlerOptions } from './handler-parts.ts'
import { describeError } from './http-errors.ts'
import { passOn, readPassedChunks } from './pass-on.ts'
import { checkOptions, demandHost } from '../shared/check-options.ts'
import type { HostWithSessions } from '../shared/check-options.ts'
import { createParts, HANDLER_OPTIONS } from './handler-parts.ts'

/** One page on the WebSocket of `createChatSocket`. A front that closes idle connections asks `isBusy` first. */
export interface ChatConnection extends FrontConnection {}

/** Concurrent requests per connection; any beyond get an error. */
const REQUESTS_MAX = 16

export function openChatConnection(
  parts: HandlerParts,
  socket: Socket,
  principal: Principal,
  address?: string,
): ChatConnection {
  return new Connection(parts, socket, { principal, asker: { principal: principal.id, address } })
}

interface Client {
  readonly principal: Principal
  readonly asker: Asker
}

interface Running {
  readonly session: string
  hasLeft: boolean
  /** Resolves to stop reading; the turn continues. */
  readonly left: PromiseWithResolvers<void>
}

class Connection implements ChatConnection {
  readonly #parts: HandlerParts
  readonly #socket: Socket
  readonly #client: Client
  readonly #running = new Map<string, Running>()

  constructor(parts: HandlerParts, socket: Socket, client: Client) {
    this.#parts = parts
    this.#socket = socket
    this.#client = client
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
      this.#socket.close(CLOSE_CODES.policy, 'a frame must be JSON with a requestId')
      return
    }
    const known = this.#running.get(requestId)
    if (frame['type'] === 'abort') {
      if (known) leave(known)
      return
    }
    const bytes = new TextEncoder().encode(text).length
    this.#serve({ frame, requestId, isKnown: known !== undefined, bytes }).catch((cause: unknown) => {
      const { world, limits } = this.#parts
      if (isBatonError(cause) && cause.code === 'session_held') {
        world.log.warn('a request failed', { code: cause.code, cause: cause.message })
        this.#socket.close(
          CLOSE_CODES.restarted,
          'another server holds the session and cannot be reached; connect again',
        )
        return
      }
      this.#tell({ type: 'error', requestId, errorText: describeError(cause, world.log) })
      // Refusals are sent without backpressure, so a client that causes many has to read them.
      if (this.#socket.bufferedBytes() > 2 * limits.waitingBytes) closeSlow(this.#socket)
    })
  }

  async #serve({ frame, requestId, isKnown, bytes }: Asked): Promise<void> {
    const { allow, quotas } = this.#parts
    const { asker } = this.#client
    quotas.takeRequest(asker)
    quotas.takeBytes(asker, bytes)
    const { type, id, body } = frame
    if (type !== 'send' && type !== 'resume') throw createInvalid('type must be "send", "resume" or "abort"')
    if (typeof id !== 'string' || id === '') throw createInvalid('id must be the chat’s id')
    if (isKnown || this.#running.size >= REQUESTS_MAX)
      throw createInvalid(
        isKnown ? 'this requestId is in use' : `a connection may have ${REQUESTS_MAX} requests at once`,
      )
    const more = isJsonObject(body) ? body : {}
    const said = type === 'send' ? { ...more, ...frame } : undefined
    const request = said && readChatRequest(said, allow)
    if (request) checkDraining(this.#parts, request.wish)
    const running: Running = { session: id, hasLeft: false, left: Promise.withResolvers() }
    this.#running.set(requestId, running)
    try {
      await this.#answerHere(request, { requestId, running })
    } catch (cause) {
      if (!(await this.#answerElsewhere(said, { requestId, running }, cause))) throw cause
    } finally {
      this.#running.delete(requestId)
    }
  }

  async #answerHere(request: ChatRequest | undefined, { requestId, running }: Telling): Promise<void> {
    const { host, quotas } = this.#parts
    const { principal, asker } = this.#client
    const { session: id } = running
    const release = quotas.holdStream(asker)
    const begun = this.#parts.begun.begin(id)
    let endWork = (): void => {}
    let session: FrontSession | undefined
    let hasEnded = true
    try {
      if (request) await checkThere(this.#parts, request)
      // A request for a session does not create it.
      else if ((await host.has?.(id)) === false) {
        this.#tell({ type: 'no-active', requestId })
        return
      }
      if (request) endWork = quotas.holdTurn(asker, id, request.wish.type === 'continue')
      session = frontOf(await host.session(id, { principal, existing: request?.wish.type !== 'send' }))
      const world = createChatWorld(this.#parts, { id, principal }, begun.isCancelled)
      const opened = request ? await openChat(session, request, world) : await resumeChat(session, world)
      begun.end()
      if (!opened) this.#tell({ type: 'no-active', requestId })
      else if (!(await this.#tellAnswer(opened, { requestId, running, session }))) hasEnded = !request
    } finally {
      begun.end()
      release()
      if (session) void endTurn(session, hasEnded, endWork)
      else endWork()
    }
  }

  /**
   * Passes the request to the peer that holds the session, over HTTP. False if there is no such peer, or it cannot be
   * reached.
   */
  async #answerElsewhere(
    said: JsonObject | undefined,
    { requestId, running }: Telling,
    cause: unknown,
  ): Promise<boolean> {
    const { basePath, limits } = this.#parts
    const leaving = new AbortController()
    running.left.promise.then(() => leaving.abort()).catch(() => {})
    const asked = said
      ? { method: 'POST', path: `${basePath}/chat`, headers: JSON_BODY, readBody: async () => encodeJson(said) }
      : { method: 'GET', path: `${basePath}/chat/${encodeURIComponent(running.session)}/stream`, headers: {} }
    const response = await passOn(this.#parts, { ...asked, ...this.#client, signal: leaving.signal }, cause)
    if (!response) return false
    const { status, ok, body } = response
    if (status === 204) this.#tell({ type: 'no-active', requestId })
    else if (ok && body) {
      this.#tell({ type: 'start', requestId })
      let sequence = 0
      await this.#tellWhole({ requestId, running }, () =>
        readPassedChunks(body, limits.bodyBytes, (chunk) => {
          this.#tell({ type: 'chunk', requestId, sequence: sequence++, chunk })
          return this.#waitForRoom(running)
        }),
      )
    } else this.#tell({ type: 'error', requestId, errorText: await response.text() })
    return true
  }

  /** Returns whether the whole answer was sent. */
  async #tellAnswer(opened: OpenedChat, telling: Telling & { readonly session: FrontSession }): Promise<boolean> {
    const { requestId, running } = telling
    const { answer } = opened
    let sequence = 0
    this.#tell({ type: 'start', requestId })
    await this.#tellWhole(telling, async () => {
      try {
        await tellChunks(opened, running.left.promise, {
          world: this.#parts.world,
          write: (chunk) => this.#tell({ type: 'chunk', requestId, sequence: sequence++, chunk }),
          waitForRoom: () => this.#waitForRoom(running),
        })
      } finally {
        await answer.leave()
      }
      return answer.isOver
    })
    return answer.isOver
  }

  /** Writes `end` if `tell` reports a complete answer. Otherwise closes the connection, so that the page resumes. */
  async #tellWhole({ requestId, running }: Telling, tell: () => Promise<boolean>): Promise<void> {
    try {
      if (await tell()) this.#tell({ type: 'end', requestId })
      else if (!running.hasLeft) this.#socket.close(CLOSE_CODES.restarted, 'the session is closed here')
    } catch (cause) {
      if (running.hasLeft) return
      const { log } = this.#parts.world
      log.warn('an answer could not be sent completely', { session: running.session, cause: describeThrown(cause) })
      this.#socket.close(CLOSE_CODES.failed, 'an answer could not be sent')
    }
  }

  /** Waits while too many bytes are unsent. A reader that stalls is disconnected, and resumes. */
  #waitForRoom(running: Running): Promise<void> | undefined {
    return this.#socket.bufferedBytes() > this.#parts.limits.waitingBytes ? this.#waitForReader(running) : undefined
  }

  async #waitForReader(running: Running): Promise<void> {
    const { world, limits } = this.#parts
    const wait = { timers: world.timers, waitingBytes: limits.waitingBytes, isOver: () => running.hasLeft }
    if (!(await waitForReader(this.#socket, wait))) closeSlow(this.#socket)
  }

  #tell(frame: object): void {
    this.#socket.send(JSON.stringify(frame))
  }
}

interface Asked {
  readonly frame: JsonObject
  readonly requestId: string
  /** Whether another request with this id is running. */
  readonly isKnown: boolean
  readonly bytes: number
}

interface Telling {
  readonly requestId: string
  readonly running: Running
}

const JSON_BODY = { 'content-type': 'application/json' }

function encodeJson(value: JsonObject): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value))
}

function leave(running: Running): void {
  running.hasLeft = true
  running.left.resolve()
}

/**
 * Returns a function that serves one connection of a `WebSocketChatTransport`, whose principal the server has
 * authenticated. With `createWebSocketFront`: `chats: createChatSocket(host)`.
 * @throws BatonError `invalid_option` without a host, for a misspelt option, a base path that does not begin with a
 * slash, a limit that is not a whole number of at least 1, and peers with an invalid address or secret
 */
export function createChatSocket(
  host: HostWithSessions,
  options: Omit<HandlerOptions, 'authenticate' | 'origins' | 'hosts'> = {},
): (socket: Socket, principal: Principal, address?: string) => ChatConnection {
  demandHost(host, 'createChatSocket(host, options)')
  checkOptions(options, { what: 'createChatSocket', ...HANDLER_OPTIONS })
  const parts = createParts(host, options)
  return (socket, principal, address) => openChatConnection(parts, socket, principal, address)
}
