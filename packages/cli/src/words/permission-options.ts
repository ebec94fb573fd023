// Options that restrict an agent: `--allow`, `--deny`, `--no-network`, `--no-external-models`. They add to the agent's
// own restrictions, and never widen its permissions.
import type { Agent, Permissions, Tool } from '@baton/core/internal'
import {
  checkPermissions,
  findServerToolRefusal,
  mayUseExternalModels,
  mayUseNetwork,
  nameServerTool,
} from '@baton/core/internal'
import { findPermissionRefusal } from '@baton/runtime'
import { UsageError } from './usage-error.ts'

export const PERMISSION_HELP = `  --allow PATTERN, --deny PATTERN
                 which tools the agent may use, such as "fs.*"; --deny wins; repeatable
  --no-network   keep everything on this machine: only tools that declare they need no network, sandboxed MCP programs,
                 and local models
  --no-external-models
                 use only models on this machine, whatever keys are set`

/** Options for `readWords`. */
export const PERMISSION_WORDS = {
  allow: { type: 'string', multiple: true },
  deny: { type: 'string', multiple: true },
  'no-network': { type: 'boolean' },
  'no-external-models': { type: 'boolean' },
} as const

export interface PermissionValues {
  readonly allow?: readonly string[] | undefined
  readonly deny?: readonly string[] | undefined
  readonly 'no-network'?: boolean | undefined
  readonly 'no-external-models'?: boolean | undefined
}

/** Returns `undefined` if there are no restrictions. @throws UsageError */
export function readPermissions(values: PermissionValues): Permissions | undefined {
  const { allow, deny } = values
  for (const [option, patterns] of Object.entries({ allow, deny }))
    if (patterns?.some((pattern) => pattern.trim() === '')) throw new UsageError(`--${option} must not be empty`)
  const permissions: Permissions = {
    ...(allow && { allow }),
    ...(deny && { deny }),
    ...(values['no-network'] && { network: false }),
    ...(values['no-external-models'] && { externalModels: false }),
  }
  return Object.keys(permissions).length === 0 ? undefined : checkPermissions('the options', permissions)
}

export interface Restricted {
  /** The agent with these permissions added to its own, without the tools they forbid. */
  readonly agent: Agent
  /** In one line; `undefined` for an unrestricted agent. */
  readonly permissions: string | undefined
}

export function restrict(given: Agent, added: Permissions | undefined): Restricted {
  const permissions = [...(given.permissions ?? []), ...(added ? [added] : [])]
  if (permissions.length === 0) return { agent: given, permissions: undefined }
  const isLeftOut = (tool: Tool): boolean => findPermissionRefusal(permissions, tool) !== undefined
  const tools = given.tools.filter((tool) => !isLeftOut(tool))
  const ofProviders = Object.values(given.settings.serverTools ?? {})
    .flat()
    .filter((tool) => findServerToolRefusal(permissions, tool) !== undefined)
  const leftOut = [
    ...given.tools.filter(isLeftOut).map(({ name }) => name),
    ...new Set(ofProviders.map((tool) => `${nameServerTool(tool) ?? 'a tool'} of the provider`)),
  ]
  const gone = leftOut.length === 0 ? '' : `; left out: ${leftOut.join(', ')}`
  return { agent: { ...given, tools, permissions }, permissions: `${describe(permissions)}${gone}` }
}

/** Such as `tools fs.*; not fs.write; no network`. */
function describe(permissions: readonly Permissions[]): string {
  const allowed = permissions.flatMap(({ allow }) =>
    allow ? [`tools ${allow.length === 0 ? 'none' : allow.join(', ')}`] : [],
  )
  const denied = permissions.flatMap(({ deny }) => (deny && deny.length > 0 ? [`not ${deny.join(', ')}`] : []))
  const network = mayUseNetwork(permissions) ? [] : ['no network']
  const models = mayUseExternalModels(permissions) ? [] : ['only models on this machine']
  const all = [...allowed, ...denied, ...network, ...models]
  return all.length === 0 ? 'all' : all.join('; ')
}

/** A line for a server's startup output, or nothing. */
export function permissionLine({ permissions }: Pick<Restricted, 'permissions'>): string {
  return permissions === undefined ? '' : `\n  may    ${permissions}`
}
