// One model call at a time, from the model's view: a call is running until its promise settles, not until its signal
// aborts. Every way to give up a call is played with a model that is slow to stop.
import { frontOf } from '@baton/core/internal'
import type { Model, Session, Store } from '@baton/core'
import { defineAgent } from '@baton/core'
import { createListener } from '@baton/runtime'
import { describe, expect, test } from 'vitest'
import type { HostOptions } from './host-options.ts'
import type { ManualTime } from './test-world.test-kit.ts'
import {
  createManualTime,
  createProcess,
  createSharedStore,
  createTestWorld,
  noUnhandledRejections,
} from './test-world.test-kit.ts'

noUnhandledRejections()

/** Says a word, waits to be aborted, and settles `endMs` later; never if that is Infinity. */
function createSlowModel(time: ManualTime, endMs: number) {
  const running = { now: 0, most: 0, calls: 0 }
  const { timers } = time.environment
  const model: Model = {
    id: 'slow/model',
    provider: 'slow',
    capabilities: { tools: 'native', images: false, network: false },
    run: async (_, sink, signal) => {
      running.calls += 1
      running.now += 1
      running.most = Math.max(running.most, running.now)
      sink({ type: 'text-delta', text: 'word ' })
      await new Promise<void>((resolve) => {
        const end = (): void => {
          if (Number.isFinite(endMs)) timers.start(endMs, resolve)
        }
        if (signal.aborted) end()
        else signal.addEventListener('abort', end, { once: true })
      })
      running.now -= 1
      return { parts: [{ type: 'text', text: 'word ' }], finish: 'end', usage: {}, model: 'slow/model' }
    },
  }
  return { model, running }
}

function createWorld(endMs: number, host: Partial<HostOptions> = {}) {
  const time = createManualTime()
  const { model, running } = createSlowModel(time, endMs)
  return { ...createTestWorld({ steps: [], models: model, time, host }), running, slow: model }
}

const createOne = (time: ManualTime, store: Store, models: Model) => createProcess(time, store, { steps: [], models })

/** Begins a model call without waiting for its answer. */
function say(session: Session, text = 'first'): void {
  session.send(text, { inputId: text }).answer.catch(() => {})
}

const WAYS: readonly [string, (session: Session) => Promise<unknown>][] = [
  ['an interrupt', async (session) => await session.interrupt()],
  [
    'an input that interrupts',
    (session) => Promise.resolve(session.send('now', { delivery: 'interrupt' }).answer.catch(() => {})),
  ],
  [
    'stop and start',
    async (session) =>
      await Promise.all([frontOf(session).submit({ type: 'stop' }), frontOf(session).submit({ type: 'start' })]),
  ],
  [
    'pause and continue',
    async (session) => await Promise.all([frontOf(session).control('pause'), frontOf(session).control('continue')]),
  ],
  ['a rewind', async (session) => await session.rewind({ message: 'first', replace: 'other', interrupt: true })],
]

describe('the next model call waits until the abandoned one has settled', () => {
  test.each(WAYS)('after %s', async (_, giveUp) => {
    const { time, open, running, warnings } = createWorld(3000)
    const session = await open()
    say(session)
    await time.settle()
    const given = giveUp(session)
    given.catch(() => {})
    await time.settle()
    say(session, 'more')
    await time.pass(2999)
    expect(running).toEqual({ now: 1, most: 1, calls: 1 })
    await time.pass(1)
    expect(running).toMatchObject({ now: 1, most: 1, calls: 2 })
    expect(warnings.filter((line) => line.includes('aborted'))).toEqual([])
  })

  test('three in a row, each given up while it waits', async () => {
    const { time, open, running } = createWorld(3000)
    const session = await open()
    for (let round = 0; round < 3; round++) {
      say(session, `round ${round}`)
      await time.pass(100)
      await session.interrupt()
      await time.pass(100)
    }
    say(session, 'last')
    await time.pass(60_000)
    expect(running).toMatchObject({ now: 1, most: 1 })
  })

  test('also when the session was closed and reopened meanwhile', async () => {
    const { time, host, open, running } = createWorld(3000)
    const session = await open()
    say(session)
    await time.settle()
    await session.interrupt()
    await time.settle()
    await session.close()
    await time.pass(1000)
    const again = await time.until(host.session('tested'))
    say(again, 'more')
    await time.pass(1500)
    expect(running).toMatchObject({ now: 1, calls: 1 })
    await time.pass(1000)
    expect(running).toMatchObject({ now: 1, most: 1, calls: 2 })
  })

  test('also when the session was let go and another process takes it as soon as it may', async () => {
    const { time, store } = createSharedStore()
    const { model, running } = createSlowModel(time, 3000)
    const [one, two] = [createOne(time, store, model), createOne(time, store, model)]
    const session = await one.open()
    say(session)
    await time.settle()
    await session.interrupt()
    await time.settle()
    await session.close()
    await time.settle()
    for (const at of [0, 1000, 2000]) {
      await expect(two.open(), `after ${at} ms`).rejects.toMatchObject({ code: 'session_held' })
      await time.pass(1000)
    }
    say(await two.open(), 'more')
    await time.settle()
    expect(running).toEqual({ now: 1, most: 1, calls: 2 })
  })
})

describe('a model call that does not settle', () => {
  test.each([
    ['5 seconds by default', {}, 5000],
    ['the milliseconds of an option', { abortMs: 200 }, 200],
  ])('is waited for %s, and then the log says that it was abandoned', async (_, options, waitMs) => {
    const { time, open, running, warnings } = createWorld(Infinity, options)
    const session = await open()
    say(session)
    await time.settle()
    await session.interrupt()
    say(session, 'more')
    await time.pass(waitMs - 1)
    expect([running.calls, warnings]).toEqual([1, []])
    await time.pass(1)
    expect(running.calls).toBe(2)
    expect(warnings).toEqual(['an aborted model call did not settle and was abandoned'])
  })

  test('with a wrong option is refused', () => {
    expect(() => createWorld(0, { abortMs: -1 })).toThrow(
      /abortMs must be a number of milliseconds from 0 to 60000, not -1/,
    )
  })
})

describe('stop', () => {
  test('of a session resolves when the call has settled', async () => {
    const { time, open, running } = createWorld(3000)
    const session = await open()
    say(session)
    await time.settle()
    await time.until(frontOf(session).control('stop'))
    expect(running).toEqual({ now: 0, most: 1, calls: 1 })
  })

  test('of a session resolves after 5 seconds when the call does not settle', async () => {
    const { time, open } = createWorld(Infinity)
    const session = await open()
    say(session)
    await time.settle()
    const startMs = time.nowMs()
    await time.until(frontOf(session).control('stop'))
    expect(time.nowMs() - startMs).toBe(5000)
  })

  test('of a listener resolves when the call has settled', async () => {
    const { time, host, running, slow } = createWorld(3000)
    const listener = createListener(host, defineAgent({ name: 'listening', model: slow }), { session: 'heard' })
    await time.until(listener.start())
    await time.until(listener.event({ type: 'call' }))
    await time.settle()
    await time.until(listener.stop())
    expect(running).toEqual({ now: 0, most: 1, calls: 1 })
    await time.until(listener.start())
    await time.until(listener.event({ type: 'again' }))
    await time.settle()
    expect(running).toMatchObject({ now: 1, most: 1, calls: 2 })
  })
})
