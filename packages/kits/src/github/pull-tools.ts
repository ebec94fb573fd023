// Pull requests and reviews.
import { tool } from '@baton/core'
import * as z from 'zod'
import type { GithubKit } from './github-kit.ts'
import {
  branch,
  cutText,
  issueNumber,
  longText,
  nameRepository,
  nameUser,
  nextPage,
  page,
  repository,
  user,
} from './github-kit.ts'

/** Maximum UTF-16 units of all patches on one page, and of one file. */
const PATCHES_CHARS = 40_000
const PATCH_CHARS = 8000

const wirePull = z.looseObject({
  number: z.int(),
  title: z.string(),
  body: z.string().nullish(),
  state: z.string(),
  draft: z.boolean().nullish(),
  html_url: z.string(),
  user,
  head: z.looseObject({ ref: z.string() }),
  base: z.looseObject({ ref: z.string() }),
  updated_at: z.string(),
})
const wireFile = z.looseObject({
  filename: z.string(),
  status: z.string(),
  additions: z.int(),
  deletions: z.int(),
  patch: z.string().nullish(),
})
const wireReview = z.looseObject({
  id: z.int(),
  body: z.string().nullish(),
  state: z.string(),
  user,
  html_url: z.string(),
})

const pull = z.object({
  number: z.int(),
  title: z.string(),
  state: z.string(),
  isDraft: z.boolean(),
  author: z.string(),
  from: z.string(),
  into: z.string(),
  url: z.string(),
  updatedAt: z.string(),
})
const review = z.object({
  author: z.string(),
  state: z.string(),
  text: z.string(),
  truncated: z.literal(true).optional(),
  url: z.string(),
})
const onePull = z.object({ ...repository, pullNumber: issueNumber })

export function pullTools(kit: GithubKit) {
  return [listTool(kit), readTool(kit), createTool(kit), listReviewsTool(kit), reviewTool(kit), reviewersTool(kit)]
}

function listTool({ api, start, reads }: GithubKit) {
  return tool({
    ...reads,
    name: 'github.list_pull_requests',
    title: 'List pull requests',
    kind: 'fetch',
    description: 'Lists pull requests of a GitHub repository, newest first.',
    describe: (input) => ({ title: `List pull requests of ${nameRepository(input)}` }),
    input: z.object({
      ...repository,
      state: z.enum(['open', 'closed', 'all']).default('open').describe('Which ones to list'),
      page,
    }),
    output: z.object({ pullRequests: z.array(pull), nextPage }),
    execute: async (input, context) => {
      const route = 'GET /repos/{owner}/{repo}/pulls'
      const { items, ...rest } = await api.page(route, input, z.array(wirePull), await start(context))
      return { pullRequests: items.map(showPull), ...rest }
    },
  })
}

function readTool({ api, start, reads }: GithubKit) {
  const file = z.object({
    path: z.string(),
    status: z.string(),
    additions: z.int(),
    deletions: z.int(),
    patch: z.string().optional(),
    truncated: z.literal(true).optional(),
  })
  return tool({
    ...reads,
    name: 'github.read_pull_request',
    title: 'Read a pull request',
    kind: 'fetch',
    description: 'Reads a pull request on GitHub: its text, and its changed files with their diffs.',
    describe: (input) => ({ title: `Read pull request ${nameRepository(input)}#${input.pullNumber}` }),
    input: onePull.extend({ page }),
    output: pull.extend({
      text: z.string(),
      truncated: z.literal(true).optional(),
      files: z.array(file),
      nextPage,
    }),
    execute: async ({ owner, repo, pullNumber: pull_number, page: number }, context) => {
      const asking = await start(context)
      const place = { owner, repo, pull_number }
      const found = await api.ask('GET /repos/{owner}/{repo}/pulls/{pull_number}', place, wirePull, asking)
      const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/files'
      const asked = { ...place, page: number }
      const { items, ...rest } = await api.page(route, asked, z.array(wireFile), asking)
      let room = PATCHES_CHARS
      const files = items.map(({ filename: path, status, additions, deletions, patch }) => {
        const shown = patch?.slice(0, Math.min(PATCH_CHARS, room)).toWellFormed() ?? ''
        room -= shown.length
        const isCut = shown.length < (patch ?? '').length
        const about = { path, status, additions, deletions }
        return { ...about, ...(shown !== '' && { patch: shown }), ...(isCut && { truncated: true as const }) }
      })
      return { ...showPull(found), ...cutText(found.body), files, ...rest }
    },
  })
}

function createTool({ api, start, writes }: GithubKit) {
  return tool({
    ...writes,
    name: 'github.create_pull_request',
    title: 'Open a pull request',
    kind: 'edit',
    description: 'Opens a pull request on GitHub from a pushed branch.',
    describe: (input) => ({
      title: `Open a pull request in ${nameRepository(input)}: ${input.title}`,
      destination: nameRepository(input),
    }),
    input: z.object({
      ...repository,
      title: z.string().min(1).max(256).describe('One line'),
      text: longText.default('').describe('Markdown'),
      from: branch.describe('The branch with the changes'),
      into: branch.describe('The branch to merge into'),
      isDraft: z.boolean().default(false).describe('Whether to open it as a draft'),
    }),
    output: pull,
    execute: async ({ owner, repo, title, text: body, from: head, into: base, isDraft: draft }, context) => {
      const asked = { owner, repo, title, body, head, base, draft }
      return showPull(await api.ask('POST /repos/{owner}/{repo}/pulls', asked, wirePull, await start(context)))
    },
  })
}

function listReviewsTool({ api, start, reads }: GithubKit) {
  return tool({
    ...reads,
    name: 'github.list_reviews',
    title: 'Read reviews',
    kind: 'fetch',
    description: 'Reads the reviews of a pull request on GitHub.',
    describe: (input) => ({ title: `Read reviews of ${nameRepository(input)}#${input.pullNumber}` }),
    input: onePull.extend({ page }),
    output: z.object({ reviews: z.array(review), nextPage }),
    execute: async ({ pullNumber: pull_number, ...input }, context) => {
      const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews'
      const asked = { ...input, pull_number }
      const { items, ...rest } = await api.page(route, asked, z.array(wireReview), await start(context))
      return { reviews: items.map(showReview), ...rest }
    },
  })
}

function reviewTool({ api, start, writes }: GithubKit) {
  return tool({
    ...writes,
    name: 'github.create_review',
    title: 'Review',
    kind: 'edit',
    description: 'Reviews a pull request on GitHub, optionally with comments on lines of its diff.',
    describe: (input) => ({
      title: `Review ${nameRepository(input)}#${input.pullNumber}: ${input.verdict}`,
      destination: nameRepository(input),
    }),
    input: onePull
      .extend({
        verdict: z.enum(['approve', 'request-changes', 'comment']).describe('The review verdict'),
        text: longText.default('').describe('Markdown; required unless you approve'),
        comments: z
          .array(
            z.object({
              path: z.string().min(1).max(4096).describe('File'),
              line: z.int().min(1).describe('Line number in the file after the change'),
              text: longText.min(1).describe('Markdown'),
            }),
          )
          .max(50)
          .default([])
          .describe('Comments on single lines'),
      })
      .refine(({ verdict, text }) => verdict === 'approve' || text !== '', {
        message: 'text is required unless you approve',
      }),
    output: review,
    execute: async ({ owner, repo, pullNumber: pull_number, verdict, text: body, comments }, context) => {
      const route = 'POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews'
      const asked = {
        owner,
        repo,
        pull_number,
        event: EVENTS[verdict],
        ...(body !== '' && { body }),
        ...(comments.length > 0 && {
          comments: comments.map(({ text, ...place }) => ({ ...place, side: 'RIGHT', body: text })),
        }),
      }
      return showReview(await api.ask(route, asked, wireReview, await start(context)))
    },
  })
}

function reviewersTool({ api, start, writes }: GithubKit) {
  return tool({
    ...writes,
    effect: 'idempotent',
    name: 'github.request_reviewers',
    title: 'Request reviews',
    kind: 'edit',
    description: 'Requests reviews of a pull request on GitHub.',
    describe: (input) => ({
      title: `Ask ${input.reviewers.join(', ')} to review ${nameRepository(input)}#${input.pullNumber}`,
      destination: nameRepository(input),
    }),
    input: onePull.extend({
      reviewers: z.array(repository.owner).min(1).max(15).describe('Account names'),
    }),
    output: pull,
    execute: async ({ pullNumber: pull_number, ...input }, context) => {
      const route = 'POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers'
      return showPull(await api.ask(route, { ...input, pull_number }, wirePull, await start(context)))
    },
  })
}

const EVENTS = { approve: 'APPROVE', 'request-changes': 'REQUEST_CHANGES', comment: 'COMMENT' } as const

function showPull(found: z.infer<typeof wirePull>): z.infer<typeof pull> {
  return {
    number: found.number,
    title: found.title,
    state: found.state,
    isDraft: found.draft ?? false,
    author: nameUser(found.user),
    from: found.head.ref,
    into: found.base.ref,
    url: found.html_url,
    updatedAt: found.updated_at,
  }
}

function showReview(found: z.infer<typeof wireReview>): z.infer<typeof review> {
  return { author: nameUser(found.user), state: found.state, ...cutText(found.body), url: found.html_url }
}
