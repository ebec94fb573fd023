// The Python voice client against the real front: sentences over breaking connections, and an interrupt reporting the
// part that was heard.
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createMemoryStore, createNodeEnvironment } from '@baton/host'
import { createWebSocketFront } from '@baton/server/websocket'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { findPython } from '../components/python.ts'

const VOICE = fileURLToPath(new URL('../../../../examples/client-python/voice.py', import.meta.url))
const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) })
const python = findPython('the voice in Python', console.warn)
const run = promisify(execFile)

const ANSWER = 'It is Dr. Ng. She has **3.5** apples.\n- Red ones.\n- Green ones\n\nShall I ask her?'
const SAID = ['It is Dr. Ng.', 'She has 3.5 apples.', 'Red ones.', 'Green ones', 'Shall I ask her?']

/**
 * Sits between the voice and the server; `cut` breaks open connections. The first connection ends before the server has
 * sent anything.
 */
async function startProxy(port: number) {
  const open = new Set<Socket>()
  let isFirst = true
  const server = createServer((near) => {
    if (isFirst) {
      isFirst = false
      near.once('data', () => near.end())
      return
    }
    const far = connect(port, '127.0.0.1')
    for (const socket of [near, far]) {
      open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => [near, far].forEach((one) => one.destroy()))
    }
    near.pipe(far).pipe(near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    for (const socket of open) socket.destroy()
    open.clear()
  }
  onTestFinished(() => {
    cut()
    server.close()
  })
  // A server that listens on a port has this kind of address.
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws`, cut }
}

interface Played {
  /** The voice interrupts after this many sentences, for which the answer waits; 0: it does not interrupt. */
  readonly most: number
  /** Called before each piece of the answer. */
  readonly onPiece?: (cut: () => void, piece: number) => void
}

/** Output of the voice client. */
async function speak({ most, onPiece }: Played) {
  let written = 0
  let cut = (): void => {}
  const timers: typeof environment.timers = {
    start: (ms, fire) =>
      environment.timers.start(ms, () => {
        onPiece?.(cut, written++)
        fire()
      }),
  }
  const pieces = ANSWER.match(/.{1,5}/gs) ?? []
  const hangs = most > 0 ? ({ hangs: 'until-aborted' } as const) : {}
  const model = createScriptedModel({ timers, steps: [{ pieces, pieceMs: 20, ...hangs }] })
  const agent = defineAgent({ name: 'a', model })
  const host = createHost({ environment, agent, store: createMemoryStore() })
  const front = createWebSocketFront(host, { ...environment, port: 0 })
  onTestFinished(async () => {
    await front.close()
    await host.stop()
  })
  const { port } = await front.listen()
  const proxy = await startProxy(port)
  cut = proxy.cut
  const { stdout } = await run(python ?? '', [VOICE, proxy.url, 's', 'Who is there?', String(most)], {
    timeout: 60_000,
  })
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { index?: number; text?: string; answer?: string }) // as voice.py prints
  return { said: lines.flatMap(({ text }) => text ?? []), answer: lines.at(-1)?.answer }
}

test.skipIf(python === undefined)('each sentence is said once, over connections that break', async () => {
  let cuts = 0
  const { said, answer } = await speak({
    most: 0,
    onPiece: (cut, piece) => {
      if (piece % 5 !== 3) return
      cut()
      cuts += 1
    },
  })
  expect(said).toEqual(SAID)
  expect(answer).toBe(ANSWER)
  expect(cuts).toBeGreaterThan(1)
})

test.skipIf(python === undefined)('an interrupted answer ends with the sentence that was heard last', async () => {
  const { said, answer } = await speak({ most: 2 })
  expect(said.slice(0, 2)).toEqual(SAID.slice(0, 2))
  expect(answer).toBe(ANSWER.slice(0, ANSWER.indexOf('\n')))
})
