// Judges whether a submission is valid for payout: the reviewer of examples/bounty-review, with submissions looked up
// by id.
import type { Model } from '@baton/host'
import { createReviewer } from '../bounty-review/reviewer.ts'
import { createScriptedReviewer } from '../bounty-review/scripted-reviewer.ts'
import { fetchSubmission, resolveSubmission } from './submissions.ts'

const bounty = { text: ['explains what a lease is for'], image: ['at least 800 x 600', 'shows a chart'] }

export function createGoalReviewer(model: Model) {
  return createReviewer({
    name: 'goal-review',
    model,
    bounty,
    content: { resolve: resolveSubmission, fetch: fetchSubmission },
    vision: { fetch: fetchSubmission },
  })
}

export default createGoalReviewer(createScriptedReviewer(bounty))
