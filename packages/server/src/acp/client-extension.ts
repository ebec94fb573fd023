// Client extensions beyond the protocol, announced in `_meta` of its capabilities: a client can run client tools of the
// agent.
import { RequestError } from '@agentclientprotocol/sdk'
import type { CallView, JsonObject } from '@baton/core/internal'
import type { Outcome } from '@baton/core/machine'
import { isJsonObject } from '@baton/core/internal'
import { describeRefusal } from './acp-errors.ts'

/** Key in `_meta` of the client's capabilities: true for all client tools, or a list of their names. */
export const CLIENT_TOOLS = 'baton/clientTools'
/** The request that runs a tool: `{ sessionId, toolCallId, name, input }`, answered by `{ output }` or `{ error }`. */
export const CALL_TOOL = '_baton/call_tool'

export interface ToolAsked {
  readonly sessionId: string
  readonly toolCallId: string
  readonly name: string
  readonly input: CallView['input']
}

/** `undefined` if the client runs no tools. */
export function readRuns(
  capabilities: { readonly _meta?: unknown } | undefined,
): readonly string[] | 'all' | undefined {
  const meta = capabilities?._meta
  const said = isJsonObject(meta) ? meta[CLIENT_TOOLS] : undefined
  if (said === true) return 'all'
  return Array.isArray(said) ? said.filter((name) => typeof name === 'string') : undefined
}

/**
 * Waits for the client's answer, which may be an error response. Rejects when the connection or the call ends first,
 * because the tool may still be running.
 */
export async function awaitOutcome(answer: Promise<unknown>, signal: AbortSignal): Promise<Outcome> {
  try {
    return readOutcome(await answer)
  } catch (cause) {
    if (signal.aborted || !(cause instanceof RequestError)) throw cause
    return fail(describeRefusal(cause))
  }
}

/** Reads the client's answer, whatever its shape. */
function readOutcome(answer: unknown): Outcome {
  const { output, error } = isJsonObject(answer) ? answer : ({} as JsonObject)
  if (typeof error === 'string') return fail(error)
  if (output === undefined) return fail('the client returned no output')
  const text = typeof output === 'string' ? output : JSON.stringify(output)
  return { type: 'ok', content: [{ type: 'text', text }], value: output }
}

const ERROR_CHARS = 10_000

function fail(message: string): Outcome {
  return { type: 'error', code: 'tool_failed', message: message.slice(0, ERROR_CHARS) }
}
