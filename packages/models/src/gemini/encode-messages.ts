// Encodes neutral messages as Gemini contents: user and model roles, every call answered in the content directly after
// it, and signatures on the parts they arrived with.
import type { AssistantPart, CallPart, JsonObject, ResultPart, SourcePart } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'
import type { HistoryEncoder } from '../histories.ts'
import { encodeToolName } from '../tool-names.ts'
import { encodeContent, encodeResult } from './encode-content.ts'
import type { WireContent, WirePart } from './wire.ts'
import { NO_SIGNATURE, PROVIDER, REPLAYABLE, modelFamily } from './wire.ts'

/** Prepended to a history that does not start with a user message. */
const FIRST_USER: WireContent = { role: 'user', parts: [{ text: '(The conversation begins.)' }] }
/** 400 "Please ensure that multiturn requests end with a user role or a function response." */
const LAST_USER: WireContent = { role: 'user', parts: [{ text: '(Go on.)' }] }

/**
 * Keeps the signatures of `rebased` answers: the API checks the signed part, not what precedes it, and Google's own
 * client keeps them when it shortens a history (gemini-cli).
 */
export function createMessageEncoder(model: string, signsCalls: boolean): HistoryEncoder<WireContent> {
  const encoding: Encoding = { family: modelFamily(model), signsCalls, ids: new Map() }
  const drafts: Draft[] = []
  return {
    add(message) {
      if (message.role === 'user') addSpoken(drafts, 'user', encodeContent(message.parts))
      else if (message.role === 'assistant') addSpoken(drafts, 'model', encodeAssistant(message.parts, encoding))
      else drafts.push({ content: { role: 'user', parts: encodeResults(message.parts, encoding) }, hasResults: true })
    },
    wire: () => asRequest(drafts.map(({ content }) => content)),
  }
}

interface Draft {
  readonly content: WireContent
  readonly hasResults: boolean
}

interface Encoding {
  readonly family: string
  /** True for Gemini 3 and later. */
  readonly signsCalls: boolean
  /** The model's call ids by Baton's call id. */
  readonly ids: Map<string, string>
}

function asRequest(contents: readonly WireContent[]): readonly WireContent[] {
  const begun = contents[0]?.role === 'user' ? contents : [FIRST_USER, ...contents]
  return begun.at(-1)?.role === 'user' ? begun : [...begun, LAST_USER]
}

/**
 * Merges consecutive contents of one role. Results stay separate, because a user message after them starts a new turn.
 */
function addSpoken(drafts: Draft[], role: WireContent['role'], parts: readonly WirePart[]): void {
  if (parts.length === 0) return
  const last = drafts.at(-1)
  const goesOn = last?.content.role === role && !last.hasResults
  const before = goesOn ? (drafts.pop()?.content.parts ?? []) : []
  drafts.push({ content: { role, parts: [...before, ...parts] }, hasResults: false })
}

function encodeAssistant(parts: readonly AssistantPart[], encoding: Encoding): readonly WirePart[] {
  const encoded = parts.map((part) => encodePart(part, encoding)).filter((part) => part !== undefined)
  const first = encoded.findIndex((part) => part['functionCall'] !== undefined)
  const call = encoded[first]
  // 400 "Function call is missing a thought_signature in functionCall parts": the first of parallel calls carries it.
  if (!encoding.signsCalls || !call || call['thoughtSignature'] !== undefined) return encoded
  return encoded.with(first, { ...call, thoughtSignature: NO_SIGNATURE })
}

function encodePart(part: AssistantPart, encoding: Encoding): WirePart | undefined {
  if (part.type === 'source') return undefined
  const data = buildState(part, encoding)
  const signature = data['thoughtSignature']
  const signed = typeof signature === 'string' && signature !== '' ? { thoughtSignature: signature } : {}
  switch (part.type) {
    case 'text':
      return part.text === '' ? undefined : { text: part.text, ...signed }
    case 'reasoning':
      // Thoughts are summaries for people; only signed ones help the model.
      if (!('thoughtSignature' in signed)) return undefined
      return { text: part.text, ...(data['isText'] !== true && { thought: true }), ...signed }
    case 'call':
      return { functionCall: encodeCall(part, data, encoding), ...signed }
    case 'provider': {
      const own = data['part']
      return isJsonObject(own) && REPLAYABLE.some((kind) => own[kind] !== undefined) ? own : undefined
    }
  }
}

/** The part's Gemini state, if the same model made it; state of other providers is ignored. */
function buildState({ state }: Exclude<AssistantPart, SourcePart>, { family }: Encoding): JsonObject {
  const isOwn = state?.provider === PROVIDER && modelFamily(state.model) === family
  return isOwn && isJsonObject(state.data) ? state.data : {}
}

function encodeCall(call: CallPart, data: JsonObject, { ids }: Encoding): JsonObject {
  const { id } = data
  if (typeof id === 'string' && id !== '') ids.set(call.callId, id)
  const given = ids.get(call.callId)
  return { ...(given !== undefined && { id: given }), name: encodeToolName(call.name), args: readArguments(call) }
}

/** Always an object. Unparseable arguments go back empty; the call's result explains why. */
function readArguments(call: CallPart): JsonObject {
  const parsed = parseJson(call.arguments)
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
}

/**
 * 400 "…the number of function response parts is equal to the number of function call parts": all in one content,
 * first.
 */
function encodeResults(results: readonly ResultPart[], { ids, signsCalls: holdsMedia }: Encoding) {
  const encoded = results.map((result) =>
    encodeResult(result, { name: encodeToolName(result.name), id: ids.get(result.callId), holdsMedia }),
  )
  return [...encoded.map(({ response }) => response), ...encoded.flatMap(({ beside }) => beside)]
}
