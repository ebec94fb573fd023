// Slow sources: the session opens without their tools, and gets them when they arrive.
import type { Tool, ToolSource } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { describe, expect, test } from 'vitest'
import type { SourceToolsOptions } from './source-tools.ts'
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
    ...parts(),
    sources: [source],
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

/** The parts of an opening besides its sources. No wait ends. */
function parts(): Omit<SourceToolsOptions, 'sources'> {
  return {
    session: 'one',
    agent: defineAgent({ name: 'tester', model: createScriptedModel({ steps: [] }) }),
    always: [],
    timers: { start: () => () => {} },
    log: { info: () => {}, warn: () => {} },
  }
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

test('a source that changes while another one is still being listed is listed again before the session opens', async () => {
  const slow = Promise.withResolvers<readonly Tool[]>()
  const versions = [make('old'), make('new')]
  let change = (): void => {}
  const quick: ToolSource = {
    name: 'quick',
    list: () => Promise.resolve([versions.shift() ?? make('newest')]),
    onChange: (listener) => {
      change = listener
      return () => {}
    },
  }
  const opening = SourceTools.open({ ...parts(), sources: [quick, { name: 'slow', list: () => slow.promise }] })
  await settle()
  change()
  await settle()
  slow.resolve([make('slow')])
  const tools = await opening
  await settle()
  expect(tools.tools().map(({ name }) => name)).toEqual(['new', 'slow'])
})

test('a source that changes while it is listed for the first time is listed again', async () => {
  const first = Promise.withResolvers<readonly Tool[]>()
  const listings = [first.promise, Promise.resolve([make('new')])]
  let change = (): void => {}
  const source: ToolSource = {
    name: 'one',
    list: () => listings.shift() ?? Promise.resolve([]),
    onChange: (listener) => {
      change = listener
      return () => {}
    },
  }
  const opening = SourceTools.open({ ...parts(), sources: [source] })
  await settle()
  change()
  first.resolve([make('old')])
  const tools = await opening
  await settle()
  expect(tools.tools().map(({ name }) => name)).toEqual(['new'])
})

test('of two sources with one name of a tool, the first in the list has it, however slow it is', async () => {
  const slow = Promise.withResolvers<readonly Tool[]>()
  const given = { ...parts(), agent: { ...parts().agent, collisions: 'first' as const } }
  const opening = SourceTools.open({
    ...given,
    sources: [
      { name: 'slow', list: () => slow.promise },
      { name: 'quick', list: () => Promise.resolve([make('same')]) },
    ],
  })
  await settle()
  slow.resolve([make('same')])
  const tools = await opening
  expect(tools.tools().map(({ name, source }) => [name, source])).toEqual([['same', 'slow']])
})

describe('a source with a tool named tasks.list, for an agent with tools in the background', () => {
  const open = (collisions: 'refuse' | 'first' | 'prefix', hasBackground = true) => {
    const { agent, ...rest } = parts()
    const background = hasBackground && { background: {} }
    const source = { name: 'board', list: () => Promise.resolve([make('tasks.list'), make('tasks.add')]) }
    return SourceTools.open({ ...rest, agent: { ...agent, collisions, ...background }, sources: [source] })
  }

  test('is refused by the name of its owner, or left out, or renamed, as the agent says', async () => {
    await expect(open('refuse')).rejects.toMatchObject({
      code: 'invalid_agent',
      message: expect.stringContaining('the source "board" and Baton itself both have a tool named "tasks.list"'),
    })
    expect((await open('first')).tools().map(({ name }) => name)).toEqual(['tasks.add'])
    expect((await open('prefix')).tools().map(({ name }) => name)).toEqual(['board.tasks.list', 'tasks.add'])
  })

  test('keeps its name where nothing runs in the background', async () => {
    const tools = await open('refuse', false)
    expect(tools.tools().map(({ name }) => name)).toEqual(['tasks.list', 'tasks.add'])
  })
})
