// A client of one session: sends the user's messages, reports the agent's actions, and runs the agent's client tools.
import type { ServerFrame, ToolCallPayload } from '@baton/protocol'
import type { ConnectionState, ReconnectOptions, Connection } from './connection.ts'
import { openConnection } from './connection.ts'
import type { Listeners } from './listeners.ts'
import { createListeners, listenOnly } from './listeners.ts'
import type { ClientTool, ToolCalls, ToolHandlers, ToolResult, TypedAgent } from './tool-calls.ts'
import { createToolCalls, describeThrown } from './tool-calls.ts'
import type { World } from './world.ts'
import { platformWorld } from './world.ts'

/** Options of `createV1Client`. */
export interface V1ClientOptions<Tools = Readonly<Record<string, ClientTool>>> {
  /** `ws://127.0.0.1:8080/ws`; a token goes into `?token=`. */
  readonly url: string
  readonly session: string
  /** The agent's client tools that this app runs, by name. */
  readonly tools?: Tools
  /**
   * Runs calls of tools that `tools` does not name; a console, for example, asks a person. Without it these calls fail.
   */
  readonly otherTool?: ClientTool
  /** Speaks a text; later display calls wait until it is done. */
  readonly speak?: (text: string) => unknown
  readonly reconnect?: ReconnectOptions
  readonly world?: World
}

export type AgentState = 'idle' | 'thinking' | 'speaking'

const EVENTS: readonly string[] = 'connection state message partial final call result error'.split(' ')

export interface V1ClientEvents {
  readonly connection: ConnectionState
  readonly state: AgentState
  /** A message to display in the conversation. */
  readonly message: { readonly role: 'user' | 'assistant'; readonly text: string }
  /** The whole answer so far; the next one replaces it. */
  readonly partial: string
  readonly final: string
  readonly call: { readonly callId: string; readonly name: string }
  readonly result: ToolResult
  /** An error sent by the server. With `unauthorized` it rejects this client, and the connection stays closed. */
  readonly error: { readonly code: string; readonly message: string }
}

/**
 * A client of protocol 1, from `createV1Client`: it speaks with voice servers of the first protocol. New apps use
 * `openSession`.
 */
export interface V1Client {
  /** Sends a user message. The client keeps it until the server has it, over any number of connections. */
  say(text: string): void
  /** Reports that the user interrupts the voice by speaking. */
  interrupt(): void
  on<Name extends keyof V1ClientEvents>(name: Name, listener: (event: V1ClientEvents[Name]) => void): () => void
  readonly connection: ConnectionState
  close(): void
}

/**
 * Opens a client and connects at once. `createV1Client<typeof agent>(…)` only needs the type of the server's agent, and
 * knows the names and inputs of its client tools.
 */
export function createV1Client<A extends TypedAgent>(init: V1ClientOptions<ToolHandlers<A>>): V1Client
export function createV1Client(init: V1ClientOptions): V1Client
export function createV1Client(init: V1ClientOptions<unknown>): V1Client {
  const world = init.world ?? platformWorld()
  // Like the platform's own events: an error in a listener is an uncaught error, after the event.
  const report = (cause: unknown): void =>
    void world.start(0, () => {
      throw cause
    })
  const listeners = createListeners<V1ClientEvents>(report)
  let connectionState: ConnectionState = 'connecting'
  const connection = openConnection({
    url: init.url,
    session: init.session,
    world,
    reconnect: init.reconnect ?? {},
    onState: (next) => {
      connectionState = next
      listeners.tell('connection', next)
    },
    onStarted: () => outbox.flush(),
    onRefused: (refusal) => listeners.tell('error', refusal),
    onFrame: (frame) => takeFrame(state, frame),
  })
  const outbox = createOutbox(connection.send, world.newId)
  const state: ClientState = {
    listeners,
    outbox,
    // Functions by name, as both overloads declare.
    calls: createToolCalls((init.tools ?? {}) as NonNullable<V1ClientOptions['tools']>, init.otherTool),
    speak: init.speak ?? (() => {}),
    display: Promise.resolve(),
  }
  return {
    say: outbox.say,
    interrupt: () => {
      connection.send(world.newId(), { type: 'audio.output.interrupted', payload: { reason: 'barge_in' } })
    },
    on: listenOnly(listeners, 'a client', EVENTS),
    get connection() {
      return connectionState
    },
    close: connection.close,
  }
}

interface ClientState {
  readonly listeners: Listeners<V1ClientEvents>
  readonly outbox: Outbox
  readonly calls: ToolCalls
  readonly speak: (text: string) => unknown
  /** Display calls run strictly one after another; the model's calls run in parallel to them. */
  display: Promise<void>
}

function takeFrame(state: ClientState, frame: ServerFrame): void {
  const { listeners } = state
  switch (frame.type) {
    case 'assistant.speech.partial':
      listeners.tell('partial', frame.payload.text)
      break
    case 'assistant.speech.final':
      listeners.tell('final', frame.payload.text)
      break
    case 'error':
      listeners.tell('error', frame.payload)
      break
    case 'tool.call':
      takeCall(state, frame.payload)
      break
    case 'session.started':
      break
    default:
      frame satisfies never
  }
}

function takeCall(state: ClientState, call: ToolCallPayload): void {
  const { listeners, outbox, calls } = state
  if (call.name.startsWith('convo.') || call.name === 'tts.speak') {
    // When it arrives, not when it is shown: after a long speech the next turn's results may already be here.
    if (call.name === 'convo.setState' && call.arguments.includes('"idle"')) outbox.settle()
    state.display = state.display.then(() => show(state, call))
    return
  }
  listeners.tell('call', { callId: call.callId, name: call.name })
  void calls.run(call).then((result) => {
    listeners.tell('result', result)
    outbox.answer(result)
  })
}

/** Never rejects, so the next one is always shown. */
async function show(state: ClientState, call: ToolCallPayload): Promise<void> {
  const { callId } = call
  try {
    await showNow(state, call)
    state.outbox.acknowledge({ callId, result: 'ok', error: null })
  } catch (thrown) {
    state.outbox.acknowledge({ callId, result: null, error: describeThrown(thrown) })
  }
}

interface DisplayArguments {
  readonly state?: AgentState
  readonly role?: 'user' | 'assistant'
  readonly text?: string
}

async function showNow({ listeners, outbox, speak }: ClientState, call: ToolCallPayload): Promise<void> {
  const { state, role, text = '' } = JSON.parse(call.arguments) as DisplayArguments // the protocol's display calls
  if (call.name === 'convo.setState' && state) listeners.tell('state', state)
  else if (call.name === 'tts.speak') await speak(text)
  else if (call.name === 'convo.appendMessage' && role) {
    if (role === 'user') outbox.forget(text)
    listeners.tell('message', { role, text })
  }
}

interface Outbox {
  /** @throws Error if too many texts are waiting */
  say(text: string): void
  /** The server has this text: it need not be sent again. */
  forget(text: string): void
  /** Kept until `settle`: version 1 acknowledges nothing, and a call with an effect is never sent a second time. */
  answer(result: ToolResult): void
  /** Reports that a display call is done. It is not kept, because no caller waits for it. */
  acknowledge(result: ToolResult): void
  /** The turn has ended: its results need not be sent again. */
  settle(): void
  /** The connection is back. Texts keep their ids and results those of their calls, so the server accepts each once. */
  flush(): void
}

/** Maximum waiting texts and results. */
const WAITING_MAX = 100

/**
 * Messages that may have to be sent again: the user's, until the server shows that it has them, and results of the
 * turn.
 */
function createOutbox(send: Connection['send'], newId: () => string): Outbox {
  let said: readonly { readonly id: string; readonly text: string }[] = []
  let results: readonly ToolResult[] = []

  const sendText = (id: string, text: string): boolean =>
    send(id, { type: 'user.audio.transcript.final', payload: { text } })

  const sendResult = (result: ToolResult): boolean => send(newId(), { type: 'tool.result', payload: result })
  return {
    say: (text) => {
      if (said.length >= WAITING_MAX) throw new Error(`${WAITING_MAX} texts are already waiting`)
      const id = newId()
      said = [...said, { id, text }]
      sendText(id, text)
    },
    forget: (text) => {
      const known = said.findIndex((waiting) => waiting.text === text)
      said = said.filter((_, index) => index !== known)
    },
    answer: (result) => {
      results = [...results, result].slice(-WAITING_MAX)
      sendResult(result)
    },
    acknowledge: sendResult,
    settle: () => {
      results = []
    },
    flush: () => {
      for (const { id, text } of said) sendText(id, text)
      for (const result of results) sendResult(result)
    },
  }
}
