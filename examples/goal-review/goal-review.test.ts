// The reviewer on the local host, without an API key: the scan runs first, evidence is cited, and a person decides if
// the reviewer is not sure. Misbehaving models cannot reach a verdict past these rules.
import type { Session } from '@baton/host'
import { createHost, readOutput } from '@baton/host'
import { expect, test } from 'vitest'
import type { SeenCall } from '../bounty-review/reviewer.ts'
import { findEvidence } from '../bounty-review/reviewer.ts'
import agent, { createGoalReviewer } from './agent.ts'
import { HOSTILE } from './hostile-models.test-kit.ts'

async function judge(id: string, decision?: 'approve' | 'deny') {
  const host = createHost({ agent })
  try {
    const session: Session<typeof agent> = await host.session(`submission-${id}`)
    const turn = session.send(`Is submission "${id}" valid for payout?`, { inputId: 'goal' })
    const calls: SeenCall[] = []
    for await (const event of turn) {
      if (event.type !== 'call') continue
      if (event.call.result) calls.push({ ...event.call, ok: event.call.result.type === 'ok' })
      const [asked] = await session.approvals()
      if (asked && decision) await session.decide({ approvalId: asked.approvalId, decision })
    }
    const output = readOutput(agent, await turn.answer)
    return { ...output, cited: findEvidence(output, calls), calls }
  } finally {
    await host.stop()
  }
}

test('a good submission is valid, and the verdict cites the calls behind it', async () => {
  const { verdict, cited, calls } = await judge('leases')
  expect(verdict).toBe('valid')
  expect(cited).toEqual({ callIds: calls.map(({ callId }) => callId), missing: [] })
  expect(calls.map(({ name }) => name)).toEqual([
    'scan_text_for_malicious_content',
    'get_content_details',
    'analyze_image_for_visual_requirements',
  ])
})

test('a submission that gives orders is invalid before anything else reads it', async () => {
  const { verdict, calls } = await judge('orders')
  expect(verdict).toBe('invalid')
  expect(calls.map(({ name }) => name)).toEqual(['scan_text_for_malicious_content'])
})

test.each([
  ['approve', 'invalid'],
  ['deny', 'unclear'],
] as const)('where confidence is low a person may %s, and the verdict is %s', async (decision, expected) => {
  const { verdict, calls } = await judge('vague', decision)
  expect(verdict).toBe(expected)
  expect(calls.at(-1)?.name).toBe('answer.approve')
})

test.each(HOSTILE)('a model that %s gets no verdict', async (_situation, { createModel, ends, calls }) => {
  const host = createHost({ agent: createGoalReviewer(createModel()) })
  const seen: string[] = []
  try {
    const session = await host.session('hostile')
    const play = async (): Promise<unknown> => {
      const turn = session.send('Is submission "leases" valid for payout?')
      for await (const event of turn) {
        if (event.type === 'call' && event.call.result) seen.push(`${event.call.name} ${event.call.result.type}`)
        if (event.type === 'approval-requested')
          await session.decide({ approvalId: event.approvalId, decision: 'deny', reason: 'look again' })
      }
      return (await turn.answer).output
    }
    const ended = await play().catch(({ code }: { readonly code: string }) => code)
    expect([ended, seen]).toEqual([ends, calls])
  } finally {
    await host.stop()
  }
})
