// Judges whether a submission is valid for payout. It is the reviewer of examples/bounty-review, with submissions that it finds by their id.
import { createReviewer } from '../bounty-review/reviewer.ts'
import { createScriptedReviewer } from '../bounty-review/scripted-reviewer.ts'
import { fetchSubmission, resolveSubmission } from './submissions.ts'

const bounty = { text: ['explains what a lease is for'], image: ['at least 800 x 600', 'shows a chart'] }

export default createReviewer({
  name: 'goal-review',
  model: createScriptedReviewer(bounty),
  bounty,
  content: { resolve: resolveSubmission, fetch: fetchSubmission },
  vision: { fetch: fetchSubmission },
})
