// Misbehaving models and their expected outcomes, in process and over Temporal.
import type { Model } from '@baton/host'
import type { ScriptedStep } from '@baton/host/testing'
import { createScriptedModel } from '@baton/host/testing'

const SCAN = 'scan_text_for_malicious_content'
const READ = 'get_content_details'

export interface Hostile {
  readonly createModel: () => Model
  /** The error code: these models do not reach a verdict. */
  readonly ends: string
  /** Calls with their outcomes. */
  readonly calls: readonly string[]
}

function verdict(change: object = {}): ScriptedStep {
  const reasons = ['it is good']
  const whole = { verdict: 'valid', confidence: 0.99, requirements: [], reasons, evidence: [SCAN], ...change }
  return { text: JSON.stringify(whole) }
}

function call(name: string, id = 'leases'): ScriptedStep {
  return { calls: [{ name, arguments: { id } }] }
}

/** Plays its steps in order, and repeats the last one. */
const play = (...steps: readonly ScriptedStep[]) => ({
  createModel: () => createScriptedModel({ steps: (_, index) => steps[Math.min(index, steps.length - 1)] ?? {} }),
})

export const HOSTILE: readonly (readonly [string, Hostile])[] = [
  ['answers at once', { ...play(verdict()), ends: 'answer_refused', calls: [] }],
  [
    'calls another tool first, and then answers',
    { ...play(call(READ), verdict()), ends: 'answer_refused', calls: [`${READ} denied`] },
  ],
  [
    'takes the failed scan of another submission for a scan',
    { ...play(call(SCAN, 'nothing'), verdict()), ends: 'answer_refused', calls: [`${SCAN} error`] },
  ],
  [
    'cites tools that never ran',
    { ...play(call(SCAN), verdict({ evidence: [SCAN, READ] })), ends: 'answer_refused', calls: [`${SCAN} ok`] },
  ],
  [
    'says 0.2, whatever a person says',
    {
      ...play(call(SCAN), verdict({ confidence: 0.2 })),
      ends: 'answer_refused',
      calls: [`${SCAN} ok`, ...Array.from({ length: 3 }, () => 'answer.approve denied')],
    },
  ],
  [
    'pays for what the scan found malicious',
    { ...play(call(SCAN, 'orders'), verdict()), ends: 'answer_refused', calls: [`${SCAN} ok`] },
  ],
]
