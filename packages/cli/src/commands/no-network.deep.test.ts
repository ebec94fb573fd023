// Permissions checked at the kernel: in a network namespace that routes every address to a witness, models, tools and
// MCP servers make no connection and send no datagram. Each situation also runs with the network allowed, to prove that
// the witness sees it.
import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { leaveOut } from '@baton/testing/left-out'
import { findProgram } from '@baton/testing/program'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import type { Witnessed } from './network-witness.test-kit.ts'

const BATON = fileURLToPath(new URL('../../bin/baton.mjs', import.meta.url))
const WITNESS = fileURLToPath(new URL('network-witness.test-kit.ts', import.meta.url))
const warn = (message: string): void => console.warn(message)
const NAMESPACE = { title: 'unshare of util-linux', variable: 'BATON_UNSHARE', names: ['unshare'] }
const IP = { title: 'ip of iproute2', variable: 'BATON_IP', names: ['ip'] }
const BOX = { title: 'bubblewrap', variable: 'BATON_BUBBLEWRAP', names: ['bwrap'] }
const what = 'that no connection leaves without the network'
const canWitness = [NAMESPACE, IP, BOX].every((program) => findProgram(what, program, warn)) && hasNamespaces()

/** Some systems forbid network namespaces. */
function hasNamespaces(): boolean {
  try {
    execFileSync('unshare', ['--map-root-user', '--net', 'true'])
    return true
  } catch (cause) {
    leaveOut(what, { why: `no network namespace: ${String(cause)}`, remedy: 'Allow user namespaces to run it.' }, warn)
    return false
  }
}

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const tally = { connections: 0, datagrams: 0, situations: 0, seenWithNetwork: 0 }
afterAll(() => {
  if (canWitness)
    console.log(
      `network namespace: ${tally.situations} situations without the network: ${tally.connections} connections, ${tally.datagrams} datagrams; with it the witness saw ${tally.seenWithNetwork} of ${tally.situations}`,
    )
})

function runInNamespace(
  words: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): Promise<Witnessed> {
  const command = ['--map-root-user', '--net', process.execPath, WITNESS, process.execPath, BATON, ...words]
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    XDG_DATA_HOME: folder,
    BATON_MODEL_TIMEOUT_MS: '2000',
    ...variables,
  }
  return new Promise((done, fail) => {
    execFile('unshare', command, { cwd: folder, env, timeout: 180_000 }, (error, output, errors) => {
      if (error) fail(new Error(`${error.message}: ${errors}`))
      else done(JSON.parse(output) as Witnessed)
    })
  })
}

const place = (path: string): string => JSON.stringify(new URL(`../../../${path}`, import.meta.url).href)

/** Writes an agent that calls each of these tools once. */
function writeAgent(parts: {
  readonly calls: readonly (readonly [string, object])[]
  readonly fields: string
  readonly before?: string
}): void {
  const { calls, fields, before = '' } = parts
  const steps = calls.map(([name, input]) => ({ calls: [{ name, arguments: input }] }))
  writeFileSync(
    join(folder, 'agent.ts'),
    `import { defineAgent, tool } from ${place('core/src/index.ts')}
import { createScriptedModel } from ${place('core/src/testing/index.ts')}
import { workspaceTools } from ${place('tools/src/workspace/index.ts')}
import { createGuardedFetch } from ${place('tools/src/guard/index.ts')}
import { createMcpServers } from ${place('mcp/src/client/index.ts')}
${before}
const model = createScriptedModel({ steps: ${JSON.stringify([...steps, { text: 'Done.' }])} })
export default defineAgent({ name: 'tester', model, ${fields} })
`,
  )
}

interface Both {
  readonly words: readonly string[]
  readonly restricted: readonly string[]
  readonly variables?: Readonly<Record<string, string>>
}

async function playBoth({
  words,
  restricted,
  variables,
}: Both): Promise<{ readonly free: Witnessed; readonly kept: Witnessed }> {
  const free = await runInNamespace(words, variables)
  const kept = await runInNamespace([...words, ...restricted], variables)
  tally.situations += 1
  tally.connections += kept.connections
  tally.datagrams += kept.datagrams
  if (free.seen.length > 0) tally.seenWithNetwork += 1
  expect(free.seen).not.toEqual([])
  expect([kept.seen, kept.connections, kept.datagrams]).toEqual([[], 0, 0])
  return { free, kept }
}

const KEYS = { ANTHROPIC_API_KEY: 'key-of-a-test', ANTHROPIC_BASE_URL: 'http://198.51.100.7' }

test.runIf(canWitness)('models: a key in the environment is ignored', async () => {
  writeFileSync(
    join(folder, 'agent.ts'),
    `import { defineAgent } from ${place('core/src/index.ts')}\nexport default defineAgent({ name: 'tester', retry: { attempts: 1 } })\n`,
  )
  const words = ['run', 'agent.ts', 'Go.']
  const { kept } = await playBoth({ words, restricted: ['--no-external-models'], variables: KEYS })
  expect(kept.errors).toContain('model offline, because anthropic/')
  expect(kept.errors).toContain('permissions only models on this machine')
  // The offline model had no tool to call.
  expect(kept.code).toBe(3)
})

test.runIf(canWitness)('the explorer: nothing leaves by default, whatever keys are set', async () => {
  const words = ['explore', 'Go.', '--store', 'memory:', '--steps', '2']
  const free = await runInNamespace([...words, '--allow-network', '--allow-external-llms'], KEYS)
  const kept = await runInNamespace(words, KEYS)
  tally.situations += 1
  tally.connections += kept.connections
  tally.datagrams += kept.datagrams
  if (free.seen.length > 0) tally.seenWithNetwork += 1
  expect(free.seen).not.toEqual([])
  expect([kept.seen, kept.connections, kept.datagrams, kept.code]).toEqual([[], 0, 0, 3])
  expect(kept.errors).toContain('permissions no network; only models on this machine')
})

test.runIf(canWitness)('models: one that is named is refused before anything is sent', async () => {
  writeAgent({ calls: [], fields: 'retry: { attempts: 1 }' })
  const words = ['run', 'agent.ts', 'Go.', '--model', 'anthropic/claude-haiku-4-5']
  const { kept } = await playBoth({ words, restricted: ['--no-network'], variables: KEYS })
  expect(kept.code).toBe(1)
  expect(kept.errors).toContain('--model names anthropic/claude-haiku-4-5, which does not')
})

const FETCHING = `const fetching = (name, run) => tool({ name, description: name, input: { type: 'object' }, execute: run })
const tools = [
  fetching('own.fetch', async () => (await fetch('http://198.51.100.7/')).status),
  fetching('own.lookup', async () => (await fetch('http://shop.example/')).status),
  fetching('guarded.fetch', async () => (await createGuardedFetch({ schemes: ['http'] })('http://93.184.216.34/')).status),
  ...workspaceTools({ root: '.', shell: { approval: false, sandbox: 'none' } }),
]`
const CALLS = [
  ['own.fetch', {}],
  ['own.lookup', {}],
  ['guarded.fetch', {}],
  ['shell.run', { command: 'echo hello > /dev/tcp/198.51.100.9/80' }],
  ['fs.list_dir', {}],
] as const

test.runIf(canWitness)('tools: those that may use the network are gone, and the others work', async () => {
  writeAgent({ calls: CALLS, fields: 'tools', before: FETCHING })
  const { free, kept } = await playBoth({ words: ['run', 'agent.ts', 'Go.'], restricted: ['--no-network'] })
  expect(free.seen).toEqual(['198.51.100.7:80', '198.51.100.9:80', '93.184.216.34:80', 'a name server'])
  expect(kept.errors).toContain('left out: own.fetch, own.lookup, guarded.fetch, shell.run')
  expect(kept.errors).toContain('✓ fs.list_dir')
  expect(kept.output).toContain('Done.')
})

test.runIf(canWitness)('tools: a command in its sandbox runs, and reaches nothing', async () => {
  const command = 'echo hello > /dev/tcp/198.51.100.9/80 || echo no way out'
  const shell = `{ approval: false, sandbox: 'required', network: false }`
  writeAgent({ calls: [['shell.run', { command }]], fields: `tools: workspaceTools({ root: '.', shell: ${shell} })` })
  const kept = await runInNamespace(['run', 'agent.ts', 'Go.', '--no-network', '--json'])
  expect([kept.seen, kept.connections, kept.datagrams]).toEqual([[], 0, 0])
  expect(kept.output).toContain('no way out')
})

const SERVER = `import { McpServer } from ${JSON.stringify(fileURLToPath(import.meta.resolve('@modelcontextprotocol/server')))}
import { StdioServerTransport } from ${JSON.stringify(fileURLToPath(import.meta.resolve('@modelcontextprotocol/server/stdio')))}
const server = new McpServer({ name: 'caller', version: '1' })
server.registerTool('call_home', { description: 'Calls home' }, async () => {
  const text = await fetch('http://198.51.100.8/').then((answer) => String(answer.status), (cause) => 'no way: ' + cause.cause?.code)
  return { content: [{ type: 'text', text }] }
})
await server.connect(new StdioServerTransport())
`

test.runIf(canWitness)('MCP: a program runs without the network, and its tools still answer', async () => {
  writeFileSync(join(folder, 'server.mjs'), SERVER)
  writeAgent({ calls: [['call_home', {}]], fields: '' })
  const words = ['run', 'agent.ts', 'Go.', '--json', '--mcp', `"${process.execPath}" server.mjs`]
  const { free, kept } = await playBoth({ words, restricted: ['--no-network'] })
  expect(free.output).toContain('"503"')
  expect(kept.output).toContain('no way: ENETUNREACH')
})

test.runIf(canWitness)('MCP: a server at an address is refused, named by an option or by the agent', async () => {
  writeAgent({ calls: [], fields: '' })
  const address = ['run', 'agent.ts', 'Go.', '--mcp', 'https://198.51.100.6/mcp']
  const { kept } = await playBoth({ words: address, restricted: ['--no-network'] })
  expect(kept.errors).toContain(
    'the MCP server "198.51.100.6" is reached over the network, which the permissions forbid',
  )

  const remote = `createMcpServers({ remote: { url: 'https://198.51.100.6/mcp' } })`
  writeAgent({ calls: [['call_home', {}]], fields: `sources: ${remote}.sources` })
  const own = await playBoth({ words: ['run', 'agent.ts', 'Go.'], restricted: ['--no-network'] })
  expect(own.kept.output).toContain('Done.')
})
