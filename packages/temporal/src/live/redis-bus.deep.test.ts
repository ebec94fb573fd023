// Subscriptions of the bus over a real Redis.
import { findRedis, startRedis } from '@baton/testing/redis'
import { createConnection, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import type { BusMessage, LiveBus } from './live-bus.ts'
import { connectRedisBus } from './redis-bus.ts'

const program = findRedis('subscriptions over Redis', (message) => console.warn(message))
const server = program === undefined ? undefined : await startRedis(program)
afterAll(() => server?.kill())

async function connect(url = server?.url ?? ''): Promise<LiveBus> {
  const bus = await connectRedisBus({ url, log: { info: () => {}, warn: () => {} } })
  onTestFinished(() => bus.close())
  return bus
}

const NEWS = { type: 'pos', pos: 1 } as const satisfies BusMessage

describe.skipIf(!server)('over Redis', () => {
  test('a session that is closed and opened again at once hears what another process says', async () => {
    const [bus, other] = [await connect(), await connect()]
    const heard: string[] = []
    const leave = await bus.subscribe('s', () => heard.push('before'), ignore)
    leave()
    await bus.subscribe('s', () => heard.push('after'), ignore)
    // Replies come in order: the channel was left by the time that the next subscription was confirmed.
    await bus.subscribe('next', ignore, ignore)
    other.publish('s', NEWS)
    await expect.poll(() => heard).toEqual(['after'])
  })
  test('a session that is opened twice at once is open for both when its channel is', async () => {
    const proxy = await startProxy()
    const [bus, other] = [await connect(proxy.url), await connect()]
    const heard: string[] = []
    let isOpen = false
    proxy.hold()
    const first = bus.subscribe('s', () => heard.push('first'), ignore)
    const second = bus.subscribe('s', () => heard.push('second'), ignore).then(() => (isOpen = true))
    await setImmediate()
    expect(isOpen).toBe(false)
    proxy.release()
    await Promise.all([first, second])
    other.publish('s', NEWS)
    await expect.poll(() => heard).toEqual(['first', 'second'])
  })

  test('a session that is opened while the connection breaks hears news once it is back', async () => {
    const proxy = await startProxy()
    const [bus, other] = [await connect(proxy.url), await connect()]
    const heard: BusMessage[] = []
    proxy.hold()
    const opened = bus.subscribe('s', (message) => heard.push(message), ignore)
    await proxy.asked()
    proxy.cut()
    await opened
    await expect.poll(() => (other.publish('s', NEWS), heard.length)).toBeGreaterThan(0)
  })
})

/** Passes connections on to Redis; while it holds, nothing from a client. */
async function startProxy() {
  const port = Number(new URL(server?.url ?? '').port)
  const sockets = new Set<Socket>()
  let held: (() => void)[] | undefined
  let asked = Promise.withResolvers<void>()
  const proxy = createServer((client) => {
    const redis = createConnection(port, '127.0.0.1')
    for (const socket of [client, redis]) {
      sockets.add(socket)
      socket.on('error', ignore)
      socket.on('close', () => [client, redis].forEach((one) => one.destroy()))
    }
    redis.pipe(client)
    client.on('data', (bytes: Buffer) => {
      if (!held) return void redis.write(bytes)
      held.push(() => redis.write(bytes))
      asked.resolve()
    })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const cut = (): void => {
    held = undefined
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(() => {
    proxy.close()
    cut()
  })
  return {
    url: `redis://127.0.0.1:${(proxy.address() as AddressInfo).port}`, // a TCP server
    hold: () => {
      asked = Promise.withResolvers()
      held = []
    },
    /** Resolves when a client has sent something that is held. */
    asked: () => asked.promise,
    release: () => {
      for (const pass of held ?? []) pass()
      held = undefined
    },
    /** Breaks all connections. */
    cut,
  }
}

function ignore(): void {}
