// What is found out about a call before the machine sees it: are its arguments valid, must a person approve it? Both ask
// code of others, which may throw or hang; such a call does not run, and the model is told why.
import type { Timers, Tool } from '@baton/core'
import { BatonError } from '@baton/core'
import type { CallCheck, ClientToolSpec } from '@baton/core/machine'
import { within } from '../deadline.ts'
import { describeThrown } from '../describe-thrown.ts'
import type { Validated } from './arguments.ts'
import type { ValidatedArguments } from './validated-arguments.ts'
import type { WorkContext } from './work.ts'

export interface CheckedCall {
  readonly session: string
  readonly name: string
  readonly arguments: string
  /** Tools that clients brought. */
  readonly clientTools: readonly ClientToolSpec[]
}

/** Milliseconds that a schema and an approval function may take together. */
const CHECK_MS = 10_000

/** Never rejects. Answers at once where only plain JSON Schema is asked. */
export function checkCall(
  context: WorkContext,
  validated: ValidatedArguments,
  call: CheckedCall,
): CallCheck | Promise<CallCheck> {
  const argumentsHash = context.digest(call.arguments)
  const tool = context.tools().find((candidate) => candidate.name === call.name)
  const input = tool?.input ?? findClientSchema(call)
  if (!input) return { argumentsHash }
  const judge = (checked: Validated): CallCheck | Promise<CallCheck> => {
    if (!checked.ok) return { argumentsHash, invalid: checked.issues }
    if (tool?.execute) validated.keep(call.name, call.arguments, checked.value)
    return askPolicy(context, { call, tool, argumentsHash }, checked.value)
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

interface Asked {
  readonly call: CheckedCall
  readonly tool: Tool | undefined
  readonly argumentsHash: string
}

function askPolicy(
  context: WorkContext,
  { call, tool, argumentsHash }: Asked,
  value: unknown,
): CallCheck | Promise<CallCheck> {
  const decide = (asks: boolean): CallCheck => (asks ? { argumentsHash, asks: true } : { argumentsHash })
  const asks = typeof tool?.approval === 'function' ? tool.approval(value) : (tool?.approval ?? false)
  return isPromise(asks) ? asks.then(decide) : decide(asks)
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

function findClientSchema({ clientTools, name }: CheckedCall): Tool['inputSchema'] | undefined {
  // Checked when the client brought it: the root is an object.
  return clientTools.find((tool) => tool.name === name)?.inputSchema as Tool['inputSchema'] | undefined
}
