// A session's view of its client, in either protocol version. Beyond the protocol, a client can run client tools of the
// agent: it announces that in `_meta` of its capabilities.
import { methods, RequestError } from '@agentclientprotocol/sdk'
import type { CallView, JsonObject } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import type { Outcome } from '@baton/core/machine'
import { describeRefusal } from './acp-errors.ts'
import type { AskedCall, PermissionAsked } from './permissions.ts'
import type { CallPlace } from './shown-call.ts'
import { showAsked } from './shown-call.ts'
import type { ShownCall, Update } from './updates.ts'

export interface Wire {
  /** Aborts when the connection has ended, before its open requests reject. */
  readonly gone: AbortSignal
  /** Resolves when it is written. Rejects when the connection is lost. */
  tell(update: Update): Promise<void>
  /** Resolves with the client's answer, unchecked. `signal` aborts when the answer is no longer needed. */
  askPermission(asked: PermissionAsked, signal: AbortSignal): Promise<unknown>
  /** Present if the client can show forms. */
  readonly askForm?: (question: WireQuestion, signal: AbortSignal) => Promise<unknown>
  /** Present if the client runs tools of the agent. */
  readonly callTool?: (call: CallView, signal: AbortSignal) => Promise<Outcome>
  /** Names of the client tools it runs, or `all`. */
  readonly runs?: readonly string[] | 'all'
}

export interface WireQuestion {
  readonly callId: string
  readonly message: string
  readonly schema: JsonObject
}

/** The encoding of one version. */
export interface WireVersion {
  encode(update: Update): readonly object[]
  /** A permission request without its session and its choices. */
  encodeAsked(call: AskedCall, shown: ShownCall): object
  encodeForm(schema: JsonObject): object
}

/** The client, connected by the SDK of either version. */
export interface WirePeer {
  readonly client: {
    request(method: string, params: object, options: object): Promise<unknown>
    notify(method: string, params: object): Promise<void>
  }
  readonly signal: AbortSignal
}

interface WireOptions {
  readonly session: string
  readonly peer: WirePeer
  readonly capabilities: { readonly _meta?: unknown; readonly elicitation?: { readonly form?: unknown } | null }
  readonly version: WireVersion
  /** Undefined once the session is closed. */
  readonly findPlace: () => CallPlace | undefined
}

export function createWire({ session: sessionId, peer, capabilities, version, findPlace }: WireOptions): Wire {
  const { client, signal: gone } = peer
  const runs = readRuns(capabilities)
  const hasForms = (capabilities.elicitation?.form ?? undefined) !== undefined
  return {
    gone,
    tell: async (update) => {
      for (const encoded of version.encode(update))
        await client.notify(methods.client.session.update, { sessionId, update: encoded })
    },
    askPermission: async ({ call, choices }, signal) => {
      const place = findPlace()
      if (!place) throw new RequestError(-32_603, 'the session is closed')
      const options = choices.map((choice) => ({ ...choice }))
      const asked = { sessionId, ...version.encodeAsked(call, showAsked(call, place)), options }
      return await client.request(methods.client.session.requestPermission, asked, waitUntil(signal))
    },
    ...(hasForms && {
      askForm: async ({ callId: toolCallId, message, schema }, signal) => {
        const asked = { mode: 'form', sessionId, toolCallId, message, requestedSchema: version.encodeForm(schema) }
        return await client.request(methods.client.elicitation.create, asked, waitUntil(signal))
      },
    }),
    ...(runs && {
      runs,
      callTool: async ({ callId: toolCallId, name, input }, signal) => {
        const asked = { sessionId, toolCallId, name, input }
        return await awaitOutcome(client.request(CALL_TOOL, asked, { cancellationSignal: signal }), signal)
      },
    }),
  }
}

/** Options for a request to the client that is withdrawn when its answer is no longer needed. */
function waitUntil(signal: AbortSignal) {
  return { cancellationSignal: signal, stopWaitingOnCancel: true }
}

/** Key in `_meta` of the client's capabilities: true for all client tools, or a list of their names. */
export const CLIENT_TOOLS = 'baton/clientTools'
/** The request that runs a tool: `{ sessionId, toolCallId, name, input }`, answered by `{ output }` or `{ error }`. */
export const CALL_TOOL = '_baton/call_tool'

/** `undefined` if the client runs no tools. */
function readRuns(capabilities: { readonly _meta?: unknown } | undefined): readonly string[] | 'all' | undefined {
  const meta = capabilities?._meta
  const said = isJsonObject(meta) ? meta[CLIENT_TOOLS] : undefined
  if (said === true) return 'all'
  return Array.isArray(said) ? said.filter((name) => typeof name === 'string') : undefined
}

/**
 * Waits for the client's answer, which may be an error response. Rejects when the connection or the call ends first,
 * because the tool may still be running.
 */
async function awaitOutcome(answer: Promise<unknown>, signal: AbortSignal): Promise<Outcome> {
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
