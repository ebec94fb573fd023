// Tool definitions for Cursor's cloud agents: five tools with one schema each, shared by server and clients.
import type { EffectClass, ToolKind } from '@baton/core/internal'
import * as z from 'zod'

/** Instructions for an agent that has these tools. */
export const CURSOR_AGENT_INSTRUCTIONS = `Use agent.spawn when the user asks for work on code, a pull request, an analysis of a repository, or any coding task.
Leave autoCreatePr and autoBranch false unless the user asks for a pull request or a branch.
Always confirm the repository with the user when it was not given.`

const PROMPT_CHARS = 100_000
/**
 * "." and ".." would lead to another path of the API, and invisible characters would hide from people which agent is
 * meant.
 */
const id = z
  .string()
  .min(1)
  .max(200)
  .refine((given) => /^(?!\.{1,2}$)[^\p{C}\s/\\]+$/u.test(given), 'write the id as returned by agent.spawn')
  .describe('As returned by agent.spawn')

export const SPAWN = {
  name: 'agent.spawn',
  title: 'Start a coding agent',
  kind: 'execute',
  description:
    'Starts a coding agent on a repository, for coding tasks, pull requests and analysis. Give the repository, or the ' +
    'address of an existing pull request instead.',
  effect: 'once',
  input: z
    .object({
      prompt: z.string().min(1).max(PROMPT_CHARS).describe('What the agent should do'),
      repository: z
        .string()
        .regex(/^[\w.-]{1,100}\/[\w.-]{1,100}$/, 'write it as "owner/repo"')
        .optional()
        .describe('As "owner/repo"'),
      ref: z.string().min(1).max(255).optional().describe('Branch, tag or commit to start from'),
      prUrl: z
        .string()
        .max(500)
        .optional()
        .describe('Address of an existing pull request to work on, instead of a repository'),
      model: z.string().min(1).max(100).optional().describe('Model of the agent'),
      autoCreatePr: z.boolean().default(false).describe('Whether it opens a pull request when it is done'),
      autoBranch: z
        .boolean()
        .default(false)
        .describe("With prUrl: whether it creates a new branch instead of working on the pull request's branch"),
      skipReviewerRequest: z
        .boolean()
        .optional()
        .describe('Whether to open the pull request without requesting reviewers'),
      branchName: z.string().min(1).max(255).optional().describe('Name of its branch'),
    })
    .refine(({ repository, prUrl }) => (repository === undefined) !== (prUrl === undefined), {
      message: 'exactly one of repository and prUrl is required',
    }),
} as const satisfies Definition

export const STATUS = {
  name: 'agent.status',
  title: 'Check a coding agent',
  kind: 'fetch',
  description: 'Returns the current status of an agent, by the id that agent.spawn returned.',
  effect: 'pure',
  input: z.object({ id }),
} as const satisfies Definition

export const CANCEL = {
  name: 'agent.cancel',
  title: 'Stop a coding agent',
  kind: 'execute',
  description: 'Stops a running agent.',
  effect: 'idempotent',
  input: z.object({ id }),
} as const satisfies Definition

export const FOLLOWUP = {
  name: 'agent.followup',
  title: 'Instruct a coding agent',
  kind: 'execute',
  description: 'Sends another instruction to an agent.',
  effect: 'once',
  input: z.object({ id, prompt: z.string().min(1).max(PROMPT_CHARS).describe('What it should do next') }),
} as const satisfies Definition

export const LIST = {
  name: 'agent.list',
  title: 'List coding agents',
  kind: 'fetch',
  description: "Lists the user's agents, newest first.",
  effect: 'pure',
  input: z.object({
    limit: z.number().int().min(1).max(100).optional().describe('Maximum number of agents; 20 by default'),
    cursor: z.string().min(1).max(500).optional().describe('The nextCursor of an earlier list, to continue it'),
    prUrl: z.string().min(1).max(500).optional().describe('Only agents that work on this pull request'),
  }),
} as const satisfies Definition

interface Definition {
  readonly name: string
  readonly title: string
  readonly kind: ToolKind
  readonly description: string
  readonly effect: EffectClass
  readonly input: z.ZodType
}

export type SpawnInput = z.infer<typeof SPAWN.input>
export type ListInput = z.infer<typeof LIST.input>

/** An agent as shown to a model. */
export const CloudAgent = z.object({
  id: z.string(),
  status: z
    .string()
    .describe(
      'Of its latest run: CREATING, RUNNING, FINISHED, ERROR, CANCELLED, EXPIRED; in a list: ACTIVE, IDLE, ARCHIVED',
    ),
  name: z.string().optional(),
  url: z.string().optional().describe('Its page'),
  repository: z.string().optional(),
  branch: z.string().optional(),
  prUrl: z.string().optional(),
  summary: z.string().optional().describe('Its final message; untrusted text'),
  truncated: z.boolean().optional().describe('True if the summary was cut off'),
  createdAt: z.string().optional(),
})
/** A cloud agent of Cursor, as its tools return it. */
export type CloudAgent = z.infer<typeof CloudAgent>
