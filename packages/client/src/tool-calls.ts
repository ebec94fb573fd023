// Runs the calls that the server sends. A repeated call is not run again: its result is sent once more.
import type { ToolCallPayload } from '@baton/protocol'
import { createBoundedMap } from './bounded-map.ts'

/** A tool of this client: it gets the parsed arguments and returns any JSON value, or text. */
export type ClientTool = (input: never, call: { readonly callId: string; readonly name: string }) => unknown

/** The relevant parts of an agent's type: the names of its tools and the types of their inputs. */
export interface TypedAgent {
  readonly tools: readonly TypedTool[]
}

interface TypedTool {
  readonly name: string
  readonly execute?: unknown
  readonly types?: { readonly input: unknown; readonly output?: unknown } | undefined
}

/** Handlers of an agent's client tools, by name and with their types; none if it has no client tools. */
export type ToolHandlers<A extends TypedAgent> = HandlersWith<
  A,
  { readonly callId: string; readonly name: string },
  string
>

/**
 * Each handler gets the input and this context, and returns what fits the tool's `output`, or `Content`. For a tool
 * without an `output` it may return anything.
 */
export type HandlersWith<A extends TypedAgent, Context, Content = never> = [ClientRun<A['tools'][number]>] extends [
  never,
]
  ? { readonly [name: string]: never }
  : {
      readonly [T in ClientRun<A['tools'][number]> as T['name']]?: (
        input: NonNullable<T['types']>['input'],
        call: Context,
      ) => Returned<NonNullable<T['types']>['output'], Content>
    }

type Returned<Output, Content> = unknown extends Output
  ? unknown
  : Unchanged<Output> | Content | Promise<Unchanged<Output> | Content>

/** Baton only reads a result, so read-only lists and objects are accepted. */
type Unchanged<T> = T extends object ? { readonly [Name in keyof T]: Unchanged<T[Name]> } : T

/** Tools without `execute`. */
type ClientRun<T extends TypedTool> = T extends { readonly execute: (...given: never) => unknown } ? never : T

export interface ToolResult {
  readonly callId: string
  readonly result: string | null
  readonly error: string | null
}

export interface ToolCalls {
  /** Never rejects: a failure is a result. */
  run(call: ToolCallPayload): Promise<ToolResult>
}

/** Number of calls whose results are kept, including running ones. */
const CALLS_MAX = 1000

export function createToolCalls(tools: Readonly<Record<string, ClientTool>>, otherTool?: ClientTool): ToolCalls {
  const results = createBoundedMap<string, Promise<ToolResult>>(CALLS_MAX)
  return {
    run: (call) => {
      const known = results.get(call.callId)
      if (known) return known
      const tool = Object.hasOwn(tools, call.name) ? tools[call.name] : otherTool
      const result = runOnce(tool, call)
      results.set(call.callId, result)
      return result
    },
  }
}

async function runOnce(tool: ClientTool | undefined, call: ToolCallPayload): Promise<ToolResult> {
  const { callId, name } = call
  try {
    if (!tool) return { callId, result: null, error: `this app has no tool "${name}"` }
    // The server has validated the arguments against the tool's schema; its author knows the resulting type.
    const value = await tool(JSON.parse(call.arguments) as never, { callId, name })
    return { callId, result: typeof value === 'string' ? value : (writeResult(value, name) ?? 'null'), error: null }
  } catch (thrown) {
    return { callId, result: null, error: describeThrown(thrown) }
  }
}

/** The JSON of a tool's result; undefined for undefined and functions. @throws TypeError for a value that JSON cannot hold */
export function writeResult(returned: unknown, tool: string): string | undefined {
  const text = JSON.stringify(returned) as string | undefined
  // JSON writes a Response, a Map or an Error as `{}`, which a model takes for the whole result.
  if (ArrayBuffer.isView(returned) || (text === '{}' && isInstance(returned as object)))
    throw new TypeError(
      `"${tool}" returned a value of ${(returned as object).constructor.name}, which JSON cannot write; return a plain object, or text`,
    )
  const { isError, content } = {
    ...(returned as { readonly isError?: unknown; readonly content?: unknown } | undefined),
  }
  // MCP reports a failure within the result; here it would be a success.
  if (isError === true && Array.isArray(content))
    throw new TypeError(`"${tool}" returned isError: true; throw an Error instead: ${JSON.stringify(content)}`)
  return text
}

/** False for plain objects of every realm, and for those without a prototype: they are empty themselves. */
function isInstance(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null
  return prototype !== null && Object.getPrototypeOf(prototype) !== null
}

/** Describes a thrown value in words. Never throws. */
export function describeThrown(thrown: unknown): string {
  try {
    const said: unknown = thrown instanceof Error ? thrown.message : thrown
    return typeof said === 'string' ? said : String(said)
  } catch {
    return 'the tool did not say why it failed'
  }
}
