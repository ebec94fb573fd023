// A client of one session: says what the user says, tells what the agent does, and runs the agent's client tools.
import type { ServerFrame, ToolCallPayload } from '@baton/protocol'
import type { Connection, ConnectionState, ReconnectOptions } from './connection.ts'
import { openConnection } from './connection.ts'
import type { ClientTool, ToolResult } from './tool-calls.ts'
import { createToolCalls } from './tool-calls.ts'
import type { World } from './world.ts'
import { platformWorld } from './world.ts'

export interface ClientInit {
  /** `ws://127.0.0.1:8080/ws`; a token goes into `?token=`. */
  readonly url: string
  readonly session: string
  /** The agent's client tools that this app runs, by name. */
  readonly tools?: Readonly<Record<string, ClientTool>>
  /** Speaks a text; what comes after it waits until it is done. */
  readonly speak?: (text: string) => unknown
  readonly reconnect?: ReconnectOptions
  readonly world?: World
}

export type AgentState = 'idle' | 'thinking' | 'speaking'

export interface ClientEvents {
  readonly connection: ConnectionState
  readonly state: AgentState
  /** A message for the conversation on the screen. */
  readonly message: { readonly role: 'user' | 'assistant'; readonly text: string }
  /** The whole answer so far; the next one replaces it. */
  readonly partial: string
  readonly final: string
  readonly call: { readonly callId: string; readonly name: string }
  readonly result: ToolResult
  readonly error: { readonly code: string; readonly message: string }
}

export interface Client {
  /** What the user said. It is kept until the server shows that it has it, over any number of connections. */
  say(text: string): void
  /** The user speaks over the voice. */
  interrupt(): void
  on<Name extends keyof ClientEvents>(name: Name, listener: (event: ClientEvents[Name]) => void): () => void
  readonly connection: ConnectionState
  close(): void
}

/** Texts and results that may wait for a connection; a full queue throws. */
const WAITING_MAX = 100

interface Said {
  readonly id: string
  readonly text: string
}

/** Opens a client and connects at once. */
export function createClient(init: ClientInit): Client {
  const world = init.world ?? platformWorld()
  const calls = createToolCalls(init.tools ?? {})
  const listeners = createListeners()
  let state: ConnectionState = 'connecting'
  let said: readonly Said[] = []
  let results: readonly ToolResult[] = []
  /** Display calls are done strictly one after another; the model's calls beside them. */
  let display = Promise.resolve()

  const connection: Connection = openConnection({
    url: init.url,
    session: init.session,
    world,
    reconnect: init.reconnect ?? {},
    onState: (next) => {
      state = next
      listeners.tell('connection', next)
    },
    onStarted: () => {
      for (const { id, text } of said) connection.send(id, { type: 'user.audio.transcript.final', payload: { text } })
      const waiting = results
      results = []
      for (const result of waiting) sendResult(result)
    },
    onFrame: (frame) => takeFrame(frame),
  })

  function sendResult(result: ToolResult): void {
    if (connection.send(world.newId(), { type: 'tool.result', payload: result })) return
    results = [...results, result].slice(-WAITING_MAX)
  }

  function takeFrame(frame: ServerFrame): void {
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
        takeCall(frame.payload)
        break
      case 'session.started':
        break
      default:
        frame satisfies never
    }
  }

  function takeCall(call: ToolCallPayload): void {
    if (call.name.startsWith('convo.') || call.name === 'tts.speak') {
      display = display.then(() => show(call))
      return
    }
    listeners.tell('call', { callId: call.callId, name: call.name })
    void calls.run(call).then((result) => {
      listeners.tell('result', result)
      sendResult(result)
    })
  }

  /** Never rejects, so the next one is shown whatever happens. */
  async function show(call: ToolCallPayload): Promise<void> {
    const { callId } = call
    try {
      await showNow(call)
      sendResult({ callId, result: 'ok', error: null })
    } catch (thrown) {
      sendResult({ callId, result: null, error: thrown instanceof Error ? thrown.message : String(thrown) })
    }
  }

  async function showNow(call: ToolCallPayload): Promise<void> {
    const given = JSON.parse(call.arguments) as { state?: AgentState; role?: 'user' | 'assistant'; text?: string } // R1.4
    if (call.name === 'convo.setState' && given.state) listeners.tell('state', given.state)
    else if (call.name === 'tts.speak') await init.speak?.(given.text ?? '')
    else if (call.name === 'convo.appendMessage' && given.role) {
      const { role, text = '' } = given
      // The server has it: it need not be sent again.
      const known = role === 'user' ? said.findIndex((waiting) => waiting.text === text) : -1
      if (known >= 0) said = said.filter((_, index) => index !== known)
      listeners.tell('message', { role, text })
    }
  }

  return {
    say: (text) => {
      if (said.length >= WAITING_MAX) throw new Error(`${WAITING_MAX} texts wait for the server already`)
      const next = { id: world.newId(), text }
      said = [...said, next]
      connection.send(next.id, { type: 'user.audio.transcript.final', payload: { text } })
    },
    interrupt: () => {
      connection.send(world.newId(), { type: 'audio.output.interrupted', payload: { reason: 'barge_in' } })
    },
    on: listeners.on,
    get connection() {
      return state
    },
    close: () => connection.close(),
  }
}

interface Listeners {
  on<Name extends keyof ClientEvents>(name: Name, listener: (event: ClientEvents[Name]) => void): () => void
  tell<Name extends keyof ClientEvents>(name: Name, event: ClientEvents[Name]): void
}

function createListeners(): Listeners {
  const listeners = new Set<{ readonly name: keyof ClientEvents; readonly listener: (event: never) => void }>()
  return {
    on: (name, listener) => {
      const entry = { name, listener }
      listeners.add(entry)
      return () => void listeners.delete(entry)
    },
    tell: (name, event) => {
      // A listener's name and its event's type were paired by `on`.
      for (const entry of listeners) if (entry.name === name) entry.listener(event as never)
    },
  }
}
