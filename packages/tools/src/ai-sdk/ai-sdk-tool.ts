// Reads the fields of an AI SDK tool, version 4 to 7, once, from a value of any shape.
import { BatonError, describeValue } from '@baton/core/internal'

/** A tool of any version; one with `parameters` is version 4. */
export interface AiSdkTool {
  readonly type?: unknown
  readonly description?: unknown
  readonly title?: unknown
  readonly parameters?: unknown
  readonly inputSchema?: unknown
  readonly outputSchema?: unknown
  readonly contextSchema?: unknown
  readonly needsApproval?: unknown
  readonly execute?: unknown
  readonly onInputAvailable?: unknown
  readonly toModelOutput?: unknown
  readonly experimental_toToolResultContent?: unknown
}

/** A tool that was read. Its functions are called as methods of the original tool. */
export interface ReadTool {
  readonly name: string
  readonly given: AiSdkTool
  readonly description: string
  readonly title?: string
  readonly input: unknown
  readonly needsApproval: boolean | ((input: unknown, about: object) => unknown)
  readonly execute?: (input: unknown, about: object) => unknown
}

/** @throws BatonError `invalid_tool` */
export function readAiSdkTool(name: string, given: unknown): ReadTool {
  if (typeof given !== 'object' || given === null)
    throw wrong(name, `it must be a tool of the AI SDK, not ${describeValue(given)}`)
  const { type, description, title, parameters, inputSchema, needsApproval, execute }: AiSdkTool = given
  if (type === 'provider' || type === 'provider-defined') throw providerTool(name, given)
  if (type !== undefined && type !== 'function' && type !== 'dynamic')
    throw wrong(name, `its type must be "function" or "dynamic", not ${describeValue(type)}`)
  if (typeof description === 'function')
    throw wrong(
      name,
      "its description is a function of the call's context, but Baton shows everyone the same description",
      `Use a fixed one: { ...tools.${name}, description: '…' }.`,
    )
  if (execute !== undefined && typeof execute !== 'function')
    throw wrong(name, `execute must be a function, not ${describeValue(execute)}`)
  return {
    name,
    given,
    description: typeof description === 'string' ? description : '',
    ...(typeof title === 'string' && { title: title.slice(0, 200) }),
    input: inputSchema ?? parameters,
    needsApproval:
      typeof needsApproval === 'function'
        ? (input, about) => call(needsApproval, given, [input, about])
        : Boolean(needsApproval),
    ...(execute && { execute: (input: unknown, about: object) => call(execute, given, [input, about]) }),
  }
}

/** Calls one of its functions as a method, if it exists. */
export function callOptional(given: AiSdkTool, name: keyof AiSdkTool, parameters: readonly unknown[]): unknown {
  const method = given[name]
  return typeof method === 'function' ? call(method, given, parameters) : undefined
}

// oxlint-disable-next-line typescript/no-unsafe-function-type -- any function of the program
function call(method: Function, given: object, parameters: readonly unknown[]): unknown {
  return Reflect.apply(method, given, [...parameters]) as unknown
}

function providerTool(name: string, given: object): BatonError {
  const id: unknown = Reflect.get(given, 'id')
  return wrong(
    name,
    `it is a tool that only one model provider can run${typeof id === 'string' ? ` (${id})` : ''}`,
    'Remove it. If it has an execute, pass that to tool({ name, description, input, execute }) with your own description.',
  )
}

function wrong(name: string, why: string, hint?: string): BatonError {
  return new BatonError({
    code: 'invalid_tool',
    message: `fromAiSdk: "${name}": ${why}`,
    ...(hint !== undefined && { hint }),
  })
}
