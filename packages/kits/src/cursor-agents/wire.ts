// Reads the two versions of Cursor's Cloud Agents API. v1: https://cursor.com/docs/cloud-agent/api/endpoints, v0:
// https://cursor.com/docs/cloud-agent/api/v0, both read in 2026-11. Unknown fields are ignored: v1 is a public beta.
import * as z from 'zod'
import type { CloudAgent, SpawnInput } from './definitions.ts'

const text = z.string()

export const V1Agent = z.object({
  id: text,
  name: text.optional(),
  status: text.optional(),
  url: text.optional(),
  repos: z.array(z.object({ url: text.optional(), prUrl: text.optional() })).optional(),
  createdAt: text.optional(),
  latestRunId: text.optional(),
})
export const V1Run = z.object({
  id: text,
  status: text,
  result: text.optional(),
  git: z
    .object({ branches: z.array(z.object({ branch: text.optional(), prUrl: text.optional() })).optional() })
    .optional(),
})
export const V1Created = z.object({ agent: V1Agent, run: V1Run })
export const V1CreatedRun = z.object({ run: V1Run })
export const V1List = z.object({ items: z.array(V1Agent), nextCursor: text.optional() })

export const V0Agent = z.object({
  id: text,
  name: text.optional(),
  status: text,
  source: z.object({ repository: text.optional() }).optional(),
  target: z.object({ url: text.optional(), branchName: text.optional(), prUrl: text.optional() }).optional(),
  summary: text.optional(),
  createdAt: text.optional(),
})
export const V0List = z.object({ agents: z.array(V0Agent), nextCursor: text.nullish() })
export const Named = z.object({ id: text })

/** Maximum characters of an agent's final message. */
const SUMMARY_CHARS = 8_000

export function fromV1(agent: z.infer<typeof V1Agent>, run?: z.infer<typeof V1Run>): CloudAgent {
  const [repo] = agent.repos ?? []
  // The newest branch is last, because each run pushes.
  const pushed = run?.git?.branches?.at(-1)
  return drop({
    id: agent.id,
    status: run?.status ?? agent.status ?? 'UNKNOWN',
    name: agent.name,
    url: agent.url,
    repository: repo?.url,
    branch: pushed?.branch,
    prUrl: pushed?.prUrl ?? repo?.prUrl,
    createdAt: agent.createdAt,
    ...cut(run?.result),
  })
}

export function fromV0({ source, target, summary, ...agent }: z.infer<typeof V0Agent>): CloudAgent {
  const { url, branchName: branch, prUrl } = target ?? {}
  return drop({ ...agent, url, repository: source?.repository, branch, prUrl, ...cut(summary) })
}

function cut(summary: string | undefined): { readonly summary?: string; readonly truncated?: true } {
  if (summary === undefined || summary === '') return {}
  return summary.length <= SUMMARY_CHARS ? { summary } : { summary: summary.slice(0, SUMMARY_CHARS), truncated: true }
}

type Loose<Value> = { readonly [Key in keyof Value]: Value[Key] | undefined }

function drop(agent: Loose<CloudAgent>): CloudAgent {
  return Object.fromEntries(Object.entries(agent).filter(([, value]) => value !== undefined)) as CloudAgent // own
}

/** `POST /v1/agents`. It cannot name the branch. */
export function toV1(input: SpawnInput, agentId: string) {
  const { prompt, repository, ref, prUrl, model, autoCreatePr, autoBranch, skipReviewerRequest } = input
  // Only on a pull request's own branch does an agent push to a branch that it did not create.
  const isOnBranch = prUrl !== undefined && !autoBranch
  return {
    agentId,
    prompt: { text: prompt },
    repos: [
      prUrl === undefined
        ? { url: `https://github.com/${repository}`, ...(ref !== undefined && { startingRef: ref }) }
        : { url: repositoryOf(prUrl) ?? '', prUrl },
    ],
    workOnCurrentBranch: isOnBranch,
    autoCreatePR: autoCreatePr,
    ...(skipReviewerRequest !== undefined && { skipReviewerRequest }),
    ...(model !== undefined && { model: { id: model } }),
  }
}

/** `POST /v0/agents`. With `prUrl` it ignores repository and ref. */
export function toV0(input: SpawnInput) {
  const { prompt, repository, ref, prUrl, model, autoCreatePr, autoBranch, skipReviewerRequest, branchName } = input
  return {
    prompt: { text: prompt },
    source:
      prUrl === undefined
        ? { repository: `https://github.com/${repository}`, ...(ref !== undefined && { ref }) }
        : { prUrl },
    target: {
      autoCreatePr,
      ...(prUrl !== undefined && { autoBranch }),
      ...(skipReviewerRequest !== undefined && { skipReviewerRequest }),
      ...(branchName !== undefined && { branchName }),
    },
    ...(model !== undefined && { model }),
  }
}

/**
 * Repository in a pull request's address, for GitHub, GitLab, Bitbucket and others; `undefined` for any other address.
 */
export function repositoryOf(prUrl: string): string | undefined {
  const { protocol, origin, pathname } = URL.parse(prUrl) ?? {}
  if (protocol !== 'https:') return undefined
  const path = /^(\/[\w./~-]{1,300}?)\/(?:-\/)?(?:pull|pulls|merge_requests|pull-requests|pullrequest)\/\d+/.exec(
    pathname ?? '',
  )?.[1]
  return path === undefined ? undefined : `${origin}${path}`
}
