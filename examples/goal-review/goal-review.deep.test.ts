// The reviewer over a real Temporal service: its verdicts, a person who decides, and a client and a worker in Go.
import type { Agent } from '@baton/host'
import { createMemoryStore } from '@baton/host'
import { findProgram } from '@baton/testing/program'
import { skipTime } from '@baton/testing/skip-time'
import type { StartedCommand } from '@baton/testing/start-command'
import { startCommand } from '@baton/testing/start-command'
import { findTemporal, startTemporal } from '@baton/testing/temporal'
import type { GoalResult } from '@baton/temporal'
import {
  bundleWorkflows,
  createTemporalHost,
  createTemporalWorker,
  sendTemporalLogs,
  TASK_QUEUE,
} from '@baton/temporal'
import { Connection } from '@temporalio/client'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import agentWithGo from './agent-with-go.ts'
import agent, { createGoalReviewer } from './agent.ts'
import { HOSTILE } from './hostile-models.test-kit.ts'

const warn = (message: string): void => console.warn(message)
const program = findTemporal('the goal review over Temporal', warn)
const go = findProgram('goals from Go', { title: 'Go', variable: 'BATON_GO', names: ['go'] }, warn)
const server = program === undefined ? undefined : await startTemporal(program)
if (server) sendTemporalLogs({ info: () => {}, warn: () => {} })
const bundle = server && (await bundleWorkflows())
afterAll(() => server?.close())

const FIVE_DAYS_MS = 5 * 24 * 60 * 60 * 1000

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

/** A worker and a host with this agent, and a function that judges a goal from Temporal's command line. */
async function open(reviewer: Agent) {
  if (!server || !bundle) throw new Error('there is no service')
  const store = createMemoryStore()
  const shared = { address: server.address, agent: reviewer, logStore: store }
  const worker = await createTemporalWorker({ ...shared, workflowBundle: bundle, drainMs: 500 })
  const running = worker.run()
  closers.push(async () => {
    worker.shutdown()
    await running
  })
  const host = await createTemporalHost(shared)
  closers.push(() => host.stop())
  const judge = async (id: string, workflow: string): Promise<GoalResult> => {
    const input = JSON.stringify({ agent: 'goal-review', goal: `Is submission "${id}" valid for payout?` })
    const words = ['--type', 'baton.goal', '--task-queue', TASK_QUEUE, '--workflow-id', workflow, '--input', input]
    const printed = await server.command(['workflow', 'execute', ...words, '-o', 'json'])
    return (JSON.parse(printed) as { readonly result: GoalResult }).result
  }
  return { host, store, judge, address: server.address }
}

/** A session that was opened before would have the goal's id. */
async function waitForLog(store: ReturnType<typeof createMemoryStore>, session: string): Promise<void> {
  while ((await store.read(session, 0)[Symbol.asyncIterator]().next()).done) await wait(50)
}

describe.skipIf(!server)('the goal review over Temporal', () => {
  test('a verdict cites calls of its result, the scan first', async () => {
    const { judge } = await open(agent)
    const { output, calls } = await judge('leases', 'review-leases')
    expect(output).toMatchObject({ verdict: 'valid', evidence: calls.map(({ name }) => name) })
    // The tool's activity asked a model about the picture.
    expect(calls[2]?.result).toMatchObject({
      value: { verdicts: [{ judgedBy: 'measurement' }, { judgedBy: 'model', verdict: 'met' }] },
    })
    expect(calls.map(({ name }) => name)).toEqual([
      'scan_text_for_malicious_content',
      'get_content_details',
      'analyze_image_for_visual_requirements',
    ])
  })

  test('where confidence is low, the goal waits for days for a person at a gateway', async () => {
    const { host, store, judge, address } = await open(agent)
    const judged = judge('vague', 'review-vague')
    await waitForLog(store, 'review-vague')
    const session = await host.session('review-vague')
    for (;;) {
      const [asked] = await session.approvals()
      if (asked) {
        const connection = await Connection.connect({ address })
        await skipTime(connection.workflowService, 'review-vague', FIVE_DAYS_MS)
        await connection.close()
        await session.decide({ approvalId: asked.approvalId, decision: 'deny' })
        break
      }
      await wait(50)
    }
    expect((await judged).output).toMatchObject({ verdict: 'unclear', confidence: 0.4 })
  })
})

describe.skipIf(!server)('hostile models over Temporal', () => {
  test.each(HOSTILE)('a model that %s gets no verdict', async (situation, { createModel, ends, calls }) => {
    const workflow = `hostile-${situation.replaceAll(/\W+/g, '-')}`
    const { host, store, judge } = await open(createGoalReviewer(createModel()))
    const judged = judge('leases', workflow).catch((cause: unknown) => cause)
    await waitForLog(store, workflow)
    const session = await host.session(workflow)
    const seen: string[] = []
    let failure: unknown
    for await (const event of session.events({ from: 'start' })) {
      if (event.type === 'call' && event.call.result) seen.push(`${event.call.name} ${event.call.result.type}`)
      if (event.type === 'approval-requested')
        await session.decide({ approvalId: event.approvalId, decision: 'deny', reason: 'look again' })
      if (event.type !== 'turn-finished') continue
      failure = event.error?.code
      break
    }
    expect([failure, seen]).toEqual([ends, calls])
    expect(await judged).toBeInstanceOf(Error)
  })
})

describe.skipIf(!server || go === undefined)('Go', () => {
  test('a client starts a goal with plain JSON, and a tool is an activity of a worker', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'baton-go-'))
    closers.push(async () => rmSync(folder, { recursive: true }))
    await promisify(execFile)(go ?? '', ['build', '-o', `${folder}/`, './client', './worker'], {
      cwd: join(import.meta.dirname, 'go'),
    })
    const { address } = await open(agentWithGo)
    const start = (name: string, words: readonly string[]): StartedCommand =>
      startCommand(join(folder, name), { words, variables: { BATON_TEMPORAL: address } })
    const worker = start('worker', [])
    closers.push(async () => {
      worker.kill('SIGTERM')
      await worker.ended
    })
    const client = start('client', ['review-go', 'Is submission "leases" valid for payout?'])
    expect([await client.ended, client.errors()]).toMatchObject([{ code: 0 }, expect.any(String)])
    const [output = '', calls = ''] = client.output().trim().split('\n')
    expect(JSON.parse(output)).toMatchObject({ verdict: 'valid' })
    expect(JSON.parse(calls)).toMatchObject([
      { name: 'scan_text_for_malicious_content' },
      { name: 'get_content_details' },
      { name: 'analyze_image_for_visual_requirements' },
      { name: 'author_reputation', result: { type: 'ok', value: { author: 'ann', paid: 3 } } },
    ])
  })
})
