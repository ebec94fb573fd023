// Slow sources: the session opens without their tools, and gets them when they arrive.
import type { Tool, ToolSource } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { SourceTools } from './source-tools.ts'

const make = (name: string): Tool =>
  tool({ name, description: name, input: { type: 'object' }, execute: () => null }) as Tool

/** A source whose listings resolve on demand, and a session's tools over it. */
async function openSlow() {
  const listings: ((tools: readonly Tool[]) => void)[] = []
  const told: string[][] = []
  const warnings: unknown[] = []
  let change = (): void => {}
  const source: ToolSource = {
    name: 'slow',
    list: () => new Promise((resolve) => listings.push(resolve)),
    onChange: (listener) => {
      change = listener
      return () => {}
    },
  }
  const tools = await SourceTools.open({
    session: 'one',
    agent: defineAgent({ name: 'tester', model: createScriptedModel({ steps: [] }) }),
    sources: [source],
    always: [],
    // Every wait ends at once.
    timers: {
      start: (_, callback) => {
        queueMicrotask(callback)
        return () => {}
      },
    },
    log: { info: () => {}, warn: (_, data) => void warnings.push(data?.['cause']) },
  })
  tools.onChange(() => told.push(tools.tools().map(({ name }) => name)))
  return { tools, listings, told, warnings, change: () => change() }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a source that lists after the session opened: its tools join the session', async () => {
  const { tools, listings, told, warnings } = await openSlow()
  expect(tools.tools()).toEqual([])
  expect(warnings[0]).toBe('the source "slow" did not answer in 10000 ms')
  listings[0]?.([make('late')])
  await settle()
  expect(told).toEqual([['late']])
})

test('a late listing that a newer one has overtaken counts no more', async () => {
  const { listings, told, change } = await openSlow()
  change()
  await settle()
  listings[1]?.([make('newer')])
  listings[0]?.([make('older')])
  await settle()
  expect(told.at(-1)).toEqual(['newer'])
  expect(told.flat()).not.toContain('older')
})

test('a source that lists after the session closed changes nothing', async () => {
  const { tools, listings, told } = await openSlow()
  await tools.close()
  listings[0]?.([make('late')])
  await settle()
  expect([told, tools.tools()]).toEqual([[], []])
})
