// Waiting for a model in memory: who waits and for how long.
import { expect, test } from 'vitest'
import { createWorkQueue } from './work-queue.ts'

const never = new AbortController().signal

function work(log: string[], name: string) {
  const gate = Promise.withResolvers<string>()
  const run = (): Promise<string> => {
    log.push(name)
    return gate.promise
  }
  return { run, finish: () => gate.resolve(name) }
}

test('one that waits and is aborted is told at once, and its place is free again', async () => {
  const log: string[] = []
  const queue = createWorkQueue(1)
  const [first, second] = [work(log, 'first'), work(log, 'second')]
  const one = queue.run(first.run, never)
  const stop = new AbortController()
  const waiting = queue.run(second.run, stop.signal)
  await expect(queue.run(second.run, never)).rejects.toMatchObject({ code: 'model_overloaded' })
  stop.abort()
  await expect(waiting).rejects.toMatchObject({ code: 'cancelled' })
  const next = queue.run(second.run, never)
  await Promise.resolve()
  expect(log).toEqual(['first'])
  first.finish()
  second.finish()
  expect([await one, await next, log]).toEqual(['first', 'second', ['first', 'second']])
})

test('work that fails lets the next begin, and idle waits for what runs although a waiting one was aborted', async () => {
  const queue = createWorkQueue(4)
  const log: string[] = []
  const slow = work(log, 'slow')
  const failed = queue.run(() => Promise.reject(new Error('no')), never)
  const running = queue.run(slow.run, never)
  const stop = new AbortController()
  const waiting = queue.run(slow.run, stop.signal)
  stop.abort()
  await expect(failed).rejects.toThrow('no')
  await expect(waiting).rejects.toMatchObject({ code: 'cancelled' })
  const idle = queue.idle().then(() => log.push('idle'))
  expect(log).not.toContain('idle')
  slow.finish()
  await Promise.all([running, idle])
  expect(log).toEqual(['slow', 'idle'])
})

test('behind one that was aborted, the next one waits for the one that runs', async () => {
  const queue = createWorkQueue(4)
  const log: string[] = []
  const [running, next] = [work(log, 'running'), work(log, 'next')]
  const one = queue.run(running.run, never)
  const stop = new AbortController()
  const waiting = queue.run(next.run, stop.signal)
  const other = queue.run(next.run, never)
  stop.abort()
  await expect(waiting).rejects.toMatchObject({ code: 'cancelled' })
  await new Promise((resolve) => setImmediate(resolve))
  expect(log).toEqual(['running'])
  running.finish()
  next.finish()
  await Promise.all([one, other])
  expect(log).toEqual(['running', 'next'])
})
