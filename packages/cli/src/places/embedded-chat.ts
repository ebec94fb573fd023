// A chat whose turns run in this process, over a store.
import { frontOf, readText, runsWhere } from '@baton/core/internal'
import type { Agent, EventCursor, FrontSession, Session, SessionEvent, Store, Turn } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import { chooseModel } from '@baton/models/choose-model'
import type { Console } from '../console.ts'
import type { AskPerson, ChatPartner, Conversation } from '../terminal/conversation.ts'
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
    open: (name) => openConversation(init, embedded, name),
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

async function openConversation(
  init: EmbeddedChatOptions,
  embedded: EmbeddedHost,
  name: string | undefined,
  own?: Before,
): Promise<Conversation> {
  const { host, agent, choice, environment, store, variables } = embedded
  const before = name === undefined ? undefined : await findRemembered(store, name)
  const session = await host.session(name ?? environment.newId())
  const watch = watchSession(session, own?.from ?? (await session.info()).head)
  const tools = agent.tools.filter((tool) => runsWhere(tool) === 'client')
  const isUnderWay = before !== undefined && !AT_REST.has(frontOf(session).phase)
  const resumed = isUnderWay ? resumeTurn(session, before.lastInput) : undefined
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
  return {
    session: session.id,
    about: own
      ? [describeReturn(session.id, await watch.past)]
      : before
        ? [`continuing session ${session.id}: ${turns(before.turns)} so far, model ${model}`]
        : [],
    resumed: resumed?.turn,
    reopen: async () =>
      watch.isAway()
        ? await openConversation(init, embedded, session.id, { from: watch.cursor(), model: wanted })
        : undefined,
    send: (text) => {
      isUsed = true
      return session.send(text)
    },
    interrupt: async () => void (await session.interrupt({ reason: 'the person interrupted' })),
    setModel,
    decide: async (approvalId, answer) => {
      await session.decide({ approvalId, ...readDecision(answer) })
    },
    controls: createSessionControls(session, agent),
    log: async () => logLines(await listRecords(store, session.id)),
    close: async () => {
      const isElsewhere = watch.isAway()
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

interface SessionWatch {
  /**
   * Whether the host has released the session: another process asked for it while it was at rest, or its lease ended.
   */
  isAway(): boolean
  /** Position after the last event seen here. */
  cursor(): EventCursor
  /** Messages of people before the watch was up to date, once they are read. */
  readonly past: Promise<readonly string[]>
  leave(): void
}

/**
 * Watches the session of a chat: whether this process still has it, and its messages from before the watch began. It
 * sends nothing.
 */
function watchSession(session: Session, from: EventCursor): SessionWatch {
  const events = session.events({ from })
  const past = Promise.withResolvers<readonly string[]>()
  const said: string[] = []
  let cursor = from
  let isPast = true
  let isAway = false
  const follow = async (): Promise<void> => {
    for (let batch = await events.nextBatch(); batch; batch = await events.nextBatch()) {
      for (const event of batch.events) {
        if (event.type === 'live') isPast = false
        if (isPast && event.type === 'message-added' && event.message.role === 'user')
          said.push(readText(event.message.parts))
      }
      cursor = batch.next
      if (!isPast) past.resolve(said)
    }
  }
  follow()
    .catch(() => {}) // the host lost the session; when it is opened again, the missed messages are shown
    .finally(() => {
      isAway = true
      past.resolve(said)
    })
  return { isAway: () => isAway, cursor: () => cursor, past: past.promise, leave: () => events.leave() }
}
