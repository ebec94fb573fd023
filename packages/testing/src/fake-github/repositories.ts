// Contents of the fake GitHub: repositories with issues, files on branches, and pull requests.
import { createHash } from 'node:crypto'

export interface FakeIssue {
  readonly title: string
  readonly body?: string
  readonly author?: string
  readonly labels?: readonly string[]
}

export interface FakeRepository {
  readonly owner: string
  readonly name: string
  /** Visible only to tokens that name it. */
  readonly isPrivate?: boolean
  readonly labels?: readonly string[]
  /** Numbered from 1. */
  readonly issues?: readonly FakeIssue[]
  /** Contents by path, on the branch `main`. Bytes make a binary file. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>
}

export interface Comment {
  readonly id: number
  readonly author: string
  readonly body: string
  readonly createdAt: string
}

export interface Issue {
  readonly number: number
  readonly title: string
  readonly body: string
  readonly author: string
  state: 'open' | 'closed'
  labels: readonly string[]
  readonly comments: Comment[]
  readonly createdAt: string
  /** Set for a pull request. */
  readonly pull?: Pull
}

export interface Pull {
  readonly head: string
  readonly base: string
  readonly isDraft: boolean
  readonly reviews: { readonly id: number; readonly author: string; readonly body: string; readonly state: string }[]
  reviewers: readonly string[]
}

export interface Repository {
  readonly owner: string
  readonly name: string
  readonly isPrivate: boolean
  readonly labels: readonly string[]
  readonly issues: Map<number, Issue>
  readonly branches: Map<string, Map<string, Buffer>>
}

/** Time of the first issue; everything after it is one second later. */
const BEGIN_MS = Date.UTC(2026, 10, 1)

export function openRepository({
  owner,
  name,
  isPrivate = false,
  labels = ['bug'],
  issues = [],
  files = {},
}: FakeRepository): Repository {
  const repository: Repository = {
    owner,
    name,
    isPrivate,
    labels,
    issues: new Map(),
    branches: new Map([
      ['main', new Map(Object.entries(files).map(([path, content]) => [path, Buffer.from(content)]))],
    ]),
  }
  for (const { title, body = '', author = 'octocat', labels: own = [] } of issues)
    addIssue(repository, { title, body, author, labels: own })
  return repository
}

export function addIssue(
  { issues }: Repository,
  given: Pick<Issue, 'title' | 'body' | 'author' | 'labels'> & { readonly pull?: Pull },
): Issue {
  const number = issues.size + 1
  const issue: Issue = { ...given, number, state: 'open', comments: [], createdAt: timeOf(number) }
  issues.set(number, issue)
  return issue
}

export function timeOf(second: number): string {
  return `${new Date(BEGIN_MS + second * 1000).toISOString().slice(0, 19)}Z`
}

/** The hash that git computes for a blob. */
export function shaOfBlob(content: Uint8Array): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')
}

export function shaOfBranch(files: ReadonlyMap<string, Uint8Array>): string {
  const hash = createHash('sha1')
  for (const [path, content] of files) hash.update(path).update('\0').update(content).update('\0')
  return hash.digest('hex')
}
