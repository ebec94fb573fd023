// An approval policy against prompt injection: once a model has read untrusted text, a person approves each place that
// it writes or sends to. It knows what the model has read and where a call goes, not what the words mean.
import { BatonError } from '../errors.ts'
import { checkFields } from '../shape/known-fields.ts'
import type { ApprovalPolicy, PolicyCall, PolicyVerdict } from './policy.ts'

export interface TaintPolicyOptions {
  /**
   * Which calls could do harm. By default, calls of tools that are not pure, and calls of tools of kind `fetch` or of
   * an untrusted source with an argument that the model composed: an address, or a question to a third party, can carry
   * data away. For all other tools except those with `network: false`, a web address that the model composed counts.
   */
  readonly isRisky?: (call: PolicyCall) => boolean
  /**
   * Destinations that need no approval, matched against the `destination` of the call's description: a drafts folder,
   * the user's own address.
   */
  readonly allows?: (destination: string, call: PolicyCall) => boolean
  /** Names of tools whose results count as trusted. */
  readonly trusts?: readonly string[]
  /** False: descriptions of tools from untrusted sources count as trusted. True by default. */
  readonly descriptions?: boolean
  /** Decides about all other calls. Its denials also apply here. */
  readonly otherwise?: ApprovalPolicy
}

/**
 * Creates a policy that asks before a risky call once the model has read untrusted data. An approval covers later calls of the tool to
 * the same destination in the session. If `otherwise` or the tool's own `approval` asks about a call anyway, the approval covers later
 * ones only if the person says so. For a tool that names no destination, it asks each time.
 * @throws BatonError `invalid_agent` for an unknown option
 */
export function createTaintPolicy(init: TaintPolicyOptions = {}): ApprovalPolicy {
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

const FIELDS: ReadonlySet<string> = new Set<keyof TaintPolicyOptions>([
  'isRisky',
  'allows',
  'trusts',
  'descriptions',
  'otherwise',
])

function isRiskyByDefault({ tool, input, composed }: PolicyCall): boolean {
  // The calls of the other agent are judged one by one.
  if (tool.runs === 'child') return false
  if (tool.effect !== 'pure') return true
  if (tool.kind === 'fetch' || (tool.source !== undefined && tool.trust === 'untrusted')) return composed().length > 0
  return tool.network !== false && composed().some((path) => holdsAddress(path, input))
}

const ADDRESS = /\bhttps?:/i

/** Names count too, as does everything below a path. */
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
  if (read.length > 0)
    return `The model has read text from outside, which may contain instructions for it: ${list(read)}`
  return `The model was offered tools described by third parties, and a description may contain instructions for it: ${list(described)}`
}
