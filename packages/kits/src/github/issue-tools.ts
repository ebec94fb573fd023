// Issues: reading, searching, closing, comments and labels.
import { BatonError, isBatonError, tool } from '@baton/core'
import * as z from 'zod'
import type { GithubKit } from './github-kit.ts'
import {
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

const label = z.union([z.string(), z.looseObject({ name: z.string().nullish() })])
export const wireIssue = z.looseObject({
  number: z.int(),
  title: z.string(),
  body: z.string().nullish(),
  state: z.string(),
  html_url: z.string(),
  user,
  labels: z.array(label),
  assignees: z.array(z.looseObject({ login: z.string() })).nullish(),
  comments: z.int(),
  created_at: z.string(),
  updated_at: z.string(),
  pull_request: z.looseObject({}).nullish(),
})
type WireIssue = z.infer<typeof wireIssue>
const wireComment = z.looseObject({
  id: z.int(),
  body: z.string().nullish(),
  user,
  created_at: z.string(),
  html_url: z.string(),
})
const wireLabels = z.array(z.looseObject({ name: z.string() }))

const shortIssue = z.object({
  number: z.int(),
  title: z.string(),
  state: z.string(),
  author: z.string(),
  labels: z.array(z.string()),
  comments: z.int(),
  url: z.string(),
  isPullRequest: z.boolean(),
  updatedAt: z.string(),
})
const wholeIssue = shortIssue.extend({
  text: z.string(),
  truncated: z.literal(true).optional(),
  assignees: z.array(z.string()),
  createdAt: z.string(),
})
const oneIssue = z.object({ ...repository, issueNumber })
const labels = z.array(
  z
    .string()
    .min(1)
    .max(50)
    .refine((name) => !/^\.{1,2}$/.test(name)),
)

export function issueTools(kit: GithubKit) {
  return [readTool(kit), statusTool(kit), listTool(kit), searchTool(kit), ...commentTools(kit), ...labelTools(kit)]
}

function readTool({ api, start, reads }: GithubKit) {
  return tool({
    ...reads,
    name: 'GetIssueDetails',
    title: 'Read an issue',
    kind: 'fetch',
    description: 'Reads an issue of a GitHub repository: its title, text, state, author and labels.',
    describe: (input) => ({ title: `Read ${nameRepository(input)}#${input.issueNumber}` }),
    input: oneIssue,
    output: wholeIssue,
    execute: async ({ owner, repo, issueNumber: issue_number }, context) =>
      showWhole(
        await api.ask(
          'GET /repos/{owner}/{repo}/issues/{issue_number}',
          { owner, repo, issue_number },
          wireIssue,
          await start(context),
        ),
      ),
  })
}

function statusTool({ api, start, writes }: GithubKit) {
  return tool({
    ...writes,
    name: 'UpdateIssueStatus',
    title: 'Open or close an issue',
    kind: 'edit',
    description: 'Closes or reopens an issue of a GitHub repository, optionally with a comment.',
    describe: ({ status, ...input }) => ({
      title: `${status === 'closed' ? 'Close' : 'Open'} ${nameRepository(input)}#${input.issueNumber}`,
      destination: nameRepository(input),
    }),
    input: oneIssue.extend({
      status: z.enum(['open', 'closed']).describe('The new status'),
      comment: longText.min(1).optional().describe('Comment to add, in Markdown'),
    }),
    output: shortIssue.extend({ commentUrl: z.string().optional() }),
    execute: async ({ owner, repo, issueNumber: issue_number, status: state, comment }, context) => {
      const asking = await start(context)
      const place = { owner, repo, issue_number }
      const route = 'PATCH /repos/{owner}/{repo}/issues/{issue_number}'
      const issue = showShort(await api.ask(route, { ...place, state }, wireIssue, asking))
      if (comment === undefined) return issue
      try {
        const post = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments'
        const { html_url: commentUrl } = await api.ask(post, { ...place, body: comment }, wireComment, asking)
        return { ...issue, commentUrl }
      } catch (thrown) {
        if (!isBatonError(thrown)) throw thrown
        const message = `the issue is now ${state}, but its comment failed: ${thrown.message}`
        throw new BatonError({ code: thrown.code, message, data: thrown.data, cause: thrown })
      }
    },
  })
}

function listTool({ api, start, reads }: GithubKit) {
  return tool({
    ...reads,
    name: 'github.list_issues',
    title: 'List issues',
    kind: 'search',
    description: 'Lists issues and pull requests of a GitHub repository, newest first.',
    describe: (input) => ({ title: `List issues of ${nameRepository(input)}` }),
    input: z.object({
      ...repository,
      state: z.enum(['open', 'closed', 'all']).default('open').describe('Which ones to list'),
      labels: labels.max(10).optional().describe('Only those with all of these labels'),
      page,
    }),
    output: z.object({ issues: z.array(shortIssue), nextPage }),
    execute: async ({ labels: wanted, ...input }, context) => {
      const filter = wanted && wanted.length > 0 ? { labels: wanted.join(',') } : {}
      const route = 'GET /repos/{owner}/{repo}/issues'
      const { items, ...rest } = await api.page(
        route,
        { ...input, ...filter },
        z.array(wireIssue),
        await start(context),
      )
      return { issues: items.map(showShort), ...rest }
    },
  })
}

function searchTool({ api, start, reads }: GithubKit) {
  return tool({
    ...reads,
    name: 'github.search_issues',
    title: 'Search issues',
    kind: 'search',
    description:
      'Searches issues and pull requests with GitHub\'s search syntax, such as "crash repo:acme/shop is:open label:bug".',
    describe: ({ query }) => ({ title: `Search issues for ${query}` }),
    input: z.object({ query: z.string().min(1).max(256).describe('Words and qualifiers of GitHub’s search'), page }),
    output: z.object({ total: z.int(), issues: z.array(shortIssue.extend({ repository: z.string() })), nextPage }),
    execute: async ({ query: q, page: number }, context) => {
      const found = z.looseObject({
        total_count: z.int(),
        items: z.array(wireIssue.extend({ repository_url: z.string() })),
      })
      const asked = { q, page: number }
      const { value, ...rest } = await api.searchPage('GET /search/issues', asked, found, await start(context))
      const issues = value.items.map((item) => ({
        repository: item.repository_url.split('/').slice(-2).join('/'),
        ...showShort(item),
      }))
      return { total: value.total_count, issues, ...rest }
    },
  })
}

function commentTools({ api, start, reads, writes }: GithubKit) {
  const comment = z.object({
    author: z.string(),
    text: z.string(),
    truncated: z.literal(true).optional(),
    createdAt: z.string(),
    url: z.string(),
  })
  const show = ({ user: who, body, created_at: createdAt, html_url: url }: z.infer<typeof wireComment>) => ({
    author: nameUser(who),
    ...cutText(body),
    createdAt,
    url,
  })
  return [
    tool({
      ...reads,
      name: 'github.list_comments',
      title: 'Read comments',
      kind: 'fetch',
      description: 'Reads the comments of an issue or pull request on GitHub, oldest first.',
      describe: (input) => ({ title: `Read comments of ${nameRepository(input)}#${input.issueNumber}` }),
      input: oneIssue.extend({ page }),
      output: z.object({ comments: z.array(comment), nextPage }),
      execute: async ({ issueNumber: issue_number, ...input }, context) => {
        const route = 'GET /repos/{owner}/{repo}/issues/{issue_number}/comments'
        const asked = { ...input, issue_number }
        const { items, ...rest } = await api.page(route, asked, z.array(wireComment), await start(context))
        return { comments: items.map(show), ...rest }
      },
    }),
    tool({
      ...writes,
      name: 'github.add_comment',
      title: 'Comment',
      kind: 'edit',
      description: 'Comments on an issue or pull request on GitHub.',
      describe: (input) => ({
        title: `Comment on ${nameRepository(input)}#${input.issueNumber}`,
        destination: nameRepository(input),
      }),
      input: oneIssue.extend({ text: longText.min(1).describe('Markdown') }),
      output: comment,
      execute: async ({ issueNumber: issue_number, text: body, ...input }, context) => {
        const route = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments'
        return show(await api.ask(route, { ...input, issue_number, body }, wireComment, await start(context)))
      },
    }),
  ]
}

function labelTools({ api, start, reads, writes }: GithubKit) {
  const output = z.object({ labels: z.array(z.string()).describe('All labels that it has now') })
  const show = (all: z.infer<typeof wireLabels>) => ({ labels: all.map(({ name }) => name) })
  return [
    tool({
      ...reads,
      name: 'github.list_labels',
      title: 'List labels',
      kind: 'fetch',
      description: 'Lists the labels of a GitHub repository.',
      describe: (input) => ({ title: `List labels of ${nameRepository(input)}` }),
      input: z.object({ ...repository, page }),
      output: z.object({ labels: z.array(z.string()), nextPage }),
      execute: async (input, context) => {
        const route = 'GET /repos/{owner}/{repo}/labels'
        const { items, ...rest } = await api.page(route, input, wireLabels, await start(context))
        return { labels: items.map(({ name }) => name), ...rest }
      },
    }),
    tool({
      ...writes,
      effect: 'idempotent',
      name: 'github.add_labels',
      title: 'Add labels',
      kind: 'edit',
      description: 'Adds labels to an issue or pull request on GitHub.',
      describe: (input) => ({
        title: `Label ${nameRepository(input)}#${input.issueNumber} ${input.labels.join(', ')}`,
        destination: nameRepository(input),
      }),
      input: oneIssue.extend({
        labels: labels.min(1).max(20).describe('Label names; they must exist in the repository'),
      }),
      output,
      execute: async ({ issueNumber: issue_number, ...input }, context) => {
        const route = 'POST /repos/{owner}/{repo}/issues/{issue_number}/labels'
        return show(await api.ask(route, { ...input, issue_number }, wireLabels, await start(context)))
      },
    }),
    tool({
      ...writes,
      name: 'github.remove_label',
      title: 'Remove a label',
      kind: 'edit',
      description: 'Removes one label from an issue or pull request on GitHub.',
      describe: (input) => ({
        title: `Remove the label ${input.label} from ${nameRepository(input)}#${input.issueNumber}`,
        destination: nameRepository(input),
      }),
      input: oneIssue.extend({ label: labels.unwrap().describe('Label name') }),
      output,
      execute: async ({ issueNumber: issue_number, label: name, ...input }, context) => {
        const route = 'DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}'
        return show(await api.ask(route, { ...input, issue_number, name }, wireLabels, await start(context)))
      },
    }),
  ]
}

function showShort(issue: WireIssue): z.infer<typeof shortIssue> {
  return {
    number: issue.number,
    title: issue.title,
    state: issue.state,
    author: nameUser(issue.user),
    labels: issue.labels.flatMap((one) => (typeof one === 'string' ? one : (one.name ?? []))),
    comments: issue.comments,
    url: issue.html_url,
    isPullRequest: Boolean(issue.pull_request),
    updatedAt: issue.updated_at,
  }
}

function showWhole(issue: WireIssue): z.infer<typeof wholeIssue> {
  return {
    ...showShort(issue),
    ...cutText(issue.body),
    assignees: (issue.assignees ?? []).map(({ login }) => login),
    createdAt: issue.created_at,
  }
}
