// The tools that an app runs: handlers of the agent's client tools, and the app's own tools.
import type { AbortSignalLike, ClientTool as BroughtClientTool, ContentPart, JsonValue } from '@baton/core/internal'
import type { CallOutcome } from '@baton/protocol'
import type { HandlersWith, TypedAgent } from '../tool-calls.ts'
import { describeThrown, writeResult } from '../tool-calls.ts'

export interface RunContext {
  readonly callId: string
  readonly name: string
  /** Aborts when the call has ended without this result: it was cancelled, timed out, or the client was closed. */
  readonly signal: AbortSignalLike
}

/** Gets the model's input and returns any JSON value, or `createContent(parts)`. The model reads its errors. */
export type ToolHandler = (input: never, context: RunContext) => unknown

/** Handlers of an agent's client tools, by name, with their types; an agent without client tools has none. */
export type SessionHandlers<A extends TypedAgent> = HandlersWith<A, RunContext, ToolContent>

/** A tool that the agent does not have: the app provides and runs it. */
export interface BroughtTool extends Omit<BroughtClientTool, 'name'> {
  readonly run: ToolHandler
}

const CONTENT = Symbol('content')

export interface ToolContent {
  readonly [CONTENT]: readonly ContentPart[]
}

/** A tool's result as parts: text, images and files. */
export function createContent(parts: readonly ContentPart[]): ToolContent {
  return { [CONTENT]: parts }
}

/** Never rejects: a failure is an outcome. */
export async function runTool(
  handler: ToolHandler | undefined,
  input: unknown,
  context: RunContext,
): Promise<CallOutcome> {
  try {
    if (!handler) return { error: `this app has no tool "${context.name}"` }
    // The server has validated it against the tool's schema; its author knows the resulting type.
    return readOutcome(await handler(input as never, context), context.name)
  } catch (thrown) {
    return { error: describeThrown(thrown) }
  }
}

/** Encodes a tool's result for the wire. @throws TypeError for a value that JSON cannot hold */
function readOutcome(returned: unknown, tool: string): CallOutcome {
  if (typeof returned === 'object' && returned !== null && CONTENT in returned)
    return { content: (returned as ToolContent)[CONTENT] }
  const text = writeResult(returned, tool)
  return { output: text === undefined ? null : (JSON.parse(text) as JsonValue) }
}
