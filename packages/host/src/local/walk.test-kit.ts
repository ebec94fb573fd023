// Counts how much code one tool call runs through, with V8's precise coverage: a turn with one server tool and two
// model calls, from the user's message to the last session event. `npm run walk` prints it. A test runner wraps
// modules, so this is a separate program.
import type { Profiler } from 'node:inspector'
import { Session as Inspector } from 'node:inspector/promises'
import { createHost, createMemoryStore, createNodeEnvironment, defineAgent, tool } from '@baton/host'
import { createScriptedModel } from '@baton/core/testing'

export interface Walk {
  /** Files of core, runtime and host in which a function ran. */
  readonly files: number
  /** Functions that ran, including anonymous ones. */
  readonly functions: number
  /** Named functions that ran. */
  readonly named: number
  /** Calls of these functions. */
  readonly calls: number
  /** Appends to the store. */
  readonly commits: number
}

if (process.argv[1] === import.meta.filename) process.stdout.write(`${JSON.stringify(await countWalk())}\n`)

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
  await session.send('first').answer // what a session creates once is not counted
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
  const ran = coverage
    .filter(({ url }) => isCounted(url))
    .map(({ functions }) => functions.filter((one) => countCalls(one) > 0))
    .filter((functions) => functions.length > 0)
  const functions = ran.flat()
  return {
    files: ran.length,
    functions: functions.length,
    named: functions.filter(({ functionName }) => functionName !== '').length,
    calls: functions.reduce((sum, one) => sum + countCalls(one), 0),
    commits,
  }
}

function countCalls({ ranges, functionName }: Profiler.FunctionCoverage): number {
  return functionName === '<instance_members_initializer>' ? 0 : (ranges[0]?.count ?? 0)
}

/** Returns the functions that ran during `act`, without any that ran before. */
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
  return /\/packages\/(?:core|runtime|host)\/src\/(?!testing\/)/.test(url) && !url.includes('.test-kit.')
}
