// Decodes an AI SDK stream into Baton's events and one final answer. Unknown parts are ignored.
import type {
  FinishReason,
  JsonObject,
  JsonValue,
  ModelAnswer,
  ModelCallPart,
  ModelEvent,
  ModelPart,
  ProviderPart,
  ProviderState,
  SourcePart,
  Usage,
} from '@baton/core/internal'
import { BatonError, isJsonObject, parseJson } from '@baton/core/internal'
import { readCount } from '../json-fields.ts'
import { isNothing, readGivenArguments, readMeantArguments } from '../meant-arguments.ts'
import type { ToolNames } from '../tool-names.ts'
import { answerTooLong } from '../transport/answer-reader.ts'
import { describeError } from './errors.ts'
import type { Metadata, ModelUsage, PromptPart, Source, StreamPart, Warning } from './language-model.ts'

export interface AiSdkDecoder {
  /** @throws BatonError if the stream reports an error */
  push(part: StreamPart): void
  /** @throws BatonError `model_cut_off` if the stream ends without a finish part */
  end(): ModelAnswer
}

export interface AiSdkDecoderOptions {
  readonly provider: string
  readonly model: string
  readonly names: ToolNames
  readonly sink: (event: ModelEvent) => void
  /** Maximum UTF-16 units of text, reasoning and arguments; 8 Mi by default. */
  readonly answerLengthMax?: number
}

const ANSWER_LENGTH_MAX = 8 * 1024 * 1024

interface Draft {
  readonly parts: Growing[]
  readonly openCalls: Map<string, OpenCall>
  /** Number of calls begun. */
  calls: number
  /** Ids of the provider-executed calls reported so far. */
  readonly serverCalls: Set<string>
  finish: Extract<StreamPart, { readonly type: 'finish' }> | undefined
  requestId: string | undefined
  model: string | undefined
}

interface OpenCall {
  readonly index: number
  /** Arguments received as deltas. */
  input: string
  /** Name and arguments, once the call has ended. */
  ended: string | undefined
}

/** A part of the answer. Text and reasoning grow as deltas arrive. */
type Growing =
  | { readonly type: 'text' | 'reasoning'; readonly id: string; text: string; metadata: Metadata | undefined }
  | { readonly type: 'whole'; readonly part: ModelCallPart | SourcePart | ProviderPart }

export function createAiSdkDecoder(init: AiSdkDecoderOptions): AiSdkDecoder {
  const draft: Draft = {
    parts: [],
    openCalls: new Map(),
    calls: 0,
    serverCalls: new Set(),
    finish: undefined,
    requestId: undefined,
    model: undefined,
  }
  const { answerLengthMax = ANSWER_LENGTH_MAX } = init
  let length = 0
  return {
    push: (given) => {
      const part = readPart(given)
      if (!part) return
      length += countLength(part)
      if (length > answerLengthMax) throw answerTooLong(init.provider, answerLengthMax)
      take(init, draft, part)
    },
    end: () => readAnswer(init, draft),
  }
}

/**
 * The part in the words of specification v4. Community providers pass on those of older versions, or leave fields out.
 * Returns undefined for anything that is not a part.
 */
function readPart(given: StreamPart): StreamPart | undefined {
  const part: unknown = given
  if (typeof part !== 'object' || part === null) return undefined
  const { delta, text, textDelta, input, args, toolCallId } = part as Readonly<Record<string, JsonValue | undefined>> // any object has fields
  if (given.type === 'text-delta' || given.type === 'reasoning-delta' || given.type === 'tool-input-delta')
    return { ...given, delta: [delta, text, textDelta].find((one) => typeof one === 'string') ?? '' }
  if (given.type === 'tool-call')
    return {
      ...given,
      input: readGivenArguments(input ?? args) ?? '',
      toolCallId: typeof toolCallId === 'string' ? toolCallId : '',
    }
  return given
}

/** How much a part adds to the answer's length. Call arguments arrive in deltas and then again in full. */
function countLength(part: StreamPart): number {
  if (part.type === 'text-delta' || part.type === 'reasoning-delta' || part.type === 'tool-input-delta')
    return part.delta.length
  if (part.type === 'tool-result') return (JSON.stringify(part.result) ?? '').length
  return part.type === 'tool-call' ? part.input.length : 0
}

function take(init: AiSdkDecoderOptions, draft: Draft, part: StreamPart): void {
  switch (part.type) {
    case 'text-delta':
      grow(draft, 'text', part)
      init.sink({ type: 'text-delta', text: part.delta })
      break
    case 'reasoning-delta':
      grow(draft, 'reasoning', part)
      init.sink({ type: 'reasoning-delta', text: part.delta })
      break
    case 'reasoning-start':
    case 'reasoning-end':
      grow(draft, 'reasoning', { ...part, delta: '' })
      break
    case 'text-end':
      if (part.providerMetadata) grow(draft, 'text', { ...part, delta: '' })
      part.citations?.forEach(({ source, citedText }, index) =>
        addSource(draft, { ...source, id: `${source.id}#${index}` }, citedText),
      )
      break
    case 'source':
      addSource(draft, part)
      break
    case 'tool-input-start':
      if (part.providerExecuted === true) beginServerTool(init, draft, part.id, part.toolName)
      else openCall(init, draft, part.id, part.toolName)
      break
    case 'tool-input-delta': {
      const open = draft.openCalls.get(part.id)
      if (!open || part.delta === '') break
      open.input += part.delta
      init.sink({ type: 'call-delta', index: open.index, text: part.delta })
      break
    }
    case 'tool-call':
      // Baton does not execute provider-executed calls.
      if (part.providerExecuted === true) takeServerCall(init, draft, part)
      else takeCall(init, draft, part)
      break
    case 'tool-result':
      if (part.preliminary !== true) takeServerResult(init, draft, part)
      break
    case 'stream-start':
      refuseLeftOut(init.provider, part.warnings ?? [])
      break
    case 'response-metadata':
      draft.requestId = part.id ?? draft.requestId
      draft.model = part.modelId ?? draft.model
      break
    case 'finish':
      draft.finish = pickFinish(draft.finish, part)
      break
    case 'error':
      throw describeError(init.provider, part.error)
    default:
      break
  }
}

function grow(
  draft: Draft,
  type: 'text' | 'reasoning',
  {
    id,
    delta,
    providerMetadata,
  }: { readonly id: string; readonly delta: string; readonly providerMetadata?: Metadata },
): void {
  const known = draft.parts.findLast((one) => one.type === type && one.id === id)
  if (known && known.type !== 'whole') {
    known.text += delta
    known.metadata = providerMetadata ?? known.metadata
  } else draft.parts.push({ type, id, text: delta, metadata: providerMetadata })
}

function addSource(draft: Draft, { id, url, title, mediaType }: Source, quote?: string): void {
  const part: SourcePart = {
    type: 'source',
    id,
    ...(typeof url === 'string' && { url }),
    ...(typeof title === 'string' && { title }),
    ...(typeof mediaType === 'string' && { mediaType }),
    ...(typeof quote === 'string' && { quote }),
  }
  draft.parts.push({ type: 'whole', part })
}

function openCall({ names, sink }: AiSdkDecoderOptions, draft: Draft, id: string, toolName: string): OpenCall {
  const open: OpenCall = { index: draft.calls++, input: '', ended: undefined }
  draft.openCalls.set(id, open)
  sink({ type: 'call-start', index: open.index, name: names.decode(toolName) })
  return open
}

function takeCall(
  init: AiSdkDecoderOptions,
  draft: Draft,
  call: Extract<StreamPart, { readonly type: 'tool-call' }>,
): void {
  const said = JSON.stringify([call.toolName, call.input])
  const known = draft.openCalls.get(call.toolCallId)
  // Some providers report a finished call twice, others give several calls one id, or none.
  if (known?.ended === said && call.toolCallId !== '') return
  const isBegun = known !== undefined && known.ended === undefined
  const open = isBegun ? known : openCall(init, draft, call.toolCallId, call.toolName)
  const input = isNothing(call.input) && !isNothing(open.input) ? open.input : call.input
  if (!isBegun) init.sink({ type: 'call-delta', index: open.index, text: input })
  open.ended = said
  init.sink({ type: 'call-end', index: open.index })
  const state = buildState(init, call.providerMetadata)
  const { text, repair } = input.trim() === '' ? { text: '{}' } : readMeantArguments({ text: input })
  draft.parts.push({
    type: 'whole',
    part: {
      type: 'call',
      name: init.names.decode(call.toolName),
      arguments: text,
      ...(repair !== undefined && { repairs: [repair] }),
      ...(state && { state }),
    },
  })
}

function beginServerTool({ sink }: AiSdkDecoderOptions, draft: Draft, id: string, name: string): void {
  if (draft.serverCalls.has(id)) return
  draft.serverCalls.add(id)
  sink({ type: 'server-tool', name, status: 'started' })
}

function takeServerCall(
  init: AiSdkDecoderOptions,
  draft: Draft,
  { toolCallId, toolName, input, providerMetadata }: Extract<StreamPart, { readonly type: 'tool-call' }>,
): void {
  beginServerTool(init, draft, toolCallId, toolName)
  const parsed = parseJson(input)
  keepBlock(init, draft, {
    type: 'tool-call',
    toolCallId,
    toolName,
    input: parsed.ok ? parsed.value : {},
    providerExecuted: true,
    ...(providerMetadata && { providerOptions: providerMetadata }),
  })
}

function takeServerResult(
  { sink, ...init }: AiSdkDecoderOptions,
  draft: Draft,
  { toolCallId, toolName, result, isError, providerMetadata }: Extract<StreamPart, { readonly type: 'tool-result' }>,
): void {
  sink({ type: 'server-tool', name: toolName, status: 'finished' })
  keepBlock(init, draft, {
    type: 'tool-result',
    toolCallId,
    toolName,
    output: { type: isError === true ? 'error-json' : 'json', value: (result ?? null) as JsonValue }, // as declared
    ...(providerMetadata && { providerOptions: providerMetadata }),
  })
}

/** Keeps the block in the AI SDK's prompt format, since it goes back to the same model unchanged. */
function keepBlock({ provider, model }: Omit<AiSdkDecoderOptions, 'sink'>, draft: Draft, block: PromptPart): void {
  const data = JSON.parse(JSON.stringify(block)) as JsonObject // logs hold plain JSON only
  draft.parts.push({ type: 'whole', part: { type: 'provider', state: { provider, model, data } } })
}

/**
 * AI SDK providers drop unsupported settings with a warning. Refuses tools or a service tier dropped that way, because
 * the caller asked for them.
 */
function refuseLeftOut(provider: string, warnings: readonly Warning[]): void {
  const left = warnings.find(
    ({ type, feature = '' }) => type === 'unsupported' && /\btools?\b|^serviceTier$/.test(feature),
  )
  if (left?.feature === undefined) return
  throw new BatonError({
    code: 'model_invalid_request',
    message: `${provider} does not support what the settings ask for: ${[left.feature, left.details].filter(Boolean).join(': ').slice(0, 600)}`,
    hint: 'Remove it from settings.serverTools or settings.serviceTier for this model, or use another model.',
  })
}

function buildState(
  { provider, model }: AiSdkDecoderOptions,
  metadata: Metadata | undefined,
): ProviderState | undefined {
  if (!metadata || Object.keys(metadata).length === 0) return undefined
  // The JSON round trip ensures that only plain JSON enters the log.
  return { provider, model, data: JSON.parse(JSON.stringify(metadata)) as JsonObject }
}

function readAnswer(init: AiSdkDecoderOptions, draft: Draft): ModelAnswer {
  const { finish } = draft
  const { unified } = readReason(finish)
  if (!finish || unified === 'interrupted')
    throw new BatonError({ code: 'model_cut_off', message: `${init.provider}: the stream ended before the answer did` })
  if (unified === 'error')
    throw new BatonError({
      code: 'model_provider_failed',
      message: `${init.provider}: the model stopped because of an error`,
    })
  const parts = draft.parts.flatMap((one): ModelPart[] => {
    if (one.type === 'whole') return [one.part]
    const state = buildState(init, one.metadata)
    return one.text === '' && !state ? [] : [{ type: one.type, text: one.text, ...(state && { state }) }]
  })
  return {
    parts,
    finish: readFinish(readReason(finish), parts, draft),
    usage: readUsage(finish.usage),
    model: draft.model ?? init.model,
    ...(draft.requestId !== undefined && { requestId: draft.requestId }),
  }
}

/** Does not rely on the finish reason alone: a call whose arguments were cut off must not run. */
function readFinish(
  { unified: reason, raw }: { readonly unified: string; readonly raw?: string | undefined },
  parts: readonly ModelPart[],
  { openCalls }: Draft,
): FinishReason {
  const calls = parts.filter((part) => part.type === 'call')
  if (reason === 'length') return 'max-tokens'
  if (reason === 'content-filter') return 'refusal'
  if ([...openCalls.values()].some(({ ended }) => ended === undefined)) return 'malformed-call'
  if (calls.length === 0 && raw === 'pause_turn') return 'pause'
  if (calls.length > 0) return reason === 'tool-calls' || reason === 'stop' ? 'tool-calls' : 'other'
  return reason === 'stop' || reason === 'tool-calls' ? 'end' : 'other'
}

type Finish = Extract<StreamPart, { readonly type: 'finish' }>

interface Reason {
  readonly unified: string
  readonly raw?: string | undefined
}

/** A word alone is the reason in older specifications. */
function readReason(finish: Finish | undefined): Reason {
  const reason: unknown = finish?.finishReason
  if (typeof reason === 'string') return { unified: reason }
  return typeof reason === 'object' && reason !== null ? (reason as Reason) : { unified: 'other' } // its fields are compared only
}

/** A second finish hides no cut of the first. */
function pickFinish(before: Finish | undefined, now: Finish): Finish {
  const isCut = before !== undefined && ['length', 'content-filter'].includes(readReason(before).unified)
  return isCut ? { ...now, finishReason: before.finishReason } : now
}

/** Older specifications have the totals alone. */
function readUsage(usage: ModelUsage | null | undefined): Usage {
  const { inputTokens, outputTokens } = (usage ?? {}) as JsonObject // read field by field
  const input: JsonObject = isJsonObject(inputTokens) ? inputTokens : { total: inputTokens ?? null }
  const output: JsonObject = isJsonObject(outputTokens) ? outputTokens : { total: outputTokens ?? null }
  const counts = {
    inputTokens: readCount(input, 'total'),
    cacheReadTokens: readCount(input, 'cacheRead'),
    cacheWriteTokens: readCount(input, 'cacheWrite'),
    outputTokens: readCount(output, 'total'),
    reasoningTokens: readCount(output, 'reasoning'),
  }
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== undefined))
}
