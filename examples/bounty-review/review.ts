// Runs one review on the local host: asks a person when the agent does, checks the citations of the verdict, and
// exports every call behind it.
import type { Usage } from '@baton/host'
import { createHost, createMemoryStore, exportSession, readOutput } from '@baton/host'
import type { ReviewerOptions, SeenCall, Verdict } from './reviewer.ts'
import { createReviewer, findEvidence } from './reviewer.ts'

export interface ReviewOptions extends Omit<ReviewerOptions, 'name'> {
  /** The submission's own id: it is judged once. */
  readonly id: string
  /** Its address, or an id that `content.resolve` knows. */
  readonly submission: string
  /** Asks a person, in the words of the call. */
  readonly decide: (question: string) => Promise<'approve' | 'deny'>
  readonly store?: ReturnType<typeof createMemoryStore>
  readonly priceOf?: (model: string, usage: Usage) => number | undefined
  readonly onCall?: (line: string) => void
}

export interface Review {
  readonly verdict: Verdict
  /** The calls that the verdict cites. */
  readonly evidence: readonly string[]
  readonly calls: readonly SeenCall[]
  readonly usage: Usage
  /** The session as lines of JSON, for `importSession`. */
  readonly exported: readonly string[]
}

/** @throws BatonError such as `turn_cost_exceeded` */
export async function reviewSubmission(init: ReviewOptions): Promise<Review> {
  const { id, submission, decide, store = createMemoryStore(), priceOf, onCall = () => {} } = init
  const agent = createReviewer({ ...init, name: 'bounty-review' })
  const host = createHost({ agent, store, ...(priceOf && { priceOf }) })
  try {
    const session = await host.session(id)
    const turn = session.send(`Is the submission "${submission}" valid for payout?`, { inputId: id })
    const calls: SeenCall[] = []
    for await (const event of turn) {
      if (event.type === 'approval-requested') {
        const { title = event.call.name } = event.call
        await session.decide({ approvalId: event.approvalId, decision: await decide(title) })
      }
      if (event.type !== 'call' || !event.call.result) continue
      const { callId, name, result } = event.call
      calls.push({ callId, name, ok: result.type === 'ok' })
      onCall(`${name}: ${result.type}`)
    }
    const answer = await turn.answer
    const verdict = readOutput(agent, answer)
    const { callIds } = findEvidence(verdict, calls)
    const exported: string[] = []
    for await (const line of exportSession(store, id)) exported.push(line)
    return { verdict, evidence: callIds, calls, usage: answer.usage ?? {}, exported }
  } finally {
    await host.stop()
  }
}
