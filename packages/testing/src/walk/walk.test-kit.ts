// Counts how much code a turn runs through, with V8's precise coverage: from the user's message to the last session
// event, with one server tool and two model calls. `npm run walk` prints it for a program and for a page over `useChat`;
// `-- --files` lists the files. A test runner wraps modules, so this is a separate program.
import type { Profiler } from 'node:inspector'
import { Session as Inspector } from 'node:inspector/promises'
import { createHost, createMemoryStore, createNodeEnvironment, defineAgent, tool } from '@baton/host'
import { createScriptedModel } from '@baton/core/testing'
import { createHandler } from '@baton/server/http'

export interface Walk {
  /** Files in which a function ran: of core, runtime and host; for a chat also of the server. */
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

export interface Walks {
  /** `session.send` in a program. */
  readonly tool: Walk
  /** A message of a chat page, to a session that its last message left open. */
  readonly chat: Walk
}

const CORE = /\/packages\/(?:core|runtime|host)\/src\/(?!testing\/)/
const SERVER = /\/packages\/(?:core|runtime|host|server)\/src\/(?!testing\/)/

if (process.argv[1] === import.meta.filename) {
  const walks: Walks = { tool: await countTool(), chat: await countChat() }
  process.stdout.write(`${JSON.stringify(walks)}\n`)
}

async function countTool(): Promise<Walk> {
  const { host, counted } = createWorld()
  const session = await host.session('walk')
  await session.send('first').answer // what a session creates once is not counted
  const walk = await counted(CORE, () => session.send('go').answer)
  await host.stop()
  return walk
}

async function countChat(): Promise<Walk> {
  const { host, counted } = createWorld()
  const handler = createHandler(host)
  const send = async (id: string): Promise<void> => {
    const message = { id, role: 'user', parts: [{ type: 'text', text: 'go' }] }
    const body = JSON.stringify({ id: 'walk', trigger: 'submit-message', messages: [message] })
    const headers = { 'content-type': 'application/json' }
    const response = await handler(new Request('http://localhost/api/chat', { method: 'POST', headers, body }))
    const text = await response.text()
    if (!text.includes('"done"')) throw new Error(`the chat answered ${response.status}: ${text}`)
  }
  await send('m1')
  const walk = await counted(SERVER, () => send('m2'))
  await host.stop()
  return walk
}

/** A host whose turns have one call, and a measure of one of them. */
function createWorld() {
  const input = { type: 'object' } as const
  const echo = tool({ name: 'echo', description: 'Echoes', input, effect: 'pure', execute: () => 'x' })
  const model = createScriptedModel({
    steps: (_, call) => (call % 2 === 0 ? { calls: [{ name: 'echo', arguments: {} }] } : { text: 'done' }),
  })
  const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network')) })
  const store = createMemoryStore()
  const host = createHost({ environment, store, agent: defineAgent({ name: 'walker', model, tools: [echo] }) })
  let commits = 0
  const append: typeof store.append = store.append.bind(store)
  Object.assign(store, {
    append: (...given: Parameters<typeof append>) => {
      commits += 1
      return append(...given)
    },
  })
  const counted = async (places: RegExp, act: () => Promise<unknown>): Promise<Walk> => {
    const before = commits
    const coverage = await coverTurn(act)
    return { ...summarise(coverage, places), commits: commits - before }
  }
  return { host, counted }
}

function summarise(coverage: readonly Profiler.ScriptCoverage[], places: RegExp): Omit<Walk, 'commits'> {
  const ran = coverage
    .filter(({ url }) => places.test(url) && !url.includes('.test-kit.'))
    .map(({ url, functions }) => ({ url, functions: functions.filter((one) => countCalls(one) > 0) }))
    .filter(({ functions }) => functions.length > 0)
  if (process.argv.includes('--files'))
    for (const { url, functions } of ran)
      process.stdout.write(
        `${url.replace(/.*packages./, '')} ${functions.reduce((sum, one) => sum + countCalls(one), 0)}\n`,
      )
  const functions = ran.flatMap((file) => file.functions)
  return {
    files: ran.length,
    functions: functions.length,
    named: functions.filter(({ functionName }) => functionName !== '').length,
    calls: functions.reduce((sum, one) => sum + countCalls(one), 0),
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
