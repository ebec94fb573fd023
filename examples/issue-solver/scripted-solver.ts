// A script in place of a model, for use without a key: it reads the issue, plans it, estimates it, and closes it on
// request.
import type { Model, ModelRequest } from '@baton/host'
import type { ScriptedStep } from '@baton/host/testing'
import { createScriptedModel } from '@baton/host/testing'

const PLAN = {
  steps: ['Find where the cart is kept', 'Keep it in the store of the browser', 'Test a reload with a full cart'],
}

export function createScriptedSolver(issue: object): Model {
  return createScriptedModel({ steps: (request) => answer(request, issue) })
}

function answer({ messages, instructions }: ModelRequest, issue: object): ScriptedStep {
  // Called by CreateImplementationPlan.
  if (instructions.startsWith('You plan how to implement')) return { text: JSON.stringify(PLAN) }
  const begin = messages.findLastIndex(({ role }) => role === 'user')
  const asked = JSON.stringify(messages[begin]?.parts ?? [])
  const done = messages
    .slice(begin + 1)
    .flatMap(({ role, parts }) =>
      role === 'tool' ? parts.map((part) => ({ name: part.name, isError: part.isError })) : [],
    )
  const failed = done.find(({ isError }) => isError)
  if (failed) return { text: `${failed.name} did not work, so I stop here.` }
  const plan = /close/i.test(asked) ? CLOSING : SOLVING
  const next = plan[done.length]
  return next
    ? { calls: [{ name: next.name, arguments: next.needsIssue ? { ...issue, ...next.more } : next.more }] }
    : { text: plan === CLOSING ? 'The issue is closed.' : SUMMARY }
}

interface Planned {
  readonly name: string
  readonly needsIssue: boolean
  readonly more: { readonly [name: string]: string | number }
}

const SOLVING: readonly Planned[] = [
  { name: 'GetIssueDetails', needsIssue: true, more: {} },
  { name: 'CreateImplementationPlan', needsIssue: false, more: {} },
  { name: 'plan.estimate', needsIssue: false, more: { steps: PLAN.steps.length } },
  { name: 'branch.name', needsIssue: false, more: { issueNumber: 1, title: 'The cart forgets its items' } },
]
const CLOSING: readonly Planned[] = [
  { name: 'UpdateIssueStatus', needsIssue: true, more: { status: 'closed', comment: 'Solved by the plan above.' } },
]
const SUMMARY = `I have read the issue and made a plan of ${PLAN.steps.length} steps, some six hours of work. Say "close it" when it is done.`
