// The sessions that one client has open, in either protocol version: creates, opens, lists, closes and removes them.
import type { JsonObject, FrontSession } from '@baton/core/internal'
import { BatonError, findSessionIdIssue, frontOf } from '@baton/core/internal'
import { isAbsolute } from 'node:path'
import type { BegunRequest } from '../shared/begun-requests.ts'
import { BegunRequests } from '../shared/begun-requests.ts'
import type { HostWithSessions } from '../shared/check-options.ts'
import { AcpSession } from './acp-session.ts'
import type { Mode } from './choices.ts'
import { isMode, obeyMode } from './choices.ts'
import type { AcpConnection, AcpMcpServer, AcpParts, AcpPlace } from './options.ts'
import type { Editor } from './editor.ts'
import type { Wire } from './wire.ts'

export interface OpeningPlace {
  readonly cwd: string
  readonly additionalDirectories: readonly string[]
  readonly mcpServers: readonly AcpMcpServer[]
}

interface GivenPlace<Server> {
  readonly cwd: string
  readonly additionalDirectories?: readonly string[]
  readonly mcpServers?: readonly Server[]
}

export function readPlace<Server>(
  { cwd, additionalDirectories = [], mcpServers = [] }: GivenPlace<Server>,
  readServer: (server: Server) => AcpMcpServer,
): OpeningPlace {
  return { cwd, additionalDirectories, mcpServers: mcpServers.map(readServer) }
}

export interface SessionClient {
  createWire(session: string, find: () => AcpSession | undefined): Wire
  createEditor(session: string, onTerminal: (callId: string, terminalId: string) => Promise<void>): Editor
}

/** A page of sessions in the wire format shared by both versions. */
export interface ListedPage {
  readonly sessions: {
    readonly sessionId: string
    readonly cwd: string
    readonly additionalDirectories?: string[]
    readonly title?: string
    readonly updatedAt: string
  }[]
  readonly nextCursor?: string
}

/** Starts an opened session. */
export type Begin = (opened: AcpSession) => Promise<void>

interface Opening {
  readonly isNew?: boolean
  readonly begin?: Begin | undefined
}

const PAGE = 50
/** Maximum number of calls per session whose terminals are remembered. */
const TERMINALS_MAX = 256

export class OpenSessions implements AcpConnection {
  readonly #host: HostWithSessions
  readonly #parts: AcpParts
  readonly #client: SessionClient
  readonly #open = new Map<string, AcpSession>()
  /** Openings by session, so that those of one session run one after another. */
  readonly #opening = new Map<string, Promise<unknown>>()
  /** Prompts without an answer. */
  readonly #prompts = new BegunRequests()

  constructor(host: HostWithSessions, parts: AcpParts, client: SessionClient) {
    this.#host = host
    this.#parts = parts
    this.#client = client
  }

  all(): readonly AcpSession[] {
    return [...this.#open.values()]
  }

  /** @throws BatonError `unknown_session` if this client has not opened it */
  find(id: string): AcpSession {
    const found = this.#open.get(id)
    if (found) return found
    throw createUnknown(id)
  }

  /** Like `find`, but reopens a session that the host has released. @throws BatonError as `open` */
  async reach(id: string): Promise<AcpSession> {
    // Checked again after each: if an opening fails, the first of several waiters reopens the session and the others
    // wait for that.
    for (let opening = this.#opening.get(id); opening; opening = this.#opening.get(id)) await opening.catch(() => {})
    const found = this.find(id)
    if (!found.isAway) return found
    const { cwd, additionalDirectories, mcpServers } = found.given
    try {
      const given = { cwd, additionalDirectories, mcpServers }
      return await this.#openOnce(id, given, { begin: (reached) => reached.start(found.cursor) })
    } catch (cause) {
      // The client still has the session open, and may try again when its current holder is done.
      if (!this.#open.has(id)) this.#open.set(id, found)
      throw cause
    }
  }

  /** Notes a prompt, which is not sent once it is cancelled. End it when it is answered. */
  beginPrompt(id: string, signal?: AbortSignal): BegunRequest {
    return this.#prompts.begin(id, signal)
  }

  /**
   * Reaches the session for a prompt. Returns `undefined` if the client cancelled the prompt meanwhile. @throws
   * BatonError as `open`
   */
  async reachForPrompt(id: string, prompt: BegunRequest): Promise<AcpSession | undefined> {
    const reached = await this.reach(id)
    return prompt.isCancelled() ? undefined : reached
  }

  /**
   * Cancels the session's turn and its prompts, sent or not. Does nothing for a session that is not open.
   */
  cancel(id: string, reason: string): void {
    this.#prompts.cancel(id)
    void this.#open.get(id)?.cancel(reason)
  }

  /**
   * @throws BatonError `invalid_event`, `quota_exceeded`, `model_not_configured`, or an error of `agentOf` or the host
   */
  async create(place: OpeningPlace, begin?: Begin): Promise<AcpSession> {
    return await this.#openOnce(this.#parts.newId(), place, { isNew: true, begin })
  }

  /**
   * Other requests wait until `begin` has started the session: the events of a prompt would be missed.
   * @throws BatonError as `create` and `begin`, and `unknown_session`
   */
  async open(id: string, place: OpeningPlace, begin?: Begin): Promise<AcpSession> {
    const issue = findSessionIdIssue(id)
    if (issue !== undefined || (this.#host.has && !(await this.#host.has(id)))) throw createUnknown(id)
    return await this.#openOnce(id, place, { begin })
  }

  isBusy(): boolean {
    return this.busySession() !== undefined
  }

  busySession(): string | undefined {
    return this.all().find(({ isBusy }) => isBusy)?.session.id
  }

  /** @throws BatonError `invalid_option`, `store_failed` */
  async list(cwd: string | null | undefined, cursor: string | null | undefined): Promise<ListedPage> {
    const { principal, folder } = this.#parts
    if (!this.#host.sessions) return { sessions: [] }
    const isGiven = cwd !== undefined && cwd !== null
    // Sessions started elsewhere have no folder in their meta.
    const isElsewhere = isGiven && cwd === folder
    const page = await this.#host.sessions({
      principal,
      limit: PAGE,
      ...(isGiven && !isElsewhere && { meta: { cwd } }),
      ...(cursor !== undefined && cursor !== null && { cursor }),
    })
    const sessions = page.sessions.flatMap(({ id: sessionId, title, lastMs, meta }) => {
      const { cwd: at = folder } = meta
      if (typeof at !== 'string' || (isGiven && at !== cwd)) return []
      const additionalDirectories = readTexts(meta['additionalDirectories'])
      return [
        {
          sessionId,
          cwd: at,
          ...(additionalDirectories.length > 0 && { additionalDirectories }),
          ...(title !== undefined && { title }),
          updatedAt: new Date(lastMs).toISOString(),
        },
      ]
    })
    return { sessions, ...(page.cursor !== undefined && { nextCursor: page.cursor }) }
  }

  /** Cancels running work and closes the session. @throws BatonError `unknown_session` */
  async close(id: string): Promise<void> {
    const found = this.find(id)
    this.#prompts.cancel(id)
    await found.end('the editor closed the session')
    // Another request may have opened it again meanwhile.
    if (this.#open.get(id) === found) this.#open.delete(id)
  }

  /** @throws BatonError `illegal_input` if the host keeps no list; `unauthorized`, `store_failed` */
  async remove(id: string): Promise<void> {
    if (this.#open.has(id)) await this.close(id)
    if (!this.#host.remove) throw new BatonError({ code: 'illegal_input', message: 'this host cannot remove sessions' })
    if (this.#host.has && !(await this.#host.has(id))) throw createUnknown(id)
    await this.#host.remove(id, this.#parts.principal)
  }

  /** Releases all sessions of a disconnected client; their turns continue. Never rejects. */
  async leave(): Promise<void> {
    // An opening may wait for the client, which no longer reads.
    await Promise.all(this.all().map((session) => session.leave()))
    await Promise.all([...this.#opening.values()].map((opening) => opening.catch(() => {})))
    const open = [...this.#open.values()]
    this.#open.clear()
    await Promise.all(open.map((session) => session.leave()))
  }

  async #openOnce(id: string, place: OpeningPlace, { isNew = false, begin }: Opening): Promise<AcpSession> {
    const before = this.#opening.get(id) ?? Promise.resolve()
    const opening = before
      .catch(() => {})
      .then(async () => {
        const opened = await this.#openSession(id, place, isNew)
        try {
          await begin?.(opened)
          return opened
        } catch (cause) {
          if (this.#open.get(id) === opened) this.#open.delete(id)
          await opened.leave()
          throw cause
        }
      })
    this.#opening.set(id, opening)
    try {
      return await opening
    } finally {
      if (this.#opening.get(id) === opening) this.#opening.delete(id)
    }
  }

  async #openSession(id: string, given: OpeningPlace, isNew: boolean): Promise<AcpSession> {
    const { limits, auth, principal, agentOf } = this.#parts
    checkPlace(given, this.#parts)
    const former = this.#open.get(id)
    if (!former && this.#open.size >= limits.sessions)
      throw new BatonError({
        code: 'quota_exceeded',
        message: `a connection may have at most ${limits.sessions} sessions open`,
        hint: 'Close one first.',
      })
    const missing = await auth?.missing()
    if (missing !== undefined) throw new BatonError({ code: 'model_not_configured', message: missing })
    const terminals = new Map<string, string>()
    const find = (): AcpSession | undefined => this.#open.get(id)
    const wire = this.#client.createWire(id, find)
    const editor = this.#client.createEditor(id, async (callId, terminalId) => {
      terminals.set(callId, terminalId)
      const [oldest = ''] = terminals.keys()
      if (terminals.size > TERMINALS_MAX) terminals.delete(oldest)
      await wire.tell({ type: 'call-content', callId, content: [{ type: 'terminal', terminalId }] })
    })
    const place: AcpPlace = { session: id, ...given, editor }
    const mode: { current: Mode } = { current: 'ask' }
    const agent = obeyMode(await agentOf(place), () => mode.current)
    const { cwd, additionalDirectories } = given
    const meta: JsonObject = { cwd, ...(additionalDirectories.length > 0 && { additionalDirectories }) }
    const opening = isNew ? { description: { meta } } : { existing: true }
    // Closed before it is reopened, because its tools belong to another agent.
    await former?.leave()
    this.#open.delete(id)
    const session = frontOf(await this.#host.session(id, { agent, principal, ...opening }))
    try {
      const known = isNew ? meta : await noteFolder(session, meta)
      if (isMode(known['mode'])) mode.current = known['mode']
      const { thinking = 'default' } = known
      const shown = { session, place, parts: this.#parts, wire, mode, terminals }
      const opened = new AcpSession({ ...shown, thinking: typeof thinking === 'string' ? thinking : 'default' })
      this.#open.set(id, opened)
      return opened
    } catch (cause) {
      await session.close()
      throw cause
    }
  }
}

/** Updates the session's folders if they changed, and returns its meta. */
async function noteFolder(session: FrontSession, now: JsonObject): Promise<JsonObject> {
  const { meta } = await session.info()
  const { additionalDirectories: _, ...rest } = meta
  const next = { ...rest, ...now }
  if (JSON.stringify(sorted(next)) !== JSON.stringify(sorted(meta))) await session.describe({ meta: next })
  return next
}

function sorted(meta: JsonObject) {
  return Object.entries(meta).toSorted(([one], [other]) => (one < other ? -1 : 1))
}

/** @throws BatonError `invalid_event` */
function checkPlace({ cwd, additionalDirectories, mcpServers }: OpeningPlace, parts: AcpParts): void {
  const refuse = (message: string): BatonError => new BatonError({ code: 'invalid_event', message })
  if (additionalDirectories.length > 0 && !parts.additionalDirectories)
    throw refuse('this agent works in a single folder; leave out additionalDirectories')
  for (const path of [cwd, ...additionalDirectories])
    if (!isAbsolute(path) || path.includes('\0'))
      throw refuse(`a folder must be an absolute path, not ${JSON.stringify(path.slice(0, 200))}`)
  for (const { name, type } of mcpServers)
    if (!parts.mcp.includes(type))
      throw refuse(
        `the MCP server ${JSON.stringify(name.slice(0, 100))} has the type ${type}, which this agent does not support`,
      )
}

function readTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

function createUnknown(id: string): BatonError {
  return new BatonError({
    code: 'unknown_session',
    message: `there is no session ${JSON.stringify(id.slice(0, 100))} here`,
    hint: 'Load it first, or start a new one.',
  })
}
