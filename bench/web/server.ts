// A server of the load test: Baton over a store, or a bare WebSocket server that sends the same text. Its model says
// the time 20 times a second until its app disconnects.
import type { Model, Store } from '@baton/core'
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createMemoryStore, createNodeEnvironment } from '@baton/host'
import { openPostgresStore } from '@baton/host/postgres'
import { createWebSocketFront } from '@baton/server/websocket'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'

export interface ServerUse {
  /** User and system CPU time since the process started. */
  readonly cpuMs: number
  readonly heapBytes: number
}

const PIECE_MS = 50
const MANY = 1_000_000_000
const [kind = 'baton', place = 'memory', turns = '0'] = process.argv.slice(2)
const tell = (what: object): void => void process.send?.(what)
const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('this server needs no network')) })

/** A word of the usual length, with the current time in it. */
const say = (): string => `${Date.now()} and so on `

function createClockModel(): Model {
  return {
    id: 'clock/model',
    provider: 'clock',
    capabilities: { tools: 'native', images: false },
    run: (_request, sink, signal) =>
      new Promise((_resolve, reject) => {
        // Sessions do not speak at the same moment.
        let timer = setTimeout(() => {
          timer = setInterval(() => sink({ type: 'text-delta', text: say() }), PIECE_MS)
        }, Math.random() * PIECE_MS)
        signal.addEventListener('abort', () => {
          clearInterval(timer)
          reject(new Error('aborted'))
        })
      }),
  }
}

async function openStore(): Promise<Store> {
  return place === 'memory' ? createMemoryStore() : await openPostgresStore(place)
}

async function serveBaton(): Promise<number> {
  const agent = defineAgent({ name: 'clock', model: createClockModel(), limits: { turnMs: 3_600_000 } })
  const store = await openStore()
  const host = createHost({ environment, agent, store })
  const limits = {
    connections: MANY,
    addressConnections: MANY,
    addressTurns: MANY,
    addressSessionsPerMinute: MANY,
    addressFramesPerMinute: MANY,
  }
  const front = createWebSocketFront(host, { ...environment, port: 0, limits })
  return (await front.listen()).port
}

async function serveBare(): Promise<number> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
  server.on('connection', (socket) => {
    let offset = 0
    socket.on('message', (text: Buffer) => {
      if (!text.includes('input.send')) return
      setTimeout(() => {
        const timer = setInterval(() => {
          const text = say()
          const cursor = { pos: 3, since: 2, attempt: 1, text: offset }
          const event = { type: 'text', message: 't1', step: 1, offset, text, cursor }
          offset += text.length
          socket.send(JSON.stringify({ type: 'events', events: [event], next: cursor }))
        }, PIECE_MS)
        socket.on('close', () => clearInterval(timer))
      }, Math.random() * PIECE_MS)
    })
  })
  await once(server, 'listening')
  return (server.address() as AddressInfo).port // it listens on TCP
}

async function keepHistory(): Promise<void> {
  const model = createScriptedModel({ steps: () => ({ text: 'It is so, and not otherwise.' }) })
  const agent = defineAgent({ name: 'history', model })
  const store = createMemoryStore()
  const host = createHost({ environment, agent, store })
  const session = await host.session('s')
  for (let turn = 0; turn < Number(turns); turn++) await session.send(`Is it so (${turn})?`).answer
  await session.close()
  await host.stop()
  tell({ ready: true })
  process.on('message', ({ type }: { readonly type: string }) => {
    if (type === 'open') void measureOpening(agent, store)
  })
}

/** The median of ten openings, each by another host: nothing is open or warm except the code. */
async function measureOpening(agent: ReturnType<typeof defineAgent>, store: Store): Promise<void> {
  const [opens, pages]: number[][] = [[], []]
  for (let round = 0; round < 20; round++) {
    const host = createHost({ environment, agent, store })
    const before = process.cpuUsage()
    const session = await host.session('s')
    const events = session.events({ from: 'turn' })
    await events.nextBatch()
    const opened = process.cpuUsage(before)
    const beforePage = process.cpuUsage()
    await session.messages({ limit: 50 })
    const page = process.cpuUsage(beforePage)
    opens?.push((opened.user + opened.system) / 1000)
    pages?.push((page.user + page.system) / 1000)
    await host.stop()
  }
  const median = (values: readonly number[] = []): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
  tell({ openMs: median(opens), pageMs: median(pages) })
}

process.on('message', ({ type }: { readonly type: string }) => {
  if (type === 'end') process.exit()
  if (type !== 'use') return
  globalThis.gc?.()
  globalThis.gc?.()
  const { user, system } = process.cpuUsage()
  tell({ cpuMs: (user + system) / 1000, heapBytes: process.memoryUsage().heapUsed } satisfies ServerUse)
})
if (kind === 'history') await keepHistory()
else tell({ port: kind === 'bare' ? await serveBare() : await serveBaton() })
