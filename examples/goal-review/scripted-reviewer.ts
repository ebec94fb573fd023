// A model without a key: it plays a reviewer by what the tools have said so far. `--model` takes a real one in its place.
import type { JsonValue } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import type { ScriptedStep } from '@baton/host/testing'

interface Result {
  readonly callId: string
  readonly name: string
  readonly value: string
}

export function createScriptedReviewer() {
  return createScriptedModel({
    id: 'scripted/reviewer',
    steps: ({ messages, tools }) => {
      const goal = JSON.stringify(messages.find(({ role }) => role === 'user')?.parts)
      const results = messages.flatMap(({ role, parts }) =>
        role === 'tool' ? parts.map((part) => ({ ...part, value: JSON.stringify(part) })) : [],
      ) as readonly Result[] // parts of a tool message are results
      return review(
        /submission \\?"(\w+)/.exec(goal)?.[1] ?? 'leases',
        results,
        tools.map(({ name }) => name),
      )
    },
  })
}

function review(id: string, results: readonly Result[], tools: readonly string[]): ScriptedStep {
  const find = (name: string): Result | undefined => results.find((result) => result.name === name)
  const call = (name: string, given: Record<string, JsonValue>) => ({ calls: [{ name, arguments: given }] })
  const scan = find('scan_text_for_malicious_content')
  if (!scan) return call('scan_text_for_malicious_content', { id })
  const evidence = results.map(({ callId }) => callId)
  const answer = (verdict: string, confidence: number, reason: string): ScriptedStep => ({
    text: JSON.stringify({ verdict, confidence, reasons: [reason], evidence }),
  })
  if (/verdict\\*":\\*"malicious/.test(scan.value))
    return answer('invalid', 0.99, 'its text gives orders to its reader')
  const content = find('get_content_details')
  if (!content) return call('get_content_details', { id })
  if (!find('analyze_image_for_visual_requirements'))
    return call('analyze_image_for_visual_requirements', { image: 'chart.png', requirements: ['at least 800 x 600'] })
  if (tools.includes('author_reputation') && !find('author_reputation'))
    return call('author_reputation', { author: content.value.includes('ann') ? 'ann' : 'bob' })
  if (content.value.includes('owner dies')) return answer('valid', 0.9, 'it explains what a lease is for')
  const decision = find('ask_a_person')
  const proposal = { verdict: 'invalid', confidence: 0.4, reason: 'it does not say what a lease is for' }
  if (!decision) return call('ask_a_person', proposal)
  const verdict = decision.value.includes('confirmed') ? proposal.verdict : 'unclear'
  return answer(verdict, proposal.confidence, proposal.reason)
}
