// Answers of the fake GitHub: GitHub's own examples, filled with the repository's contents.
import type { JsonValue } from '@baton/core'
import type { Asked, Reply } from './operations.ts'
import { refuse, textIn } from './operations.ts'
import type { Comment, Issue, Repository } from './repositories.ts'
import { addIssue, shaOfBlob, shaOfBranch, timeOf } from './repositories.ts'
import { readContents, writeContents } from './contents.ts'

type Fields = { readonly [name: string]: JsonValue }
type Answer = (asked: Asked, repository: Repository) => Reply

export function answerRequest(asked: Asked): Reply {
  if (asked.route === 'GET /search/issues') return searchIssues(asked)
  const answer = ANSWERS[asked.route]
  return answer && asked.repository ? answer(asked, asked.repository) : refuse(404, 'Not Found')
}

const REPO = '/repos/{owner}/{repo}'
const ISSUE = `${REPO}/issues/{issue_number}`
const PULL = `${REPO}/pulls/{pull_number}`

const ANSWERS: Readonly<Record<string, Answer>> = {
  [`GET ${REPO}`]: ({ example }, { owner, name, isPrivate }) => {
    const { source: _, parent: _parent, template_repository: _template, ...plain } = example() as Fields // matches its schema
    return ok({
      ...plain,
      name,
      full_name: `${owner}/${name}`,
      private: isPrivate,
      default_branch: 'main',
      language: null,
    })
  },
  [`GET ${REPO}/issues`]: (asked, repository) => {
    const state = asked.query.get('state') ?? 'open'
    const labels = (asked.query.get('labels') ?? '').split(',').filter(Boolean)
    const found = [...repository.issues.values()]
      .filter((issue) => state === 'all' || issue.state === state)
      .filter((issue) => labels.every((label) => issue.labels.includes(label)))
      .toReversed()
    return page(asked, found, (issue) => showIssue(asked, repository, issue))
  },
  [`GET ${ISSUE}`]: (asked, repository) =>
    withIssue(asked, repository, (issue) => ok(showIssue(asked, repository, issue))),
  [`PATCH ${ISSUE}`]: (asked, repository) =>
    withIssue(asked, repository, (issue) => {
      issue.state = (asked.body['state'] ?? issue.state) as Issue['state'] // per the schema
      return ok(showIssue(asked, repository, issue))
    }),
  [`GET ${ISSUE}/comments`]: (asked, repository) =>
    withIssue(asked, repository, (issue) => page(asked, issue.comments, (comment) => showComment(asked, comment))),
  [`POST ${ISSUE}/comments`]: (asked, repository) =>
    withIssue(asked, repository, (issue) => {
      const id = issue.number * 1000 + issue.comments.length
      const comment = { id, author: asked.login, body: textIn(asked, 'body'), createdAt: timeOf(100 + id) }
      issue.comments.push(comment)
      return { status: 201, body: showComment(asked, comment) }
    }),
  [`GET ${REPO}/labels`]: (asked, { labels }) => page(asked, labels, (name) => showLabel(asked, name)),
  [`POST ${ISSUE}/labels`]: (asked, repository) =>
    withIssue(asked, repository, (issue) => {
      const added = (asked.body['labels'] ?? []) as readonly string[] // the kit sends names
      const unknown = added.find((name) => !repository.labels.includes(name))
      if (unknown !== undefined) return refuse(422, 'Validation Failed', [{ resource: 'Label', value: unknown }])
      issue.labels = [...new Set([...issue.labels, ...added])]
      return ok(issue.labels.map((name) => showLabel(asked, name)))
    }),
  [`DELETE ${ISSUE}/labels/{name}`]: (asked, repository) =>
    withIssue(asked, repository, (issue) => {
      const { name = '' } = asked.values
      if (!issue.labels.includes(name)) return refuse(404, 'Label does not exist')
      issue.labels = issue.labels.filter((one) => one !== name)
      return ok(issue.labels.map((one) => showLabel(asked, one)))
    }),
  [`GET ${REPO}/contents/{path}`]: readContents,
  [`PUT ${REPO}/contents/{path}`]: writeContents,
  [`GET ${REPO}/branches`]: (asked, { branches }) =>
    page(asked, [...branches], ([name, files]) => ({
      name,
      protected: name === 'main',
      commit: { sha: shaOfBranch(files), url: `${asked.origin}/commit` },
    })),
  [`GET ${REPO}/git/ref/{ref}`]: (asked, { branches }) => {
    const { ref = '' } = asked.values
    const files = branches.get(ref.replace(/^heads\//, ''))
    return files ? ok(showRef(asked, ref, shaOfBranch(files))) : refuse(404, 'Not Found')
  },
  [`POST ${REPO}/git/refs`]: (asked, { branches }) => {
    const name = textIn(asked, 'ref').replace(/^refs\/heads\//, '')
    const files = [...branches.values()].find((one) => shaOfBranch(one) === asked.body['sha'])
    if (branches.has(name)) return refuse(422, 'Reference already exists')
    if (!files) return refuse(422, 'Object does not exist')
    branches.set(name, new Map(files))
    return {
      status: 201,
      body: showRef({ ...asked, example: () => asked.example(201) }, `heads/${name}`, shaOfBranch(files)),
    }
  },
  [`GET ${REPO}/pulls`]: (asked, repository) => {
    const state = asked.query.get('state') ?? 'open'
    const found = [...repository.issues.values()].filter(
      ({ pull, state: its }) => pull && (state === 'all' || its === state),
    )
    return page(asked, found.toReversed(), (issue) => showPull(asked, issue))
  },
  [`POST ${REPO}/pulls`]: (asked, repository) => {
    const [title = '', body = '', head = '', base = ''] = ['title', 'body', 'head', 'base'].map((name) =>
      textIn(asked, name),
    )
    if (!repository.branches.has(head) || !repository.branches.has(base))
      return refuse(422, 'Validation Failed', [{ resource: 'PullRequest', field: 'head', code: 'invalid' }])
    const pull = { head: head, base: base, isDraft: asked.body['draft'] === true, reviews: [], reviewers: [] }
    const issue = addIssue(repository, {
      title: title,
      body: body,
      author: asked.login,
      labels: [],
      pull,
    })
    return { status: 201, body: showPull({ ...asked, example: () => asked.example(201) }, issue) }
  },
  [`GET ${PULL}`]: (asked, repository) => withPull(asked, repository, (issue) => ok(showPull(asked, issue))),
  [`GET ${PULL}/files`]: (asked, repository) =>
    withPull(asked, repository, ({ pull }) => {
      const [before, after] = [pull?.base, pull?.head].map((name) => repository.branches.get(name ?? '') ?? new Map())
      const paths = [...new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])].filter(
        (path) => String(before?.get(path)) !== String(after?.get(path)),
      )
      return page(asked, paths, (path) => ({
        ...(asked.example() as readonly Fields[])[0],
        filename: path,
        status: before?.has(path) ? (after?.has(path) ? 'modified' : 'removed') : 'added',
        additions: String(after?.get(path) ?? '').split('\n').length,
        deletions: String(before?.get(path) ?? '').split('\n').length,
        patch: `@@ -1 +1 @@\n-${String(before?.get(path) ?? '')}\n+${String(after?.get(path) ?? '')}`,
      }))
    }),
  [`GET ${PULL}/reviews`]: (asked, repository) =>
    withPull(asked, repository, ({ pull }) =>
      page(asked, pull?.reviews ?? [], ({ id, author, body, state }) => ({
        ...(asked.example() as readonly Fields[])[0],
        id,
        body,
        state,
        user: showUser(asked, author),
      })),
    ),
  [`POST ${PULL}/reviews`]: (asked, repository) =>
    withPull(asked, repository, (issue) => {
      const states: Readonly<Record<string, string>> = { APPROVE: 'APPROVED', REQUEST_CHANGES: 'CHANGES_REQUESTED' }
      if (issue.author === asked.login && asked.body['event'] !== 'COMMENT')
        return refuse(422, 'Unprocessable Entity', ['Can not approve your own pull request'])
      const review = {
        id: 800 + (issue.pull?.reviews.length ?? 0),
        author: asked.login,
        body: textIn(asked, 'body'),
        state: states[textIn(asked, 'event')] ?? 'COMMENTED',
      }
      issue.pull?.reviews.push(review)
      const shown = { id: review.id, body: review.body, state: review.state, user: showUser(asked, asked.login) }
      return ok({ ...(asked.example() as Fields), ...shown })
    }),
  [`POST ${PULL}/requested_reviewers`]: (asked, repository) =>
    withPull(asked, repository, (issue) => {
      if (issue.pull) issue.pull.reviewers = (asked.body['reviewers'] ?? []) as readonly string[] // per the schema
      return { status: 201, body: showPull({ ...asked, example: () => asked.example(201) }, issue) }
    }),
}

function ok(body: JsonValue): Reply {
  return { status: 200, body }
}

/** Returns a page, with GitHub's pagination links. */
function page<One>({ query, origin, values }: Asked, all: readonly One[], show: (one: One) => JsonValue): Reply {
  const size = Number(query.get('per_page') ?? 30)
  const number = Number(query.get('page') ?? 1)
  const body = all.slice((number - 1) * size, number * size).map(show)
  const hasMore = all.length > number * size
  const link = `<${origin}/${values['repo'] ?? ''}?page=${number + 1}>; rel="next"`
  return { status: 200, body, ...(hasMore && { headers: { link } }) }
}

function withIssue({ values }: Asked, { issues }: Repository, answer: (issue: Issue) => Reply): Reply {
  const issue = issues.get(Number(values['issue_number']))
  return issue ? answer(issue) : refuse(404, 'Not Found')
}

function withPull({ values }: Asked, { issues }: Repository, answer: (issue: Issue) => Reply): Reply {
  const issue = issues.get(Number(values['pull_number']))
  return issue?.pull ? answer(issue) : refuse(404, 'Not Found')
}

function searchIssues(asked: Asked): Reply {
  const words = (asked.query.get('q') ?? '').split(/\s+/)
  const repo = words.find((word) => word.startsWith('repo:'))?.slice(5)
  const texts = words.filter((word) => !word.includes(':')).map((word) => word.toLowerCase())
  const found = asked.repositories
    .filter(({ owner, name }) => repo === undefined || repo === `${owner}/${name}`)
    .flatMap((repository) => [...repository.issues.values()].map((issue) => ({ repository, issue })))
    .filter(({ issue }) => texts.every((word) => `${issue.title} ${issue.body}`.toLowerCase().includes(word)))
  const example = asked.example() as { readonly items: readonly Fields[] } // matches its schema
  const items = page(asked, found, ({ repository, issue }) => ({
    ...example.items[0],
    ...showIssueFields(asked, repository, issue),
  }))
  return { ...items, body: { ...example, total_count: found.length, items: items.body ?? [] } }
}

function showIssue(asked: Asked, repository: Repository, issue: Issue): JsonValue {
  return { ...issueExample(asked), ...showIssueFields(asked, repository, issue) }
}

function showIssueFields(asked: Asked, { owner, name }: Repository, issue: Issue): Fields {
  const url = `https://github.com/${owner}/${name}/${issue.pull ? 'pull' : 'issues'}/${issue.number}`
  return {
    id: issue.number,
    number: issue.number,
    title: issue.title,
    body: issue.body === '' ? null : issue.body,
    state: issue.state,
    html_url: url,
    repository_url: `${asked.origin}/repos/${owner}/${name}`,
    user: showUser(asked, issue.author),
    labels: issue.labels.map((label) => showLabel(asked, label)),
    comments: issue.comments.length,
    created_at: issue.createdAt,
    updated_at: issue.createdAt,
    closed_at: issue.state === 'closed' ? timeOf(500) : null,
    ...(issue.pull && { pull_request: { url, html_url: url, diff_url: `${url}.diff`, patch_url: `${url}.patch` } }),
  }
}

/** The description's example of one issue is that of a pinned comment. */
function issueExample({ example }: Asked): Fields {
  const shown = example()
  const [first] = Array.isArray(shown) ? (shown as readonly Fields[]) : [shown as Fields]
  const { pull_request: _, closed_by: _by, ...plain } = first?.['number'] === undefined ? PLAIN_ISSUE : first
  return plain
}

const PLAIN_ISSUE: Fields = {
  node_id: 'MDU6SXNzdWUx',
  url: 'https://api.github.com/repos/octocat/Hello-World/issues/1',
  labels_url: 'https://api.github.com/repos/octocat/Hello-World/issues/1/labels{/name}',
  comments_url: 'https://api.github.com/repos/octocat/Hello-World/issues/1/comments',
  events_url: 'https://api.github.com/repos/octocat/Hello-World/issues/1/events',
  assignee: null,
  assignees: [],
  milestone: null,
  locked: false,
  author_association: 'NONE',
}

function showComment({ example, origin }: Asked, { id, author, body, createdAt }: Comment): JsonValue {
  const shown = example(200) ?? example(201)
  const first = (Array.isArray(shown) ? shown[0] : shown) as Fields
  return {
    ...first,
    id,
    body,
    user: { ...USER, login: author, url: `${origin}/${author}` },
    created_at: createdAt,
    updated_at: createdAt,
  }
}

function showLabel({ origin }: Asked, name: string): Fields {
  const id = Number.parseInt(shaOfBlob(Buffer.from(name)).slice(0, 8), 16)
  return {
    id,
    node_id: `L${id}`,
    url: `${origin}/labels/${name}`,
    name,
    description: null,
    color: 'f29513',
    default: false,
  }
}

function showRef({ example }: Asked, ref: string, sha: string): JsonValue {
  const { object, ...rest } = example() as { readonly object: Fields }
  return { ...rest, ref: `refs/${ref}`, object: { ...object, sha } }
}

function showPull(asked: Asked, issue: Issue): JsonValue {
  const shown = asked.example()
  const first = (Array.isArray(shown) ? shown[0] : shown) as { readonly head: Fields; readonly base: Fields } & Fields // matches its schema
  const { pull } = issue
  return {
    ...first,
    number: issue.number,
    title: issue.title,
    body: issue.body === '' ? null : issue.body,
    state: issue.state,
    draft: pull?.isDraft ?? false,
    user: showUser(asked, issue.author),
    html_url: `https://github.com/${asked.values['owner']}/${asked.values['repo']}/pull/${issue.number}`,
    head: { ...first.head, ref: pull?.head ?? '' },
    base: { ...first.base, ref: pull?.base ?? '' },
    requested_teams: [],
    requested_reviewers: (pull?.reviewers ?? []).map((login) => showUser(asked, login)),
    created_at: issue.createdAt,
    updated_at: issue.createdAt,
  }
}

const USER: Fields = {
  id: 1,
  node_id: 'MDQ6VXNlcjE=',
  avatar_url: 'https://github.com/images/error/octocat_happy.gif',
  gravatar_id: '',
  html_url: 'https://github.com/octocat',
  ...Object.fromEntries(
    [
      'followers',
      'following',
      'gists',
      'starred',
      'subscriptions',
      'organizations',
      'repos',
      'events',
      'received_events',
    ].map((name) => [`${name}_url`, `https://api.github.com/users/octocat/${name}`]),
  ),
  type: 'User',
  site_admin: false,
}

function showUser({ origin }: Asked, login: string): Fields {
  return { ...USER, login, url: `${origin}/users/${login}` }
}
