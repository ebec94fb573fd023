// What is found out about a call before the machine sees it: are its arguments valid, does a policy allow it, must a person
// approve it, what is a person shown of it? All that asks code of others, which may throw or hang; such a call does not
// run, and the model is told why.
import type { Agent, JsonObject, PolicyVerdict, Timers, Tool } from '@baton/core'
import { BatonError } from '@baton/core'
import type { CallCheck, ClientToolSpec } from '@baton/core/machine'
import { within } from '../deadline.ts'
import { describeThrown } from '../describe-thrown.ts'
import type { Validated } from './arguments.ts'
import { describeCall } from './call-description.ts'
import type { SharedWork, WorkContext } from './work.ts'

export interface CheckedCall {
  readonly session: string
  readonly principal: string
  readonly name: string
  /** JSON text. */
  readonly arguments: string
  /** Tools that clients brought. */
  readonly clientTools: readonly ClientToolSpec[]
  /** Tools whose untrusted results the model has read. */
  readonly untrusted: readonly string[]
  /** Names of the tools that the step offered, where `prepareStep` chose them. */
  readonly inForce?: ReadonlySet<string>
}

/** Milliseconds that a schema and an approval function may take together. */
const CHECK_MS = 10_000

/** Never rejects. Answers at once where only plain JSON Schema is asked. */
export function checkCall(shared: SharedWork, call: CheckedCall): CallCheck | Promise<CallCheck> {
  const { context, validated } = shared
  const argumentsHash = context.digest(call.arguments)
  if (call.inForce && !call.inForce.has(call.name))
    return { argumentsHash, denied: `the tool "${call.name}" is not offered in this step` }
  const tool = context.tools().find((candidate) => candidate.name === call.name)
  const brought = tool ? undefined : call.clientTools.find(({ name }) => name === call.name)
  // What a client brought was decoded: the root of its schema is an object.
  const input = tool?.input ?? (brought?.inputSchema as JsonObject | undefined)
  if (!input) return { argumentsHash }
  const judge = (checked: Validated): CallCheck | Promise<CallCheck> => {
    if (!checked.ok) return { argumentsHash, invalid: checked.issues }
    if (tool?.execute) validated.keep(call.name, call.arguments, checked.value)
    const about = tool && describeCall(tool, checked.value, context.log)
    // Plain data by its bounds.
    const found: CallCheck = { argumentsHash, ...(about && { about: about as unknown as JsonObject }) }
    return askPolicy(context, { call, found, tool, brought }, checked.value)
  }
  try {
    const checked = context.validator.validate({ input }, call.arguments)
    const check = isPromise(checked) ? checked.then(judge) : judge(checked)
    if (!isPromise(check)) return check
    return limit(context.timers, check).catch((cause: unknown) => failCheck(context, call, argumentsHash, cause))
  } catch (cause) {
    return failCheck(context, call, argumentsHash, cause)
  }
}

interface Judged {
  readonly call: CheckedCall
  readonly found: CallCheck
  readonly tool: Tool | undefined
  readonly brought: ClientToolSpec | undefined
}

/** The agent's policy first, then the tool's own word. */
function askPolicy(context: WorkContext, judged: Judged, value: unknown): CallCheck | Promise<CallCheck> {
  const { found, tool } = judged
  const decide = (verdict: PolicyVerdict | undefined): CallCheck | Promise<CallCheck> => {
    if (verdict === 'allow') return found
    if (verdict === 'ask') return { ...found, asks: true }
    if (verdict === 'deny') return { ...found, denied: `a policy denies calls of "${judged.call.name}"` }
    if (verdict !== undefined) return { ...found, denied: verdict.deny }
    const asks = typeof tool?.approval === 'function' ? tool.approval(value) : (tool?.approval ?? false)
    return isPromise(asks) ? asks.then((one) => addAsking(found, one)) : addAsking(found, asks)
  }
  const { approvalPolicy } = context.agent
  if (!approvalPolicy) return decide(undefined)
  const verdict = approvalPolicy(describeForPolicy(judged, value))
  return isPromise(verdict) ? verdict.then(decide) : decide(verdict)
}

function addAsking(found: CallCheck, asks: boolean): CallCheck {
  return asks ? { ...found, asks: true } : found
}

type PolicyCall = Parameters<NonNullable<Agent['approvalPolicy']>>[0]

function describeForPolicy({ call, tool, brought }: Judged, input: unknown): PolicyCall {
  const { session, principal, name, untrusted } = call
  const effect = tool?.effect ?? brought?.effect ?? 'once'
  return {
    session,
    principal: { id: principal },
    tool: {
      name,
      effect,
      runs: tool?.execute ? 'server' : 'client',
      // What a client brings comes from outside.
      trust: tool ? (tool.trust ?? 'trusted') : 'untrusted',
      ...(tool?.kind && { kind: tool.kind }),
      ...(tool?.source !== undefined && { source: tool.source }),
    },
    input,
    untrusted,
  }
}

function failCheck(context: WorkContext, call: CheckedCall, argumentsHash: string, cause: unknown): CallCheck {
  const why = describeThrown(cause)
  context.log.warn('a call could not be checked', { session: call.session, tool: call.name, cause: why })
  return { argumentsHash, invalid: `the call was not run, because it could not be checked: ${why}` }
}

function limit(timers: Timers, check: Promise<CallCheck>): Promise<CallCheck> {
  const message = `its schema or its approval took longer than ${CHECK_MS} ms`
  return within(timers, { timeoutMs: CHECK_MS, error: () => new BatonError({ code: 'internal', message }) }, check)
}

function isPromise<Value>(value: Value | Promise<Value>): value is Promise<Value> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function'
}
