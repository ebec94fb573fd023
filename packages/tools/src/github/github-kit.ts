// Shared parts of GitHub's tools: the token that a call uses, which issue is the current one, and how names and texts are read.
import type { ErrorCode, Tool, ToolContext } from '@baton/core'
import { BatonError, checkFields, checkKinds } from '@baton/core'
import * as z from 'zod'
import type { ServiceOptions } from '../shared/service-client.ts'
import { SERVICE_ERRORS, ServiceClient } from '../shared/service-client.ts'
import { checkServiceKey } from '../shared/service-key.ts'
import type { Asking } from './github-api.ts'
import { GithubApi } from './github-api.ts'

export interface IssueReference {
  readonly owner: string
  readonly repo: string
  readonly issueNumber: number
}

export interface GithubOptions<Services = unknown> extends ServiceOptions {
  /** A token, or a function that gives the token of the call's principal. */
  readonly token: string | ((context: ToolContext<Services>) => string | undefined | Promise<string | undefined>)
  /** The issue that the session is about, for `CreateImplementationPlan`. */
  readonly currentIssue?: (
    context: ToolContext<Services>,
  ) => IssueReference | undefined | Promise<IssueReference | undefined>
  /** False: no person is asked before something is written. True by default. */
  readonly approval?: boolean
  /** `https://api.github.com` by default; of GitHub Enterprise Server `https://HOST/api/v3`. */
  readonly server?: string
}

const WHAT = 'githubTools'
const FIELDS = new Set(['token', 'currentIssue', 'approval', 'server', 'timeoutMs', 'maxBytes', 'fetch', 'clock'])
/** Requests of one call, at most. */
const REQUESTS = 3

export interface GithubKit {
  readonly api: GithubApi
  readonly currentIssue: (context: ToolContext) => Promise<IssueReference>
  /** @throws BatonError `api_unauthorized` for a principal without a token */
  start(context: ToolContext): Promise<Asking>
  /** Fields of each tool. */
  readonly reads: Pick<Tool, 'effect' | 'trust' | 'network' | 'timeoutMs' | 'errors'>
  /** Options of each tool that writes, and may not be repeated. */
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
    trust: 'untrusted', // anybody may write an issue
    network: true,
    timeoutMs: service.timeoutMs * REQUESTS + 2_000,
    errors: GITHUB_ERRORS,
  } as const
  return {
    api: new GithubApi(service),
    // as the program that made the tools says
    start: async (context) => ({
      token: await readToken(token, context as ToolContext<Services>),
      signal: context.signal,
    }),
    currentIssue: async (context) => {
      const issue = await currentIssue?.(context as ToolContext<Services>)
      if (issue) return issue
      const message = 'this session has no current issue: say which issue is meant'
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
    message: `there is no GitHub token for ${context.principal.id}: their GitHub account must be connected first`,
  })
}

const NAME = /^(?!\.{1,2}$)[\w.-]{1,100}$/
const NAME_ISSUE = 'write letters, digits, ".", "_" and "-"'
export const repository = {
  owner: z.string().regex(NAME, NAME_ISSUE).describe('User or organisation'),
  repo: z.string().regex(NAME, NAME_ISSUE).describe('Name of the repository'),
}
export const issueNumber = z.int().min(1).max(2_147_483_647).describe('The number after the #')
export const page = z.int().min(1).max(1000).default(1).describe('From 1; the value of "nextPage" to read on')
export const nextPage = z.int().optional().describe('There is more: ask for this page')
export const branch = z
  .string()
  .min(1)
  .max(255)
  .regex(/^(?!\/)(?!.*(?:\.\.|\/\/|@\{|\/$|\.lock$))[^\x00-\x20\x7f~^:?*[\\]+$/, 'this is not the name of a branch') // oxlint-disable-line no-control-regex
export const longText = z.string().max(65_000)

export function nameRepository({ owner, repo }: { readonly owner: string; readonly repo: string }): string {
  return `${owner}/${repo}`
}

/** Characters of a text that somebody wrote; the rest is left out. */
const TEXT_CHARS = 20_000

export function cutText(text: string | null | undefined): { readonly text: string; readonly truncated?: true } {
  const whole = text ?? ''
  if (whole.length <= TEXT_CHARS) return { text: whole }
  return { text: whole.slice(0, TEXT_CHARS).toWellFormed(), truncated: true }
}

export const user = z.looseObject({ login: z.string() }).nullish()

export function nameUser(who: z.infer<typeof user>): string {
  return who?.login ?? 'ghost' // GitHub's name for accounts that are gone
}
