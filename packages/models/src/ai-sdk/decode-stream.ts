// Their stream of parts, as Baton's events and one answer at the end. Parts that it does not know are passed over.
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
} from '@baton/core'
import { BatonError, parseJson } from '@baton/core'
import type { ToolNames } from '../tool-names.ts'
import { answerTooLong } from '../transport/answer-reader.ts'
import { describeError } from './errors.ts'
import type { Metadata, ModelUsage, PromptPart, Source, StreamPart, Warning } from './language-model.ts'

export interface AiSdkDecoder {
  /** @throws BatonError for an error in the stream */
  push(part: StreamPart): void
  /** @throws BatonError `model_cut_off` when the stream ended without its finish */
  end(): ModelAnswer
}

export interface AiSdkDecoderInit {
  readonly provider: string
  readonly model: string
  readonly names: ToolNames
  readonly sink: (event: ModelEvent) => void
  /** Most UTF-16 units of text, reasoning and arguments; 8 Mi by default. */
  readonly answerLengthMax?: number
}

const ANSWER_LENGTH_MAX = 8 * 1024 * 1024

interface Draft {
  readonly parts: Growing[]
  readonly openCalls: Map<string, { readonly index: number; ended: boolean }>
  /** Calls of tools that the provider runs, as far as they were told. */
  readonly serverCalls: Set<string>
  finish: Extract<StreamPart, { readonly type: 'finish' }> | undefined
  requestId: string | undefined
  model: string | undefined
}

/** A part of the answer; text and reasoning grow. */
type Growing =
  | { readonly type: 'text' | 'reasoning'; readonly id: string; text: string; metadata: Metadata | undefined }
  | { readonly type: 'whole'; readonly part: ModelCallPart | SourcePart | ProviderPart }

export function createAiSdkDecoder(init: AiSdkDecoderInit): AiSdkDecoder {
  const draft: Draft = {
    parts: [],
    openCalls: new Map(),
    serverCalls: new Set(),
    finish: undefined,
    requestId: undefined,
    model: undefined,
  }
  const { answerLengthMax = ANSWER_LENGTH_MAX } = init
  let length = 0
  return {
    push: (part) => {
      length += countLength(part)
      if (length > answerLengthMax) throw answerTooLong(init.provider, answerLengthMax)
      take(init, draft, part)
    },
    end: () => readAnswer(init, draft),
  }
}

/** The addition of a part to the answer; a call's arguments come in pieces, then whole. */
function countLength(part: StreamPart): number {
  if (part.type === 'text-delta' || part.type === 'reasoning-delta' || part.type === 'tool-input-delta')
    return part.delta.length
  if (part.type === 'tool-result') return (JSON.stringify(part.result) ?? '').length
  return part.type === 'tool-call' ? part.input.length : 0
}

function take(init: AiSdkDecoderInit, draft: Draft, part: StreamPart): void {
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
      if (open) init.sink({ type: 'call-delta', index: open.index, text: part.delta })
      break
    }
    case 'tool-call':
      // Calls that the provider runs by itself are not Baton's.
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
      draft.finish = part
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

function openCall({ names, sink }: AiSdkDecoderInit, draft: Draft, id: string, toolName: string): number {
  const index = draft.openCalls.size
  draft.openCalls.set(id, { index, ended: false })
  sink({ type: 'call-start', index, name: names.decode(toolName) })
  return index
}

function takeCall(
  init: AiSdkDecoderInit,
  draft: Draft,
  call: Extract<StreamPart, { readonly type: 'tool-call' }>,
): void {
  const known = draft.openCalls.get(call.toolCallId)
  // One that ended already is told twice.
  if (known?.ended) return
  const index = known?.index ?? openCall(init, draft, call.toolCallId, call.toolName)
  if (!known) init.sink({ type: 'call-delta', index, text: call.input })
  draft.openCalls.set(call.toolCallId, { index, ended: true })
  init.sink({ type: 'call-end', index })
  const state = buildState(init, call.providerMetadata)
  draft.parts.push({
    type: 'whole',
    part: {
      type: 'call',
      name: init.names.decode(call.toolName),
      arguments: call.input.trim() === '' ? '{}' : call.input,
      ...(state && { state }),
    },
  })
}

function beginServerTool({ sink }: AiSdkDecoderInit, draft: Draft, id: string, name: string): void {
  if (draft.serverCalls.has(id)) return
  draft.serverCalls.add(id)
  sink({ type: 'server-tool', name, status: 'started' })
}

function takeServerCall(
  init: AiSdkDecoderInit,
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
  { sink, ...init }: AiSdkDecoderInit,
  draft: Draft,
  { toolCallId, toolName, result, isError, providerMetadata }: Extract<StreamPart, { readonly type: 'tool-result' }>,
): void {
  sink({ type: 'server-tool', name: toolName, status: 'finished' })
  keepBlock(init, draft, {
    type: 'tool-result',
    toolCallId,
    toolName,
    output: { type: isError === true ? 'error-json' : 'json', value: (result ?? null) as JsonValue }, // as they declare it
    ...(providerMetadata && { providerOptions: providerMetadata }),
  })
}

/** In the words of their prompts: it goes back to the same model as it is. */
function keepBlock({ provider, model }: Omit<AiSdkDecoderInit, 'sink'>, draft: Draft, block: PromptPart): void {
  const data = JSON.parse(JSON.stringify(block)) as JsonObject // what is kept in a log must be JSON
  draft.parts.push({ type: 'whole', part: { type: 'provider', state: { provider, model, data } } })
}

/** Their providers leave out what they cannot say and go on: a tool or a tier that was asked for would be missing in silence. */
function refuseLeftOut(provider: string, warnings: readonly Warning[]): void {
  const left = warnings.find(
    ({ type, feature = '' }) => type === 'unsupported' && /\btools?\b|^serviceTier$/.test(feature),
  )
  if (left?.feature === undefined) return
  throw new BatonError({
    code: 'model_invalid_request',
    message: `${provider} does not take what the settings ask for: ${[left.feature, left.details].filter(Boolean).join(': ').slice(0, 600)}`,
    hint: 'Leave it out of settings.serverTools or settings.serviceTier for this model, or ask another model.',
  })
}

function buildState({ provider, model }: AiSdkDecoderInit, metadata: Metadata | undefined): ProviderState | undefined {
  if (!metadata || Object.keys(metadata).length === 0) return undefined
  // Through JSON: what is kept in a log must be nothing else.
  return { provider, model, data: JSON.parse(JSON.stringify(metadata)) as JsonObject }
}

function readAnswer(init: AiSdkDecoderInit, draft: Draft): ModelAnswer {
  const { finish } = draft
  if (!finish || finish.finishReason.unified === 'interrupted')
    throw new BatonError({ code: 'model_cut_off', message: `${init.provider}: the stream ended before the answer did` })
  if (finish.finishReason.unified === 'error')
    throw new BatonError({ code: 'model_provider_failed', message: `${init.provider}: the model stopped for an error` })
  const parts = draft.parts.flatMap((one): ModelPart[] => {
    if (one.type === 'whole') return [one.part]
    const state = buildState(init, one.metadata)
    return one.text === '' && !state ? [] : [{ type: one.type, text: one.text, ...(state && { state }) }]
  })
  return {
    parts,
    finish: readFinish(finish.finishReason, parts, draft),
    usage: readUsage(finish.usage),
    model: draft.model ?? init.model,
    ...(draft.requestId !== undefined && { requestId: draft.requestId }),
  }
}

/** Never by the reason alone: a call whose arguments were cut off must not run. */
function readFinish(
  { unified: reason, raw }: { readonly unified: string; readonly raw?: string | undefined },
  parts: readonly ModelPart[],
  { openCalls }: Draft,
): FinishReason {
  const calls = parts.filter((part) => part.type === 'call')
  if (reason === 'length') return 'max-tokens'
  if (reason === 'content-filter') return 'refusal'
  if ([...openCalls.values()].some(({ ended }) => !ended)) return 'malformed-call'
  if (calls.length === 0 && raw === 'pause_turn') return 'pause'
  if (calls.length > 0) return reason === 'tool-calls' || reason === 'stop' ? 'tool-calls' : 'other'
  return reason === 'stop' || reason === 'tool-calls' ? 'end' : 'other'
}

function readUsage({ inputTokens, outputTokens }: ModelUsage): Usage {
  const counts = {
    inputTokens: inputTokens?.total,
    cacheReadTokens: inputTokens?.cacheRead,
    cacheWriteTokens: inputTokens?.cacheWrite,
    outputTokens: outputTokens?.total,
    reasoningTokens: outputTokens?.reasoning,
  }
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => typeof count === 'number'))
}
