// How far one tool call walks, counted by V8's precise coverage: a turn with one server tool and two model calls. The
// figures stand in the docs, so that a longer way is a decision and no accident.
import { readFile } from 'node:fs/promises'
import type { Profiler } from 'node:inspector'
import { Session as Inspector } from 'node:inspector/promises'
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createNodeEnvironment } from '../environment.ts'
import { createMemoryStore } from '../stores/memory-store.ts'
import { createHost } from './create-host.ts'

interface Walk {
  /** Files of core, runtime and host of which a function with a name ran. */
  readonly files: number
  readonly functions: number
  /** Appends to the store. */
  readonly commits: number
  /** Of the files and functions that make session events of it, which are counted apart. */
  readonly eventFiles: number
  readonly eventFunctions: number
}

test('a tool call walks through the files and functions that the architecture counts', async () => {
  const walk = await countWalk()
  const { files, functions, commits, eventFiles, eventFunctions } = walk
  console.log(
    `one tool call: ${files} files, ${functions} functions, ${commits} commits; its events: ${eventFiles}, ${eventFunctions}`,
  )
  expect(walk).toEqual(await documentedWalk())
  expect(walk.files).toBeLessThanOrEqual(48)
  expect(walk.functions).toBeLessThanOrEqual(193)
  expect(walk.commits).toBeLessThanOrEqual(4)
  expect(walk.eventFiles).toBeLessThanOrEqual(10)
  expect(walk.eventFunctions).toBeLessThanOrEqual(85)
})

async function countWalk(): Promise<Walk> {
  const input = { type: 'object' } as const
  const echo = tool({ name: 'echo', description: 'Echoes', input, effect: 'pure', execute: () => 'x' })
  const model = createScriptedModel({
    steps: (_, call) => (call % 2 === 0 ? { calls: [{ name: 'echo', arguments: {} }] } : { text: 'done' }),
  })
  const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network')) })
  const store = createMemoryStore()
  const host = createHost({ environment, store, agent: defineAgent({ name: 'walker', model, tools: [echo] }) })
  const session = await host.session('walk')
  await session.send('first').answer // what a session makes once is no part of the way
  let commits = 0
  const append: typeof store.append = store.append.bind(store)
  Object.assign(store, {
    append: (...given: Parameters<typeof append>) => {
      commits += 1
      return append(...given)
    },
  })
  const coverage = await coverTurn(() => session.send('go').answer)
  await host.stop()
  const counted = coverage.filter(({ url }) => isCounted(url))
  const [files, functions] = sum(counted.filter(({ url }) => !EVENTS.test(url)))
  const [eventFiles, eventFunctions] = sum(counted.filter(({ url }) => EVENTS.test(url)))
  return { files, functions, commits, eventFiles, eventFunctions }
}

const EVENTS = /\/core\/src\/events\/|\/runtime\/src\/session\/(?:event-reader|reading|turn)\.ts/

function sum(coverage: readonly Profiler.ScriptCoverage[]): readonly [files: number, functions: number] {
  const counts = coverage.map(countFunctions).filter((count) => count > 0)
  return [counts.length, counts.reduce((all, count) => all + count, 0)]
}

/** What ran meanwhile, and nothing of what ran before. */
async function coverTurn(act: () => Promise<unknown>): Promise<readonly Profiler.ScriptCoverage[]> {
  const inspector = new Inspector()
  inspector.connect()
  try {
    await inspector.post('Profiler.enable')
    await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    await inspector.post('Profiler.takePreciseCoverage')
    await act()
    return (await inspector.post('Profiler.takePreciseCoverage')).result
  } finally {
    inspector.disconnect()
  }
}

function isCounted(url: string): boolean {
  return /\/packages\/(?:core|runtime|host)\/src\/(?!testing\/)/.test(url) && !url.includes('.test.')
}

/** Those that have a name: an arrow that is handed to `map` is part of the function that hands it over. */
function countFunctions({ functions }: Profiler.ScriptCoverage): number {
  const ran = functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
  return ran.filter(({ functionName }) => functionName !== '' && functionName !== '<instance_members_initializer>')
    .length
}

/** The sentence under "The way of one tool call" in the architecture page. */
async function documentedWalk(): Promise<Walk> {
  const page = await readFile(new URL('../../../../docs/architecture.md', import.meta.url), 'utf8')
  const section = page.split('## The way of one tool call')[1]?.split('\n## ')[0] ?? ''
  const [, files, functions, commits] = /(\d+) files, (\d+)\s+functions and (\d+)\s+commits/.exec(section) ?? []
  const [, eventFiles, eventFunctions] = /events take another (\d+) files\s+and (\d+)\s+functions/.exec(section) ?? []
  return {
    files: Number(files),
    functions: Number(functions),
    commits: Number(commits),
    eventFiles: Number(eventFiles),
    eventFunctions: Number(eventFunctions),
  }
}
