// Shared by GitHub's tools: the token of a call, the current issue, and parsing of names and texts.
import type { ErrorCode, Tool, ToolContext } from '@baton/core/internal'
import { BatonError, checkFields, checkKinds } from '@baton/core/internal'
import * as z from 'zod'
import type { ServiceOptions } from '../shared/service-client.ts'
import { SERVICE_ERRORS, ServiceClient } from '../shared/service-client.ts'
import { checkServiceKey } from '../shared/service-key.ts'
import type { Asking } from './github-api.ts'
import { GithubApi } from './github-api.ts'

/** An issue of GitHub. */
export interface IssueReference {
  readonly owner: string
  readonly repo: string
  readonly issueNumber: number
}

/** Options of the GitHub kit: `{ token }`, or a function that returns the token of each principal. */
export interface GithubOptions<Services = unknown> extends ServiceOptions {
  /** A token, or a function that returns the token of the call's principal. */
  readonly token: string | ((context: ToolContext<Services>) => string | undefined | Promise<string | undefined>)
  /** The issue that the session is about, for `CreateImplementationPlan`. */
  readonly currentIssue?: (
    context: ToolContext<Services>,
  ) => IssueReference | undefined | Promise<IssueReference | undefined>
  /** Set to `false` to write without asking the user. Defaults to `true`. */
  readonly approval?: boolean
  /** Defaults to `https://api.github.com`; for GitHub Enterprise Server, `https://HOST/api/v3`. */
  readonly server?: string
}

const WHAT = 'githubTools'
const FIELDS = new Set(['token', 'currentIssue', 'approval', 'server', 'timeoutMs', 'maxBytes', 'fetch', 'clock'])
/** Maximum requests per call. */
const REQUESTS = 3

export interface GithubKit {
  readonly api: GithubApi
  readonly currentIssue: (context: ToolContext) => Promise<IssueReference>
  /** @throws BatonError `api_unauthorized` if the principal has no token */
  start(context: ToolContext): Promise<Asking>
  /** Settings of every read tool. */
  readonly reads: Pick<Tool, 'effect' | 'trust' | 'network' | 'timeoutMs' | 'errors'>
  /** Settings of every write tool, which must not be repeated. */
  readonly writes: Pick<Tool, 'effect' | 'trust' | 'network' | 'timeoutMs' | 'errors'> & { readonly approval: boolean }
}

export const GITHUB_ERRORS: readonly ErrorCode[] = [...SERVICE_ERRORS, 'invalid_option']

/** @throws BatonError `invalid_option` */
export function openGithubKit<Services>(options: GithubOptions<Services>): GithubKit {
  checkFields(options, { what: WHAT, code: 'invalid_option', fields: FIELDS })
  const kinds = { approval: 'true or false', fetch: 'a function', currentIssue: 'a function' } as const
  checkKinds(options, { what: WHAT, code: 'invalid_option', kinds })
  const { token, currentIssue, approval = true, server = 'https://api.github.com', ...rest } = options
  checkServiceKey(token, `${WHAT}: token`, 'token')
  const service = new ServiceClient({ ...rest, name: 'GitHub', server, option: `${WHAT}: server` })
  const common = {
    trust: 'untrusted', // anyone may write an issue
    network: true,
    timeoutMs: service.timeoutMs * REQUESTS + 2_000,
    errors: GITHUB_ERRORS,
  } as const
  return {
    api: new GithubApi(service),
    // as declared by the program that created the tools
    start: async (context) => ({
      token: await readToken(token, context as ToolContext<Services>),
      signal: context.signal,
    }),
    currentIssue: async (context) => {
      const issue = await currentIssue?.(context as ToolContext<Services>)
      if (issue) return issue
      const message = 'this session has no current issue: specify the issue'
      throw new BatonError({ code: 'context_missing', message, hint: 'Give githubTools({ currentIssue }).' })
    },
    reads: { ...common, effect: 'pure' },
    writes: { ...common, effect: 'once', approval },
  }
}

async function readToken<Services>(
  token: GithubOptions<Services>['token'],
  context: ToolContext<Services>,
): Promise<string> {
  const given = typeof token === 'function' ? await token(context) : token
  if (typeof given === 'string' && given !== '') return given
  throw new BatonError({
    code: 'api_unauthorized',
    message: `there is no GitHub token for ${context.principal.id}: connect their GitHub account first`,
  })
}

const NAME = /^(?!\.{1,2}$)[\w.-]{1,100}$/
const NAME_ISSUE = 'use letters, digits, ".", "_" and "-"'
export const repository = {
  owner: z.string().regex(NAME, NAME_ISSUE).describe('User or organization'),
  repo: z.string().regex(NAME, NAME_ISSUE).describe('Repository name'),
}
export const issueNumber = z.int().min(1).max(2_147_483_647).describe('The number after the #')
export const page = z
  .int()
  .min(1)
  .max(1000)
  .default(1)
  .describe('Page number from 1; the value of "nextPage" to continue')
export const nextPage = z.int().optional().describe('Page number to request next, if there is more')
export const branch = z
  .string()
  .min(1)
  .max(255)
  .regex(/^(?!\/)(?!.*(?:\.\.|\/\/|@\{|\/$|\.lock$))[^\x00-\x20\x7f~^:?*[\\]+$/, 'this is not a valid branch name') // oxlint-disable-line no-control-regex
export const longText = z.string().max(65_000)

export function nameRepository({ owner, repo }: { readonly owner: string; readonly repo: string }): string {
  return `${owner}/${repo}`
}

/** Maximum characters of a text that people wrote; the rest is omitted. */
const TEXT_CHARS = 20_000

export function cutText(text: string | null | undefined): { readonly text: string; readonly truncated?: true } {
  const whole = text ?? ''
  if (whole.length <= TEXT_CHARS) return { text: whole }
  return { text: whole.slice(0, TEXT_CHARS).toWellFormed(), truncated: true }
}

export const user = z.looseObject({ login: z.string() }).nullish()

export function nameUser(who: z.infer<typeof user>): string {
  return who?.login ?? 'ghost' // GitHub's name for deleted accounts
}
