// Runs the official MCP conformance suite against our client and our server, at both protocol revisions. Its counts go
// to the output.
import { spawn } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const SUITE = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')),
  'dist/index.js',
)
const CLIENT = fileURLToPath(new URL('client.test-kit.ts', import.meta.url))
const SERVER = fileURLToPath(new URL('server.test-kit.ts', import.meta.url))

/** Extensions that no revision requires, and why Baton lacks them. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'auth/enterprise-managed-authorization': 'a token of an identity provider: give the SDK’s provider as auth.provider',
  'auth/dpop': 'tokens bound to a key: give a provider of the SDK with dpop as auth.provider',
  'auth/dpop-nonce': 'as auth/dpop',
  'auth/wif-jwt-bearer': 'a token of the workload: give a provider of the SDK as auth.provider',
}

interface Outcome {
  readonly scenario: string
  readonly passed: number
  readonly failed: number
}

async function runSuite(words: readonly string[]): Promise<readonly Outcome[]> {
  const output = await mkdtemp(join(tmpdir(), 'baton-conformance-'))
  const child = spawn(process.execPath, [SUITE, ...words, '-o', output], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await new Promise((resolve) => child.on('close', resolve))
  const outcomes = [...said.matchAll(/^[✓✗] (\S+): (\d+) passed, (\d+) failed/gm)].map(
    ([, scenario = '', passed, failed]) => ({ scenario, passed: Number(passed), failed: Number(failed) }),
  )
  if (outcomes.length === 0) throw new Error(`the suite did not run: ${said.slice(-2_000)}`)
  return outcomes
}

test.each([
  ['2025-11-25', 25, 308],
  ['2026-07-28', 39, 450],
] as const)('our client meets what %s requires of clients', async (revision, scenarios, checks) => {
  const command = `${process.execPath} --no-warnings --conditions=@baton/source ${CLIENT}`
  const outcomes = await runSuite(['client', '--command', command, '--requirements', revision, '--timeout', '120000'])
  const wrong = outcomes.filter(({ failed }) => failed > 0).map(({ scenario }) => scenario)
  const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0)
  console.info(
    `mcp client, ${revision}: ${outcomes.length - wrong.length} of ${outcomes.length} scenarios, ${passed} checks; left out: ${wrong.join(', ')}`,
  )
  expect(wrong.toSorted()).toEqual(Object.keys(LEFT_OUT).toSorted())
  // Some checks of failing scenarios pass.
  expect([outcomes.length, passed >= checks]).toEqual([scenarios, true])
})

/** Features that Baton lacks, as its capabilities say. */
const NOT_SERVED: readonly { readonly scenarios: RegExp; readonly reason: string }[] = [
  { scenarios: /^(prompts-|completion-|input-required-result-non-tool-request$)/, reason: 'Baton has no prompts' },
  { scenarios: /^resources-/, reason: 'Baton has no resources of its own' },
  { scenarios: /^caching$/, reason: 'of lists of prompts and resources; the check of the list of tools passes' },
  { scenarios: /^logging-|-with-logging$/, reason: 'the log is the operator’s' },
  {
    scenarios:
      /^tools-call-sampling$|^input-required-result-(basic-sampling|basic-list-roots|multiple-input-requests|capability-check)$/,
    reason: 'Baton asks no client for a model or for folders',
  },
  { scenarios: /^server-stateless$/, reason: 'two checks want a tool that needs a client’s model; the other 26 pass' },
  // Extensions that no revision requires.
  { scenarios: /^http-custom-header-server-validation$/, reason: 'no tool of Baton reads headers' },
  {
    scenarios: /^tasks-(lifecycle|mrtr-composition|required-task-error)$/,
    reason: 'no call of Baton fails as a protocol error, asks before it is a task, or must be one',
  },
]

async function startServer(): Promise<{ readonly url: string; readonly stop: () => void }> {
  const child = spawn(process.execPath, ['--no-warnings', '--conditions=@baton/source', SERVER], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()))
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)))
  })
  return { url, stop: () => void child.kill('SIGTERM') }
}

test.each([
  ['2025-11-25', 33, 67],
  ['2026-07-28', 50, 153],
] as const)('our server meets what %s requires of servers that offer tools', async (revision, scenarios, checks) => {
  const { url, stop } = await startServer()
  try {
    const outcomes = await runSuite(['server', '--url', url, '--requirements', revision])
    const wrong = outcomes.filter(({ failed }) => failed > 0).map(({ scenario }) => scenario)
    const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0)
    console.info(
      `mcp server, ${revision}: ${outcomes.length - wrong.length} of ${outcomes.length} scenarios, ${passed} checks; left out: ${wrong.join(', ')}`,
    )
    expect(wrong.filter((scenario) => !NOT_SERVED.some((known) => known.scenarios.test(scenario)))).toEqual([])
    expect([outcomes.length, passed >= checks]).toEqual([scenarios, true])
  } finally {
    stop()
  }
})
