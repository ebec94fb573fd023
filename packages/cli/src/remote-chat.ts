// A chat whose turns run on a server, over protocol version 1. That version tells of the calls of apps alone; the tools of
// the server, its models and its log stay there.
import type { Client } from '@baton/client'
import { createClient } from '@baton/client'
import type { CallResult, EventBody } from '@baton/core'
import { BatonError } from '@baton/core'
import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { AskedCall, AskPerson, ChatPartner, Conversation, ConversationTurn } from './conversation.ts'
import { createEventQueue } from './event-queue.ts'

export interface RemoteChatInit {
  /** `ws://127.0.0.1:8080/ws`, without a token. */
  readonly url: string
  readonly token: string | undefined
  readonly askPerson: AskPerson
  /** Told when the connection is lost, and when it is back. */
  readonly onNews: (line: string) => void
  /** It was found by the store that it holds. */
  readonly isHolder?: boolean
}

/** Milliseconds for the first connection. */
const CONNECT_MS = 10_000

export function createRemoteChat(init: RemoteChatInit): ChatPartner {
  return {
    about: [`server ${init.url}${init.isHolder ? ', which has the store of this folder open' : ''}`],
    open: (session) => openConversation(init, session ?? randomUUID()),
    close: () => Promise.resolve(),
  }
}

async function openConversation(init: RemoteChatInit, session: string): Promise<Conversation> {
  const turns = createTurns()
  /** Of the tools of calls that run here. */
  const names = new Map<string, string>()
  const client = createClient({
    url: findAddress(init),
    session,
    otherTool: async (input: unknown, { callId, name }) => {
      const asked = { callId, name, arguments: JSON.stringify(input) }
      turns.push(createCall(asked))
      names.set(callId, name)
      // The call is shown first, then asked about.
      await setImmediate()
      return await init.askPerson(asked)
    },
  })
  try {
    await untilOpen(client, init)
  } catch (cause) {
    client.close()
    throw cause
  }
  follow(client, turns, names)
  tellNews(client, init.onNews)
  return {
    session,
    about: [],
    resumed: undefined,
    send: (text) => {
      const turn = turns.begin()
      client.say(text)
      return turn
    },
    interrupt: () => {
      client.interrupt()
      return Promise.resolve()
    },
    setModel: () => Promise.reject(new Error(`the server chooses its model: "baton serve --model NAME"`)),
    decide: () => Promise.resolve(),
    log: () => Promise.reject(new Error(`the log is where the server runs: "baton log ${session}"`)),
    close: () => {
      client.close()
      turns.fail(new BatonError({ code: 'session_closed', message: 'the chat was left' }))
      return Promise.resolve()
    },
  }
}

function findAddress({ url, token }: RemoteChatInit): string {
  const address = new URL(url)
  if (token !== undefined) address.searchParams.set('token', token)
  return address.href
}

/** @throws BatonError `connection_failed`, with the reason where the server says one */
async function untilOpen(client: Client, init: RemoteChatInit): Promise<void> {
  if (client.connection === 'open') return
  const isOpen = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), CONNECT_MS)
    const stop = client.on('connection', (state) => {
      if (state === 'connecting') return
      clearTimeout(timer)
      stop()
      resolve(state === 'open')
    })
  })
  if (isOpen) return
  throw new BatonError({ code: 'connection_failed', message: await whyNot(init) })
}

/** A WebSocket does not say why it was refused; the same server says whether it is there at all. */
async function whyNot({ url, token }: RemoteChatInit): Promise<string> {
  const health = new URL('/healthz', url.replace(/^ws/, 'http'))
  try {
    const { ok } = await fetch(health, { signal: AbortSignal.timeout(CONNECT_MS) })
    if (!ok) return `what listens at ${url} is no Baton server; it has the path /ws`
  } catch {
    return `no server answers at ${url}; start one by "baton serve", or leave --url away`
  }
  const hint = token === undefined ? 'it may want a token: --token, or BATON_TOKEN' : 'it may want another token'
  return `the server at ${url} refused the connection; ${hint}, and the path is /ws`
}

interface Turns {
  begin(): ConversationTurn
  push(event: EventBody): void
  /** The turn's text as far as it is known. */
  partial(text: string): void
  end(outcome: 'answered' | 'interrupted'): void
  fail(cause: unknown): void
}

/** One at a time: the next is begun once the last one has ended. */
function createTurns(): Turns {
  let turn:
    | { readonly events: ReturnType<typeof createEventQueue>; text: string; done: PromiseWithResolvers<Answer> }
    | undefined
  const close = (): typeof turn => {
    const ended = turn
    turn = undefined
    return ended
  }
  return {
    begin: () => {
      const events = createEventQueue()
      const done = Promise.withResolvers<Answer>()
      done.promise.catch(() => {}) // a chat reads the events, and awaits the answer after them
      turn = { events, text: '', done }
      return { answer: done.promise, [Symbol.asyncIterator]: () => events[Symbol.asyncIterator]() }
    },
    push: (event) => turn?.events.push(event),
    partial: (text) => {
      // The last one comes once more, trimmed.
      if (!turn || turn.text.trimEnd() === text) return
      if (text.startsWith(turn.text)) turn.events.push(createText(text, turn.text.length))
      else {
        turn.events.push({ type: 'step-reset', ...STEP, reason: 'failed' })
        turn.events.push(createText(text, 0))
      }
      turn.text = text
    },
    end: (outcome) => {
      const ended = close()
      const stop = outcome === 'answered' ? 'end' : 'cancelled'
      ended?.events.push({ type: 'turn-finished', message: STEP.message, turn: 0, stop, text: ended.text, usage: {} })
      ended?.events.end()
      ended?.done.resolve({ outcome })
    },
    fail: (cause) => {
      const ended = close()
      ended?.events.end()
      ended?.done.reject(cause instanceof Error ? cause : new Error(String(cause)))
    },
  }
}

/** Version 1 tells no steps: all that a turn says is one. */
const STEP = { message: '', step: 0 } as const

function createText(text: string, from: number): EventBody {
  return { type: 'text', ...STEP, offset: from, text: text.slice(from) }
}

function createCall(
  { callId, name, arguments: given = '{}' }: Partial<AskedCall> & Pick<AskedCall, 'callId' | 'name'>,
  result?: CallResult,
): EventBody {
  const status = result ? 'settled' : 'running'
  const call = { callId, name, ...STEP, input: given, runs: 'client', effect: 'once', status } as const
  return { type: 'call', call: result ? { ...call, result } : call }
}

interface Answer {
  readonly outcome: string
}

function follow(client: Client, turns: Turns, names: Map<string, string>): void {
  let hasBegun = false
  let hasFinal = false
  let failure: Error | undefined
  client.on('partial', (text) => turns.partial(text))
  client.on('final', (text) => {
    hasFinal = true
    turns.partial(text)
  })
  client.on('error', ({ code, message }) => {
    failure = new Error(`${code}: ${message}`)
    // What was not taken in begins no turn, so nothing will end it.
    if (!hasBegun) turns.fail(failure)
  })
  client.on('result', ({ callId, error }) => {
    const name = names.get(callId) ?? callId
    names.delete(callId)
    const ok = { type: 'ok', content: [] } as const
    turns.push(
      createCall({ callId, name }, error === null ? ok : { type: 'error', code: 'tool_failed', message: error }),
    )
  })
  client.on('state', (state) => {
    if (state === 'thinking') {
      hasBegun = true
      failure = undefined
    }
    if (state !== 'idle') return
    if (failure) turns.fail(failure)
    else turns.end(hasFinal ? 'answered' : 'interrupted')
    hasBegun = false
    hasFinal = false
    failure = undefined
  })
}

function tellNews(client: Client, tell: (line: string) => void): void {
  let isLost = false
  client.on('connection', (state) => {
    if (state === 'waiting' && !isLost) tell('the connection is lost; trying again')
    if (state === 'open' && isLost) tell('connected again')
    if (state === 'waiting') isLost = true
    if (state === 'open') isLost = false
  })
}
