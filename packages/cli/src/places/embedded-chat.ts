// A chat whose turns run in this process, over a store.
import { frontOf, readText, runsWhere } from '@baton/core/internal'
import type {
  Agent,
  EventCursor,
  EventStream,
  FrontSession,
  Session,
  SessionEvent,
  Store,
  Turn,
} from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import { chooseModel } from '@baton/models/choose-model'
import type { Console } from '../console.ts'
import type { AskPerson, ChatPartner, Conversation, ConversationTurn, OnAside } from '../terminal/conversation.ts'
import { readDecision } from '../terminal/conversation.ts'
import type { EmbeddedHost, EmbeddedHostOptions } from './embedded-host.ts'
import { openEmbeddedHost } from './embedded-host.ts'
import { escapeLine } from '../terminal/escape-controls.ts'
import { logLines } from '../words/log-lines.ts'
import { createSessionControls } from './session-controls.ts'
import { nameOfStore } from './store-location.ts'

export interface EmbeddedChatOptions extends EmbeddedHostOptions {
  readonly terminal: Console
  readonly askPerson: AskPerson
}

/** @throws BatonError as `openEmbeddedHost` does */
export async function openEmbeddedChat(init: EmbeddedChatOptions): Promise<ChatPartner> {
  const embedded = await openEmbeddedHost(init)
  const { choice, agent, permissions } = embedded
  const store = init.store && init.store.type !== 'memory' ? [`store ${nameOfStore(init.store)}`] : []
  const may = permissions === undefined ? [] : [`permissions ${permissions}`]
  return {
    about: [`model ${choice.id}, ${choice.reason}`, `agent ${agent.name}`, ...store],
    may,
    ...suggest(init.agent === undefined ? undefined : agent),
    open: (name, onAside) => openConversation({ ...init, embedded, onAside }, name),
    close: () => embedded.stop(0),
  }
}

const TOOLS_SHOWN = 3

/** Suggests what to ask; `agent` is absent for the default agent of the folder. */
function suggest(agent: Agent | undefined): Pick<ChatPartner, 'hint'> {
  if (!agent) return { hint: 'ask about this folder, such as: which files here mention WebSocket?' }
  const shown = agent.tools.slice(0, TOOLS_SHOWN).map(({ name, description }) => {
    const [first = ''] = description.split(/(?<=[.!?])\s|\n/)
    return escapeLine(`${name} (${first.replace(/\.$/, '')})`)
  })
  return shown.length > 0 ? { hint: `ask for what its tools do: ${shown.join(', ')}` } : {}
}

/** Phases in which the session waits for the person: they may have paused or stopped it. */
const AT_REST: ReadonlySet<FrontSession['phase']> = new Set(['idle', 'paused', 'stopped'])

/** State that a chat passes on to the next one of the session. */
interface Before {
  readonly from: EventCursor
  /** Chosen in this chat. */
  readonly model: string | undefined
}

interface Opening extends EmbeddedChatOptions {
  readonly embedded: EmbeddedHost
  readonly onAside: OnAside
}

async function openConversation(init: Opening, name: string | undefined, own?: Before): Promise<Conversation> {
  const { host, agent, choice, environment, store, variables } = init.embedded
  const before = name === undefined ? undefined : await findRemembered(store, name)
  const session = await host.session(name ?? environment.newId())
  const { head, approvals, questions } = await session.info()
  const tools = agent.tools.filter((tool) => runsWhere(tool) === 'client')
  const isUnderWay = before !== undefined && !AT_REST.has(frontOf(session).phase)
  const resumed = isUnderWay ? resumeTurn(session, before.lastInput) : undefined
  const watch = new SessionWatch(session, own?.from ?? head, {
    onAside: init.onAside,
    isFollowed: resumed !== undefined,
  })
  const ask = async (_input: unknown, call: Parameters<AskPerson>[0]): Promise<unknown> => {
    await resumed?.shown(call.callId)
    return await init.askPerson(call)
  }
  if (tools.length > 0) await session.attach(Object.fromEntries(tools.map((tool) => [tool.name, ask])))
  let isUsed = before !== undefined
  let model = before?.model ?? choice.id
  // The person's current options override earlier ones.
  let wanted = own ? own.model : init.model === undefined ? undefined : choice.id
  const setModel = async (named: string | undefined): Promise<string> => {
    if (named === undefined) return `model ${model}`
    const { id } = chooseModel({ flag: named, variables })
    await session.configure({ model: id })
    model = id
    wanted = id
    return `switched to model ${id}`
  }
  if (wanted !== undefined && model !== wanted) await setModel(wanted)
  const controls = createSessionControls(session, agent)
  return {
    session: session.id,
    about: own
      ? [describeReturn(session.id, await watch.past)]
      : before
        ? [`continuing session ${session.id}: ${turns(before.turns)} so far, model ${model}`]
        : [],
    resumed: resumed?.turn,
    waiting: { approvals: approvals.map(({ approvalId, ...call }) => ({ approvalId, call })), questions },
    reopen: async () =>
      watch.isAway ? await openConversation(init, session.id, { from: watch.cursor, model: wanted }) : undefined,
    send: (text) => {
      isUsed = true
      const turn = session.send(text)
      watch.follow(turn.id)
      return turn
    },
    interrupt: async () => void (await session.interrupt({ reason: 'the person interrupted' })),
    setModel,
    decide: async (approvalId, answer) => {
      await session.decide({ approvalId, ...readDecision(answer) })
    },
    controls: { ...controls, retry: () => watch.followNext(controls.retry()) },
    log: async () => logLines(await listRecords(store, session.id)),
    close: async () => {
      const isElsewhere = watch.isAway
      watch.leave()
      await session.close()
      // A session without messages is not kept; if another process has taken it over, it is left alone.
      if (!isUsed && !isElsewhere) await host.remove(session.id)
    },
  }
}

const SAID_CHARS = 120

function describeReturn(session: string, said: readonly string[]): string {
  const newest = said.at(-1)
  const who = `session ${escapeLine(session)} is back from another process`
  if (newest === undefined) return `${who}: nothing was said there`
  const [line = ''] = newest.trim().split('\n')
  const shown = line.length > SAID_CHARS ? `${line.slice(0, SAID_CHARS).toWellFormed()}…` : line
  const count = said.length === 1 ? '' : `${said.length} messages, the newest `
  return `${who}; said there: ${count}"${escapeLine(shown)}"`
}

interface ResumedTurn {
  readonly turn: Turn
  /** Resolves when the call was shown or the turn has ended: a person sees a call before being asked to run it. */
  shown(callId: string): Promise<void>
}

/** The turn in progress, from its beginning. */
function resumeTurn(session: Session, inputId: string | undefined): ResumedTurn | undefined {
  if (inputId === undefined) return undefined
  const turn = session.turn(inputId)
  const calls = new Set<string>()
  let isOver = false
  let wake = Promise.withResolvers<void>()
  const events = async function* (): AsyncGenerator<SessionEvent> {
    try {
      for await (const event of turn) {
        yield event // resumes when the reader asks for the next one
        if (event.type !== 'call') continue
        calls.add(event.call.callId)
        wake.resolve()
        wake = Promise.withResolvers()
      }
    } finally {
      isOver = true
      wake.resolve()
    }
  }
  const shown = async (callId: string): Promise<void> => {
    while (!isOver && !calls.has(callId)) await wake.promise
  }
  return { turn: { ...turn, [Symbol.asyncIterator]: events }, shown }
}

interface Remembered {
  readonly turns: number
  readonly model: string | undefined
  readonly lastInput: string | undefined
}

/** Returns `undefined` if there is no such session yet. */
async function findRemembered(store: Store, session: string): Promise<Remembered | undefined> {
  let found: Remembered | undefined
  for await (const { facts } of store.read(session, 0)) {
    found ??= { turns: 0, model: undefined, lastInput: undefined }
    for (const fact of facts) {
      if (fact.type === 'turn-started') found = { ...found, turns: found.turns + 1 }
      else if (fact.type === 'model-set') found = { ...found, model: fact.model }
      else if (fact.type === 'input-accepted') found = { ...found, lastInput: fact.inputId }
    }
  }
  return found
}

async function listRecords(store: Store, session: string): Promise<readonly SessionRecord[]> {
  const records: SessionRecord[] = []
  for await (const record of store.read(session, 0)) records.push(record)
  return records
}

function turns(count: number): string {
  return count === 1 ? '1 turn' : `${count} turns`
}

interface WatchOptions {
  readonly onAside: OnAside
  /** Whether the running turn is followed. */
  readonly isFollowed: boolean
}

/**
 * Watches the session of a chat: whether this process still has it, its messages from before the watch began, and events
 * outside of the turns that the chat follows.
 */
class SessionWatch {
  readonly #events: EventStream
  readonly #onAside: OnAside
  /** Messages whose turns the chat follows. */
  readonly #followed = new Set<string>()
  #followsNext = false
  /** Whether the running turn is followed. */
  #isFollowed: boolean
  readonly #past = Promise.withResolvers<readonly string[]>()
  /** Position after the last event seen here. */
  cursor: EventCursor
  /**
   * Whether the host has released the session: another process asked for it while it was at rest, or its lease ended.
   */
  isAway = false

  constructor(session: Session, from: EventCursor, { onAside, isFollowed }: WatchOptions) {
    this.cursor = from
    this.#onAside = onAside
    this.#isFollowed = isFollowed
    this.#events = session.events({ from })
    this.#read()
      .catch(() => {}) // the host lost the session; when it is opened again, the missed messages are shown
      .finally(() => {
        this.isAway = true
        this.#past.resolve([])
        onAside()
      })
  }

  /** Messages of people before the watch was up to date, once they are read. */
  get past(): Promise<readonly string[]> {
    return this.#past.promise
  }

  /** Called with the message of a turn that the chat follows. */
  follow(message: string): void {
    this.#followed.add(message)
  }

  /** Called with a request for another answer to a message. */
  async followNext(turn: Promise<ConversationTurn>): Promise<ConversationTurn> {
    this.#followsNext = true
    try {
      return await turn
    } catch (cause) {
      this.#followsNext = false
      throw cause
    }
  }

  leave(): void {
    this.#events.leave()
  }

  async #read(): Promise<void> {
    const said: string[] = []
    let isPast = true
    for (let batch = await this.#events.nextBatch(); batch; batch = await this.#events.nextBatch()) {
      for (const event of batch.events) {
        if (event.type === 'live') isPast = false
        else if (!isPast) this.#take(event)
        else if (event.type === 'message-added' && event.message.role === 'user')
          said.push(readText(event.message.parts))
      }
      this.cursor = batch.next
      if (!isPast) this.#past.resolve(said)
    }
  }

  #take(event: SessionEvent): void {
    if (event.type === 'message-entered' && (this.#followsNext || this.#followed.delete(event.message))) {
      this.#isFollowed = true
      this.#followsNext = false
    }
    const isOwn = event.type === 'message-added' && this.#followed.has(event.message.id)
    if (!this.#isFollowed && !isOwn) this.#onAside(event)
    if (event.type === 'turn-finished') this.#isFollowed = false
  }
}
