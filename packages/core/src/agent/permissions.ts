// Permissions limit an agent regardless of approvals: its tools, and whether anything leaves this machine. The
// runtime's catalog enforces them for tools, sources and models; this file reads and checks them.
import { BatonError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { isJsonObject } from '../json.ts'
import { checkFields } from '../shape/known-fields.ts'
import { describeValue } from '../shape/value-reader.ts'

/** Hard limits of an agent. Several combine: each can only remove something. */
export interface Permissions {
  /**
   * Tools that the agent has, by name patterns: `fs.*`, `GetIssueDetails`. `*` matches any characters, including none.
   * All by default. A source's tool counts under the name it has in the agent, and a provider's
   * (`settings.serverTools`) under the provider's, such as `web_search`.
   */
  readonly allow?: readonly string[]
  /** Tools that the agent does not have; wins over `allow`. None by default. */
  readonly deny?: readonly string[]
  /**
   * False: nothing leaves this machine. The agent has only those host-run tools and tool sources that declare `network:
   * false`, and only models that run on this machine. True by default.
   */
  readonly network?: boolean
  /** False: only models that run on this machine, in the process or at a loopback address. True by default. */
  readonly externalModels?: boolean
}

const FIELDS = new Set(['allow', 'deny', 'network', 'externalModels'])
const PATTERNS_MAX = 1000
const PATTERN_CHARS = 256

/**
 * @param what begins error messages, such as `agent "shop": permissions`
 * @throws BatonError `invalid_option`
 */
export function checkPermissions(what: string, permissions: Permissions): Permissions {
  checkFields(permissions, { what, code: 'invalid_option', fields: FIELDS })
  const { allow, deny, network, externalModels } = permissions
  for (const [field, patterns] of Object.entries({ allow, deny })) checkPatterns(`${what}.${field}`, patterns)
  for (const [field, value] of Object.entries({ network, externalModels }))
    // A text such as "false" must not count as true.
    if (value !== undefined && typeof value !== 'boolean')
      throw wrong(`${what}.${field} must be true or false, not ${describeValue(value)}`)
  return permissions
}

function checkPatterns(what: string, patterns: unknown): void {
  if (patterns === undefined) return
  if (!Array.isArray(patterns))
    throw wrong(`${what} must be a list of patterns such as ["fs.*"], not ${describeValue(patterns)}`)
  if (patterns.length > PATTERNS_MAX)
    throw wrong(`${what} may have ${PATTERNS_MAX} patterns at most, not ${patterns.length}`)
  const bad = patterns.find((one) => typeof one !== 'string' || one === '' || one.length > PATTERN_CHARS)
  if (bad !== undefined || patterns.includes(undefined))
    throw wrong(
      `${what} must hold names of tools, or patterns of 1 to ${PATTERN_CHARS} characters, not ${describeValue(bad)}`,
    )
}

function wrong(message: string): BatonError {
  return new BatonError({ code: 'invalid_option', message })
}

/** Why the agent may not have a tool of this name; undefined if it may. */
export function findToolRefusal(permissions: readonly Permissions[], name: string): string | undefined {
  return findRefusal(permissions, (pattern) => matchesPattern(pattern, name))
}

/**
 * Why the agent may not have a provider-run tool, as in `settings.serverTools`; undefined if it may. It counts under
 * the provider's name (`web_search`), where `_` and `.` are the same: a pattern that denies `web.search` denies both.
 * It uses the network at the provider, even if a model on this machine passes it on.
 */
export function findServerToolRefusal(permissions: readonly Permissions[], tool: JsonObject): string | undefined {
  if (!mayUseNetwork(permissions)) return 'it may use the network'
  const name = (nameServerTool(tool) ?? '').replaceAll('.', '_')
  return findRefusal(permissions, (pattern) => matchesPattern(pattern.replaceAll('.', '_'), name))
}

function findRefusal(permissions: readonly Permissions[], matches: (pattern: string) => boolean): string | undefined {
  for (const { allow, deny = [] } of permissions) {
    const denying = deny.find(matches)
    if (denying !== undefined) return `"${denying}" denies it`
    if (allow && !allow.some(matches)) return 'no pattern in allow matches it'
  }
  return undefined
}

export function mayUseNetwork(permissions: readonly Permissions[]): boolean {
  return permissions.every(({ network }) => network !== false)
}

export function mayUseExternalModels(permissions: readonly Permissions[]): boolean {
  return permissions.every(({ network, externalModels }) => network !== false && externalModels !== false)
}

/** Runs in time proportional to the product of both lengths at most, whatever the pattern. */
export function matchesPattern(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return pattern === name
  if (!name.startsWith(first) || name.length < first.length + last.length || !name.endsWith(last)) return false
  let at = first.length
  const end = name.length - last.length
  for (const piece of rest) {
    const found = name.indexOf(piece, at)
    if (found < 0 || found + piece.length > end) return false
    at = found + piece.length
  }
  return true
}

/** `web_search`, `googleSearch`, `nova_grounding`, the label of an MCP server: the name that a tool choice uses. */
export function nameServerTool(tool: JsonObject): string | undefined {
  const { name, systemTool, toolSpec, function: declared, type, server_label: label } = tool
  if (typeof name === 'string') return name
  const nested = [systemTool, toolSpec, declared].find(isJsonObject)
  if (nested) return nameServerTool({ name: nested['name'] ?? '' })
  if (type === 'mcp') return typeof label === 'string' ? label : undefined
  return typeof type === 'string' ? type : Object.keys(tool)[0]
}
