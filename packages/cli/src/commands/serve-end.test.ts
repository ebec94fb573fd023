// The end of a server: its front and its host share the time that running turns get.
import { createNodeEnvironment } from '@baton/host'
import { expect, test } from 'vitest'
import { endServer } from './serve.ts'

test('turns without a reader get what the turns with one have left of the drain', async () => {
  let nowMs = 1000
  const stops: number[] = []
  const done: string[] = []
  const ended = endServer(10_000, {
    front: {
      drain: async (options) => {
        done.push(`drain ${options?.withinMs}`)
        nowMs += 7000
      },
      close: async () => void done.push('close'),
    },
    embedded: {
      environment: { ...createNodeEnvironment(), clock: { nowMs: () => nowMs } },
      stop: async (drainMs) => void stops.push(drainMs),
    },
    log: { info: () => {}, warn: () => {} },
  })
  await ended
  expect([done, stops]).toEqual([['drain 10000', 'close'], [3000]])
})
