// A script in place of a model, for use without a key: it plays a reviewer based on the tools' results so far.
import type { JsonValue, Message, Model, ModelRequest } from '@baton/host'
import type { ScriptedStep } from '@baton/host/testing'
import { createScriptedModel } from '@baton/host/testing'
import type { Bounty } from './reviewer.ts'

interface Result {
  readonly name: string
  readonly isError: boolean
  readonly text: string
}

export function createScriptedReviewer(bounty: Bounty): Model {
  return createScriptedModel({
    id: 'scripted/reviewer',
    steps: (request) =>
      request.instructions.startsWith('You judge for each') ? look(request) : review(request, bounty),
  })
}

/** Answers analyze_image_for_visual_requirements. A script sees nothing, so it agrees with the question. */
function look({ messages }: ModelRequest): ScriptedStep {
  const last = messages.find(({ role }) => role === 'user')?.parts.at(-1)
  const asked = last?.type === 'text' ? (last.text.match(/^\d+(?=\. )/gm) ?? []) : []
  const verdicts = asked.map((number) => ({
    number: Number(number),
    verdict: 'met',
    confidence: 0.9,
    reasons: ['a script plays the model, and says yes'],
    region: 'bottom right',
  }))
  return { text: JSON.stringify({ sees: true, verdicts }), usage: USED }
}

const USED = { inputTokens: 900, outputTokens: 80 }

function review({ messages, tools }: ModelRequest, bounty: Bounty): ScriptedStep {
  const goal = JSON.stringify(messages.find(({ role }) => role === 'user')?.parts)
  const submission = /submission \\?"([^"\\]+)/.exec(goal)?.[1] ?? 'leases'
  const results = messages.flatMap(readResults)
  const find = (name: string): Result | undefined => results.find((result) => result.name === name)
  const call = (name: string, given: Record<string, JsonValue>): ScriptedStep => ({
    calls: [{ name, arguments: given }],
    usage: USED,
  })
  const evidence = results.map(({ name }) => name)
  const answer = (verdict: string, confidence: number, reason: string): ScriptedStep => {
    const told = verdict === 'valid' ? 'met' : verdict === 'invalid' ? 'not-met' : 'unclear'
    const requirements = bounty.text.map((requirement) => ({ requirement, verdict: told }))
    return { text: JSON.stringify({ verdict, confidence, requirements, reasons: [reason], evidence }), usage: USED }
  }

  const scan = find('scan_text_for_malicious_content')
  if (!scan) return call('scan_text_for_malicious_content', { id: submission })
  if (scan.isError) return answer('unclear', 0.9, 'the submission cannot be read')
  if (scan.text.includes('"verdict":"malicious"'))
    return answer('invalid', 0.99, 'its text contains instructions for its reader')
  const content = find('get_content_details')
  if (!content)
    return call('get_content_details', /^https?:/.test(submission) ? { url: submission } : { id: submission })
  if (/"state":"(?:deleted|removed)"/.test(content.text)) return answer('invalid', 0.99, 'it was removed')
  const image = find('analyze_image_for_visual_requirements')
  const [picture] = (/"images":\["([^"]+)"/.exec(content.text) ?? []).slice(1)
  if (picture === undefined) return answer('invalid', 0.9, 'it has no picture')
  if (!image)
    return call('analyze_image_for_visual_requirements', {
      image: picture,
      requirements: [...bounty.image],
      ...(bounty.referenceImages && { referenceImages: [...bounty.referenceImages] }),
    })
  if (image.text.includes('"allMet":false'))
    return answer('invalid', 0.95, 'its picture does not meet the requirements')
  if (tools.some(({ name }) => name === 'author_reputation') && !find('author_reputation'))
    return call('author_reputation', { author: /"author":"(\w+)"/.exec(content.text)?.[1] ?? 'bob' })
  if (content.text.includes('owner dies')) return answer('valid', 0.9, 'it explains what a lease is for')
  // A person is asked about it; the model reads a denial.
  const isDenied = messages.some(
    ({ role, parts }) => role === 'user' && JSON.stringify(parts).includes('A person did not accept'),
  )
  return answer(isDenied ? 'unclear' : 'invalid', 0.4, 'it does not say what a lease is for')
}

function readResults({ role, parts }: Message): readonly Result[] {
  if (role !== 'tool') return []
  return parts.map(({ name, isError, content }) => ({
    name,
    isError,
    text: content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
  }))
}
