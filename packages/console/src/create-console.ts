// A page for operators, and the HTTP front that it uses, mounted together: sessions of all owners, for people with a role. It
// stores nothing.
import type { Logger, Principal } from '@baton/core'
import { BatonError } from '@baton/core'
import { checkFields, describeValue } from '@baton/core/internal'
import type { HandlerOptions, RequestSource } from '@baton/server/http'
import { createHandler } from '@baton/server/http'
import type { OperatorPower } from '@baton/server/internal'
import { demandHost, findPowersIssue } from '@baton/server/internal'
import { fileURLToPath } from 'node:url'
import type { StaticPage } from './static-page.ts'
import { readStaticPage } from './static-page.ts'

export type { OperatorPower }

/** Options of `createConsole`: `{ authenticate, roles: { support: ['see'], manager: ['see', 'decide'] } }`. */
export interface ConsoleOptions extends Pick<
  HandlerOptions,
  'authenticate' | 'origins' | 'hosts' | 'limits' | 'peers' | 'isDraining'
> {
  /** Powers by role, as `authenticate` returns roles. A principal without any of them gets 403. */
  readonly roles?: Readonly<Record<string, readonly OperatorPower[]>>
  /** Without `authenticate`: everyone who reaches the server has these powers, and only as `localhost`. */
  readonly loopbackOnly?: readonly OperatorPower[]
  /** The path at which it is mounted. Default: `/console`. */
  readonly basePath?: string
  readonly log?: Logger
}

const FIELDS = {
  what: 'createConsole',
  code: 'invalid_option',
  fields: new Set([
    'authenticate',
    'origins',
    'hosts',
    'limits',
    'peers',
    'isDraining',
    'roles',
    'loopbackOnly',
    'basePath',
    'log',
  ]),
  elsewhere: {
    auth: 'authenticate',
    powers: 'roles',
    operators: 'roles',
    path: 'basePath',
    readOnly: "with only the power 'see' it is read-only, such as roles: { support: ['see'] }",
  },
} as const

const ROLES_FORM = "Write roles: { support: ['see'], manager: ['see', 'decide'] }."

const PAGE = fileURLToPath(new URL('../dist/page', import.meta.url))
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']
/** Without `authenticate`. Not the name of clients that no front authenticates: it would own their sessions. */
const LOCAL: Principal = { id: 'console' }

/**
 * Creates the console: one function from a request to its response, for any server that takes those. The page is at
 * `{basePath}/`, and its front at `{basePath}/api`.
 * @throws BatonError `invalid_option` without `authenticate` and `loopbackOnly`, without a role, for a power that does not
 * exist, and as `createHandler`
 */
export function createConsole(
  host: Parameters<typeof createHandler>[0],
  options: ConsoleOptions,
): (request: Request, source?: RequestSource | object) => Promise<Response> {
  demandHost(host, 'createConsole(host, options)')
  const given: ConsoleOptions = { ...options } // programs without types may leave them out
  checkFields(given, FIELDS)
  const { authenticate, roles = {}, loopbackOnly, basePath = '/console', ...more } = given
  if (typeof basePath !== 'string' || !/^(?:\/[^/?#]+)*$/.test(basePath))
    throw createError(`basePath must be like "/console", without a slash at its end, not ${describeValue(basePath)}`)
  const operators = loopbackOnly ? letIn(loopbackOnly, authenticate) : findByRole(roles, authenticate)
  const handle = createHandler(host, {
    ...more,
    authenticate: authenticate ?? (() => LOCAL),
    ...(loopbackOnly && { hosts: LOOPBACK }),
    basePath: `${basePath}/api`,
    operators,
  })
  const page = readStaticPage(PAGE)
  return async (request, source) => {
    const { pathname } = new URL(request.url)
    if (isOfFront(pathname.slice(basePath.length))) return await handle(request, source)
    return answerPage(page, request, { pathname, basePath })
  }
}

/** Chats are for clients. */
function isOfFront(path: string): boolean {
  return path.startsWith('/api/') && !/^\/api\/chat(?:\/|$)/.test(path)
}

interface Place {
  readonly pathname: string
  readonly basePath: string
}

function answerPage(page: StaticPage, request: Request, { pathname, basePath }: Place): Response {
  // Relative addresses of the page need the slash.
  if (pathname === basePath) return new Response(null, { status: 308, headers: { location: `${basePath}/` } })
  const found = pathname.startsWith(`${basePath}/`) ? page(request, pathname.slice(basePath.length + 1)) : undefined
  return found ?? new Response('There is nothing at this address.\n', { status: 404 })
}

type FindPowers = (principal: Principal) => readonly OperatorPower[]
type Authenticate = ConsoleOptions['authenticate']

function letIn(powers: readonly OperatorPower[], authenticate: Authenticate): FindPowers {
  checkPowers('loopbackOnly', powers)
  if (authenticate) throw createError('loopbackOnly lets everyone in, so it does not go with authenticate')
  return () => powers
}

function findByRole(roles: Readonly<Record<string, readonly OperatorPower[]>>, authenticate: Authenticate): FindPowers {
  if (!authenticate)
    throw createError(
      'the console shows all conversations, so it needs authenticate',
      "Write authenticate: (request) => ({ id, roles }), or loopbackOnly: ['see'] for a server that only this machine reaches.",
    )
  if (typeof roles !== 'object' || Array.isArray(roles))
    throw createError(`roles must be an object with the powers of each role, not ${describeValue(roles)}`, ROLES_FORM)
  const known = Object.entries(roles)
  if (known.length === 0) throw createError('roles is empty, so nobody could see anything', ROLES_FORM)
  for (const [role, powers] of known) checkPowers(`roles.${role}`, powers)
  return ({ id, roles: given = [] }) => {
    const powers = new Set(known.flatMap(([role, has]) => (given.includes(role) ? has : [])))
    if (powers.size > 0) return [...powers]
    throw new BatonError({ code: 'unauthorized', message: `"${id}" has none of the roles of this console` })
  }
}

function checkPowers(where: string, given: unknown): void {
  const issue = findPowersIssue(given)
  if (issue !== undefined) throw createError(`${where} must be ${issue}`)
}

function createError(message: string, hint?: string): BatonError {
  return new BatonError({ code: 'invalid_option', message, ...(hint !== undefined && { hint }) })
}
