// The same reviewer with one more tool, which is an activity of a Go worker.
import { defineAgent } from '@baton/host'
import { temporalTool } from '@baton/temporal'
import { z } from 'zod'
import agent from './agent.ts'

const reputation = temporalTool({
  name: 'author_reputation',
  description: 'Says how many submissions of an author were paid',
  input: z.object({ author: z.string() }),
  effect: 'pure',
  runs: 'activity',
  type: 'AuthorReputation',
  taskQueue: 'reputation',
  attempts: 3,
})
export default defineAgent({ ...agent, model: agent.models[0] ?? '', tools: [...agent.tools, reputation] })
