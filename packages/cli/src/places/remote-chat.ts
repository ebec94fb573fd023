// A chat whose turns run on a server, over protocol version 2: its tool calls, approvals and questions are shown here,
// and the person runs client tools. Its log stays on the server.
import type { SessionClient, SessionSnapshot, SessionMessage } from '@baton/client'
import { openSession } from '@baton/client'
import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { AskPerson, ChatPartner, Conversation, OnAside, SessionControls } from '../terminal/conversation.ts'
import { readDecision } from '../terminal/conversation.ts'
import { createRemoteTurns, readWaiting } from './remote-turns.ts'
import type { Usage } from '@baton/core/internal'
import { addUsage, BatonError } from '@baton/core/internal'
import type { RemoteTurns } from './remote-turns.ts'

export interface RemoteChatOptions {
  /** `ws://127.0.0.1:8080/ws`, without a token. */
  readonly url: string
  readonly token: string | undefined
  readonly askPerson: AskPerson
  /** Called when the connection is lost, and when it is back. */
  readonly onNews: (line: string) => void
  /** Whether it was found through the store that it holds. */
  readonly isHolder?: boolean
}

/** Milliseconds for the first connection: slightly longer than the client waits for a server's hello. */
const CONNECT_MS = 12_000

export function createRemoteChat(init: RemoteChatOptions): ChatPartner {
  return {
    about: [`server ${init.url}${init.isHolder ? ", which has this folder's store open" : ''}`],
    may: [],
    open: (session, onAside) => openConversation({ ...init, onAside }, session ?? randomUUID()),
    close: () => Promise.resolve(),
  }
}

async function openConversation(
  init: RemoteChatOptions & { readonly onAside: OnAside },
  session: string,
): Promise<Conversation> {
  const client = openSession({
    url: findAddress(init),
    session,
    otherTool: async (input: unknown, { callId, name }) => {
      // The call is shown first, then asked about.
      await setImmediate()
      return await init.askPerson({ callId, name, arguments: JSON.stringify(input) })
    },
  })
  // Created before the first frame, so that no event is missed.
  const turns = createRemoteTurns(client, init.onAside)
  try {
    await untilOpen(client, init)
  } catch (cause) {
    client.close()
    throw cause
  }
  tellNews(client, init.onNews)
  return {
    session,
    about: describePast(client.getSnapshot()),
    resumed: turns.resume(),
    waiting: readWaiting(client),
    send: (text) => turns.begin(client.send(text)),
    interrupt: () => client.interrupt({ reason: 'the person interrupted' }),
    setModel: async (model) => {
      if (model === undefined) return `model ${client.getSnapshot().model}`
      await client.configure({ model })
      return `switched to model ${model}`
    },
    decide: async (approvalId, answer) => {
      await client.decide({ approvalId, ...readDecision(answer) })
    },
    controls: createRemoteControls(client, turns),
    log: () => Promise.reject(new Error(`the log is on the server's machine; run "baton log ${session}" there`)),
    close: () => {
      client.close()
      return Promise.resolve()
    },
  }
}

function findAddress({ url, token }: RemoteChatOptions): string {
  const address = new URL(url)
  if (token !== undefined) address.searchParams.set('token', token)
  return address.href
}

function describePast({ session, messages, more, model }: SessionSnapshot): readonly string[] {
  const count = messages.filter(({ role }) => role === 'assistant').length
  if (count === 0) return []
  const turns = count === 1 && !more ? '1 turn' : `${more ? 'at least ' : ''}${count} turns`
  return [`continuing session ${session}: ${turns} so far, model ${model}`]
}

/** @throws BatonError `connection_failed`, with the reason if the server gives one */
async function untilOpen(client: SessionClient, init: RemoteChatOptions): Promise<void> {
  const first = await new Promise<SessionSnapshot>((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      stop()
      resolve(client.getSnapshot())
    }
    const timer = setTimeout(end, CONNECT_MS)
    const stop = client.on('status', (status) => {
      if (status !== 'connecting') end()
    })
  })
  if (first.status === 'open') return
  throw new BatonError({ code: 'connection_failed', message: await whyNot(init, first) })
}

/** A WebSocket does not report why it was refused, so this asks the same server over HTTP. */
async function whyNot({ url, token }: RemoteChatOptions, { error }: SessionSnapshot): Promise<string> {
  const health = new URL('/healthz', url.replace(/^ws/, 'http'))
  if (error && error.code !== 'unauthorized') return `the server at ${url}: ${error.message}. ${error.hint}`
  try {
    const { ok } = await fetch(health, { signal: AbortSignal.timeout(CONNECT_MS) })
    if (!ok) return `the program at ${url} is not a Baton server, whose path is /ws`
  } catch {
    return `no server answers at ${url}; start one with "baton serve", or leave out --url`
  }
  const hint = token === undefined ? 'it may require a token (--token or BATON_TOKEN)' : 'it may require another token'
  return `the server at ${url} refused the connection; ${hint}, and the path must be /ws`
}

function tellNews(client: SessionClient, tell: (line: string) => void): void {
  let isLost = false
  client.on('status', (status) => {
    if (status === 'waiting' && !isLost) tell('connection lost; reconnecting')
    if (status === 'open' && isLost) tell('reconnected')
    if (status === 'waiting') isLost = true
    if (status === 'open') isLost = false
  })
  client.on('error', ({ code, message }) => tell(`${code}: ${message}`))
}

/** Messages per page from the server. */
const PAGE = 200

/** Controls of a session on a server: go back, copy, show usage, answer questions. */
function createRemoteControls(client: SessionClient, turns: RemoteTurns): SessionControls {
  return {
    retry: async () => {
      findLast(client, 'assistant')
      const sent = client.regenerate()
      const turn = turns.begin(sent, 'anew')
      await sent.accepted
      return turn
    },
    undo: async () => {
      const last = findLast(client, 'user')
      await client.rewind({ message: last.id }).accepted
      if (last.role !== 'user') return ''
      return last.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
    },
    fork: () => client.fork(),
    tools: () => ['the tools run on the server; their calls are shown here'],
    status: async () => {
      const { model, context } = await client.info()
      return { model, context }
    },
    usage: async () => {
      while (await client.older(PAGE));
      let usage: Usage | undefined
      for (const message of client.getSnapshot().messages)
        if (message.role === 'assistant' && message.usage) usage = addUsage(usage, message.usage)
      return usage ?? {}
    },
    answer: (answer) => client.answer(answer),
  }
}

/** @throws BatonError `unknown_input` if there is no message yet */
function findLast(client: SessionClient, role: SessionMessage['role']): SessionMessage {
  const last = client.getSnapshot().messages.findLast((message) => message.role === role)
  if (last) return last
  throw new BatonError({
    code: 'unknown_input',
    message: 'this session has no messages yet',
    hint: 'Send a message first.',
  })
}
