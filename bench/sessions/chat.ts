// Measures a message of a chat over HTTP (`createHandler`) and the durable store, whose handler opens the session and
// closes it again: with the session held open by another handle, lingering in memory, and opened from its log each time.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Model } from '@baton/core'
import { defineAgent } from '@baton/core'
import { createHost, openSqliteStore } from '@baton/host'
import { createHandler } from '@baton/server/http'
import type { Measured } from '../measure.ts'
import { compared } from '../measure.ts'

const HELD = 'held open'
const WAYS = [
  { name: HELD, lingerMs: 0 },
  { name: 'lingering', lingerMs: 60_000 },
  { name: 'opened again', lingerMs: 0 },
] as const
const MESSAGES = 100
const WARM_MESSAGES = 300
const ANSWER = 'The quick brown fox jumps over the lazy dog. '.repeat(10)

interface Chat {
  readonly name: string
  say(): Promise<void>
  close(): Promise<void>
}

/** Processor time, the store's thread included. */
export function measureChat(_origin: string, rounds: number): Promise<readonly Measured[]> {
  return measureWays(rounds, async (act) => {
    const start = process.cpuUsage()
    await act()
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1000
  })
}

export function measureChatTime(_origin: string, rounds: number): Promise<readonly Measured[]> {
  return measureWays(rounds, async (act) => {
    const startMs = performance.now()
    await act()
    return performance.now() - startMs
  })
}

type Measure = (act: () => Promise<void>) => Promise<number>

async function measureWays(rounds: number, measure: Measure): Promise<readonly Measured[]> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-bench-'))
  const chats = await Promise.all(WAYS.map((way, index) => openChat(way, join(folder, `${index}.db`))))
  try {
    const values = new Map<string, number[]>(chats.map(({ name }) => [name, []]))
    for (const chat of chats) await sayAll(chat, WARM_MESSAGES)
    for (let round = 0; round < rounds; round++)
      for (const chat of chats) values.get(chat.name)?.push((await measure(() => sayAll(chat, MESSAGES))) / MESSAGES)
    return compared(values, HELD)
  } finally {
    for (const chat of chats) await chat.close()
    await rm(folder, { recursive: true })
  }
}

async function sayAll({ say }: Chat, count: number): Promise<void> {
  for (let message = 0; message < count; message++) await say()
}

const TALKER: Model = {
  id: 'bench/talker',
  provider: 'bench',
  capabilities: { tools: 'native', images: false },
  run: async (_request, sink) => {
    sink({ type: 'text-delta', text: ANSWER })
    return { parts: [{ type: 'text', text: ANSWER }], finish: 'end', usage: {}, model: 'talker' }
  },
}

async function openChat({ name, lingerMs }: (typeof WAYS)[number], path: string): Promise<Chat> {
  const store = await openSqliteStore(path)
  const host = createHost({ store, lingerMs, agent: defineAgent({ name: 'bench', model: TALKER }) })
  const handler = createHandler(host)
  const held = name === HELD ? await host.session('chat') : undefined
  let messages = 0
  return {
    name,
    say: async () => {
      messages += 1
      const message = { id: `m${messages}`, role: 'user', parts: [{ type: 'text', text: 'What does the fox do?' }] }
      const body = JSON.stringify({ id: 'chat', trigger: 'submit-message', messages: [message] })
      const headers = { 'content-type': 'application/json' }
      const response = await handler(new Request('http://localhost/api/chat', { method: 'POST', headers, body }))
      const text = await response.text()
      if (!text.includes('[DONE]')) throw new Error(`a message was not answered: ${response.status} ${text}`)
    },
    close: async () => {
      await held?.close()
      await host.stop()
      await store.close()
    },
  }
}
