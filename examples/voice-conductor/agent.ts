// The voice conductor: a voice app through which a person hands work to coding agents. Every tool is the app's own: none
// has `execute`, so a connected app runs them.
import { defineAgent, tool, voice } from '@baton/core'
import { z } from 'zod'

const spawn = tool({
  name: 'agent.spawn',
  description:
    'Launches a coding agent on a repository, for coding tasks, pull requests and analysis. Give the repository, or the ' +
    'address of an existing pull request instead.',
  // A second start would do the work twice, so it is never repeated.
  effect: 'once',
  input: z
    .object({
      prompt: z.string().min(1).describe('What the agent is to do'),
      repository: z.string().optional().describe('As "owner/repo"'),
      ref: z.string().optional().describe('Branch, tag or commit to start from'),
      prUrl: z.string().optional().describe('An existing pull request to work on, instead of a repository'),
      model: z.string().optional().describe('Model of the agent'),
      autoCreatePr: z.boolean().default(false).describe('Whether it opens a pull request when it is done'),
      autoBranch: z.boolean().default(false).describe('Whether it makes a branch of its own'),
      skipReviewerRequest: z.boolean().optional().describe('Whether nobody is asked to review'),
      branchName: z.string().optional().describe('Name of its branch'),
    })
    .refine(({ repository, prUrl }) => (repository === undefined) !== (prUrl === undefined), {
      message: 'exactly one of repository and prUrl is needed',
    }),
})

const status = tool({
  name: 'agent.status',
  description: 'Gives the current status of an agent, by the id that agent.spawn returned.',
  effect: 'pure',
  input: z.object({ id: z.string().min(1) }),
})

const cancel = tool({
  name: 'agent.cancel',
  description: 'Stops a running agent.',
  effect: 'idempotent',
  input: z.object({ id: z.string().min(1) }),
})

const followup = tool({
  name: 'agent.followup',
  description: 'Adds an instruction to a running agent.',
  effect: 'once',
  input: z.object({ id: z.string().min(1), prompt: z.string().min(1) }),
})

const list = tool({
  name: 'agent.list',
  description: 'Lists the agents of the user.',
  effect: 'pure',
  input: z.object({
    limit: z.number().optional().describe('Most agents that are listed'),
    cursor: z.string().optional().describe('Where an earlier list ended'),
    prUrl: z.string().optional().describe('Only agents that work on this pull request'),
  }),
})

export default defineAgent({
  name: 'voice-conductor',
  profile: voice,
  instructions: `You are a voice assistant that conducts coding agents.
Use agent.spawn when the user asks for work on code, a pull request, an analysis of a repository, or any coding task.
Leave autoCreatePr and autoBranch false unless the user asks for a pull request or a branch.
Always confirm the repository with the user when it was not given.
Your answers are spoken: keep them short, in plain sentences, without tables, markdown or long formatting.`,
  tools: [spawn, status, cancel, followup, list],
})
