// Repairs arguments that are nearly right, in the one place that all adapters' calls pass. It only sees complete
// arguments, and a validator has the last word on the repair.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject, parseJson, repairJson, withoutTextValues } from '@baton/core/internal'
import type { CallCheck } from '@baton/core/machine'
import type { CheckedCall } from './call-check.ts'
import { checkCall } from './call-check.ts'
import type { WorkContext } from './work.ts'

export interface RepairedCall {
  /** JSON text. */
  readonly arguments: string
  readonly check: CallCheck
}

/**
 * Repairs the arguments of a refused call if they can mean only one thing: JSON with small mistakes, JSON in a string,
 * and lists and objects in strings where the tool's schema wants the value itself. Undefined leaves them unchanged.
 * Never rejects.
 */
export async function repairCall(context: WorkContext, call: CheckedCall): Promise<RepairedCall | undefined> {
  const read = readArguments(call.arguments)
  if (!read) return undefined
  const { text, repairs } = read
  const meant = readTexts(context, call, read.value)
  if (meant !== undefined) {
    const check = await checkCall(context, { ...call, arguments: meant })
    const told = [...new Set([...repairs, 'json-text'])]
    if (check.invalid === undefined) return { arguments: meant, check: { ...check, repairs: told } }
  }
  if (repairs.length === 0) return undefined
  // A validator's message about JSON that does not fit helps the model more than "this is not JSON".
  const check = await checkCall(context, { ...call, arguments: text })
  return { arguments: text, check: { ...check, repairs } }
}

interface ReadArguments {
  readonly text: string
  readonly value: JsonObject
  readonly repairs: readonly string[]
}

/** Returns undefined if the text is not an object or was cut off. */
function readArguments(given: string): ReadArguments | undefined {
  const parsed = parseJson(given)
  if (!parsed.ok && (parsed.cutOff || parsed.tooDeep)) return undefined
  const outer = repairJson(given)
  if (!outer) return undefined
  if (isJsonObject(outer.value)) return { text: outer.text, value: outer.value, repairs: outer.repairs }
  // Once more as a string, which is how some providers send it.
  const inner = typeof outer.value === 'string' ? repairJson(outer.value) : undefined
  if (!inner || !isJsonObject(inner.value)) return undefined
  return { text: inner.text, value: inner.value, repairs: [...outer.repairs, ...inner.repairs, 'json-text'] }
}

/** JSON text of the arguments; undefined if no string in them reads as what the schema wants. */
function readTexts(context: WorkContext, { name, clientTools }: CheckedCall, value: JsonValue): string | undefined {
  try {
    const tool = context.tools.find((candidate) => candidate.name === name)
    const brought = tool ? undefined : clientTools.find((candidate) => candidate.name === name)
    // A client's tool was decoded: the root of its schema is an object.
    const schema = (tool?.inputSchema ?? brought?.inputSchema) as JsonObject | undefined
    const meant = schema && JSON.stringify(withoutTextValues(schema, value))
    return meant === JSON.stringify(value) ? undefined : meant
  } catch {
    // A foreign schema may throw; the tool's check has reported that.
    return undefined
  }
}
