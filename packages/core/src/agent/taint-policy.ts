// An approval policy against orders in data: once a model has read a stranger's text, a person approves each place that it writes or
// sends to. It knows what the model has read and where a call goes, not what the words mean.
import { BatonError } from '../errors.ts'
import { checkFields } from './known-fields.ts'
import type { ApprovalPolicy, PolicyCall, PolicyVerdict } from './policy.ts'

export interface TaintPolicyInit {
  /**
   * Which calls could do harm. By default those of tools that are not pure, and those of tools of kind `fetch`, or of an untrusted source,
   * with an argument that the model composed itself: an address, or a question to a stranger, can carry data away. Of all other tools, but
   * those with `network: false`, an address of the web counts that the model composed.
   */
  readonly isRisky?: (call: PolicyCall) => boolean
  /** Destinations that need no approval, compared with the `destination` of the call's description: a folder of drafts, the user's own address. */
  readonly allows?: (destination: string, call: PolicyCall) => boolean
  /** Names of tools whose results count as trusted after all. */
  readonly trusts?: readonly string[]
  /** False: descriptions of tools from untrusted sources count as trusted. True by default. */
  readonly descriptions?: boolean
  /** Decides about all other calls. What it denies is denied here too. */
  readonly otherwise?: ApprovalPolicy
}

/**
 * Asks before a risky call once the model has read untrusted data. An approval covers later calls of the tool to the same destination in
 * the session. If `otherwise` or the tool's own `approval` asks about a call anyway, the approval covers later ones only if the person says
 * so. For a tool that names no destination, it asks each time.
 * @throws BatonError `invalid_agent` for an unknown option
 */
export function createTaintPolicy(init: TaintPolicyInit = {}): ApprovalPolicy {
  checkFields(init, { what: 'a taint policy', code: 'invalid_agent', fields: FIELDS })
  for (const field of ['isRisky', 'allows', 'otherwise'] as const)
    if (init[field] !== undefined && typeof init[field] !== 'function')
      throw new BatonError({ code: 'invalid_agent', message: `a taint policy: ${field} must be a function` })
  const { isRisky = isRiskyByDefault, allows, trusts = [], descriptions = true, otherwise } = init
  return async (call): Promise<PolicyVerdict | undefined> => {
    const verdict = await otherwise?.(call)
    if (verdict === 'deny' || (typeof verdict === 'object' && 'deny' in verdict)) return verdict
    const read = call.untrusted.filter((name) => !trusts.includes(name))
    const described = descriptions ? call.described.filter((name) => !trusts.includes(name)) : []
    if ((read.length === 0 && described.length === 0) || !isRisky(call)) return verdict
    const { destination } = call
    if (destination !== undefined && allows?.(destination, call)) return verdict
    const ask = explain(read, described)
    // A call that needs an approval anyway must not need fewer.
    const each = verdict === undefined ? {} : { each: verdict !== 'allow' }
    return { ask, ...(destination !== undefined && { destination, ...each }) }
  }
}

const FIELDS: ReadonlySet<string> = new Set<keyof TaintPolicyInit>([
  'isRisky',
  'allows',
  'trusts',
  'descriptions',
  'otherwise',
])

function isRiskyByDefault({ tool, input, composed }: PolicyCall): boolean {
  if (tool.effect !== 'pure') return true
  if (tool.kind === 'fetch' || (tool.source !== undefined && tool.trust === 'untrusted')) return composed().length > 0
  return tool.network !== false && composed().some((path) => holdsAddress(path, input))
}

const ADDRESS = /\bhttps?:/i

/** Names count too, and what stands below a place. */
function holdsAddress(path: string, input: unknown): boolean {
  const names = path.split('/').slice(1)
  const value = names.reduce<unknown>((inner, name) => {
    const plain = name.replaceAll('~1', '/').replaceAll('~0', '~')
    return typeof inner === 'object' && inner !== null ? Reflect.get(inner, plain) : undefined
  }, input)
  return ADDRESS.test(path) || ADDRESS.test(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
}

const NAMED = 5

function explain(read: readonly string[], described: readonly string[]): string {
  const list = (names: readonly string[]): string =>
    names.length > NAMED ? `${names.slice(0, NAMED).join(', ')} and ${names.length - NAMED} more` : names.join(', ')
  if (read.length > 0) return `The model has read text from outside, which may give it orders: ${list(read)}`
  return `The model was offered tools that others describe, and a description may give it orders: ${list(described)}`
}
