// One content block of a streaming answer and the neutral parts it becomes. Text blocks have no start event, so a
// block's kind shows with its first delta. Unknown deltas are kept for the log and never throw.
import type { JsonObject, JsonValue, ModelPart, ProviderState } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'
import type { FoundSource } from '../found-sources.ts'
import { readSource } from '../found-sources.ts'
import type { MeantArguments } from '../meant-arguments.ts'
import { growCumulative, isEmptyObject, isNothing, readGivenArguments, readMeantArguments } from '../meant-arguments.ts'
import { ThinkTags } from '../openai-chat/think-tags.ts'
import type { ToolNames } from '../tool-names.ts'
import { PROVIDER } from './wire.ts'
import { listObjects } from '../json-fields.ts'

/** `other`: Bedrock-specific content, including its server tools. */
export type BlockKind = 'text' | 'reasoning' | 'call' | 'other'

export interface Block {
  kind: BlockKind
  /** `start` of contentBlockStart; empty if there was none. */
  readonly start: JsonObject
  /** Call number, for calls. */
  readonly call: number
  isOpen: boolean
  /** Text, reasoning or JSON text, by kind. */
  text: string
  /** The latest piece of a call's arguments, while each piece starts with the previous one. */
  cumulative: string | undefined
  /** Nova's reasoning, from inside its tags. */
  thoughts: string
  readonly tags: ThinkTags | undefined
  /** Whether arguments arrived that could not be read. */
  isUnread: boolean
  signature: string
  redacted: string
  readonly citations: JsonValue[]
  readonly unknownDeltas: JsonObject[]
}

export interface OpenBlock {
  readonly start: JsonObject
  readonly call: number
  /** Whether text may begin with `<thinking>`, as Nova's does. */
  readonly hasTags: boolean
}

export function openBlock({ start, call, hasTags }: OpenBlock): Block {
  return {
    kind: kindOfStart(start),
    start,
    call,
    isOpen: true,
    text: '',
    cumulative: '',
    thoughts: '',
    tags: hasTags ? new ThinkTags(['thinking']) : undefined,
    isUnread: false,
    signature: '',
    redacted: '',
    citations: [],
    unknownDeltas: [],
  }
}

/**
 * Calls of Bedrock's server tools (`type: server_tool_use`) have their result in the same answer and are not run by
 * Baton.
 */
function kindOfStart(start: JsonObject): BlockKind {
  const toolUse = start['toolUse']
  if (isJsonObject(toolUse)) return toolUse['type'] === 'server_tool_use' ? 'other' : 'call'
  // Some gateways give a text a start, with or without its beginning.
  return Object.keys(start).every((name) => name === 'text') ? 'text' : 'other'
}

export interface Piece {
  readonly type: 'text' | 'reasoning' | 'call'
  readonly text: string
}

/** Applies a delta and returns the new text. */
export function applyDelta(block: Block, delta: JsonObject): readonly Piece[] {
  const { text, toolUse, reasoningContent, citation } = delta
  if (typeof text === 'string' && block.kind === 'text') return applyText(block, text)
  const input = isJsonObject(toolUse) ? readGivenArguments(toolUse['input']) : undefined
  if (input !== undefined && block.kind !== 'text') {
    block.text += input
    block.cumulative = growCumulative(block.cumulative, input)
    return block.kind === 'call' ? [{ type: 'call', text: input }] : []
  }
  if (isJsonObject(reasoningContent)) return applyReasoning(block, reasoningContent)
  if (citation !== undefined) block.citations.push(citation)
  else {
    block.unknownDeltas.push(delta)
    block.isUnread ||= isJsonObject(toolUse) && Object.keys(toolUse).length > 0
  }
  return []
}

/** Builds the missing start of a block from its first delta; `undefined` if the delta says too little. */
export function findStart({ toolUse }: JsonObject): JsonObject | undefined {
  if (!isJsonObject(toolUse)) return {}
  const { input: _, ...start } = toolUse
  return typeof start['name'] === 'string' ? { toolUse: start } : undefined
}

/** Whether a delta can belong to the block. */
export function fitsDelta({ kind }: Block, { text, toolUse }: JsonObject): boolean {
  if (toolUse !== undefined) return kind === 'call' || kind === 'other'
  return text === undefined || kind === 'text'
}

/** Whether a start repeats that of an open call. */
export function repeatsStart(block: Block, start: JsonObject): boolean {
  const { toolUse } = start
  const id = readId(block)
  return block.kind === 'call' && id !== '' && isJsonObject(toolUse) && toolUse['toolUseId'] === id
}

/** Whether a block is complete even without its end event: arguments are once their JSON is closed. */
export function isWhole(block: Block): boolean {
  if (block.kind !== 'call') return true
  const { text } = readArguments(block, false)
  return !isEmptyObject(text) && parseJson(text).ok
}

function applyText(block: Block, text: string): readonly Piece[] {
  return takePieces(block, block.tags?.push(text) ?? [{ type: 'text', text }])
}

/** Releases text held back because it could have been a tag. */
export function flushBlock(block: Block): readonly Piece[] {
  return takePieces(block, block.tags?.flush() ?? [])
}

function takePieces(block: Block, pieces: readonly Piece[]): readonly Piece[] {
  for (const { type, text } of pieces)
    if (type === 'reasoning') block.thoughts += text
    else block.text += text
  return pieces
}

function applyReasoning(block: Block, delta: JsonObject): readonly Piece[] {
  // A block without a start event counts as text until its first delta.
  if (block.kind === 'text' && block.text === '') block.kind = 'reasoning'
  const { text, signature, redactedContent } = delta
  if (typeof signature === 'string') block.signature += signature
  if (typeof redactedContent === 'string') block.redacted += redactedContent
  if (typeof text !== 'string') return []
  block.text += text
  return [{ type: 'reasoning', text }]
}

export interface PartOptions {
  readonly model: string
  readonly names: Pick<ToolNames, 'decode'>
  /** Whether the answer ended with a reason that lets its calls run. */
  readonly isEndedForCalls: boolean
}

/** Returns no parts for an empty block, since requests must not contain empty text. */
export function listParts(block: Block, options: PartOptions): readonly ModelPart[] {
  switch (block.kind) {
    case 'text':
      return [...listThoughts(block, options.model), ...readText(block, options.model)]
    case 'reasoning':
      return buildReasoning(block, options.model)
    case 'call': {
      const { text, repair } = readArguments(block, options.isEndedForCalls)
      return [
        {
          type: 'call',
          name: readCallName(block, options.names),
          arguments: text,
          ...(repair !== undefined && { repairs: [repair] }),
          state: buildState(options.model, { id: readId(block), ...unknown(block) }),
        },
      ]
    }
    case 'other':
      return [{ type: 'provider', state: buildState(options.model, pickRest(block)) }]
  }
}

/** Empty arguments arrive as "{}", as "", or without any delta. Unless the answer ended for calls, they may be lost. */
function readArguments({ text, cumulative, start, isUnread }: Block, isEndedForCalls: boolean): MeantArguments {
  const toolUse = start['toolUse']
  // Some gateways send the whole input at the start.
  const given = (isJsonObject(toolUse) ? readGivenArguments(toolUse['input']) : undefined) ?? ''
  if (isNothing(text) && !isNothing(given)) return readMeantArguments({ text: given })
  if (text === '') return { text: isEndedForCalls && !isUnread ? '{}' : '' }
  return readMeantArguments({ text, cumulative })
}

/** The tool name as its author wrote it; empty if the provider omitted it. */
export function readCallName(block: Block, names: Pick<ToolNames, 'decode'>): string {
  const toolUse = block.start['toolUse']
  const wire = isJsonObject(toolUse) ? toolUse['name'] : undefined
  return typeof wire === 'string' ? names.decode(wire) : ''
}

/** Sources cited by a text (`Citation` of the Converse API): a web page, or a document by title. */
export function findSources(block: Block): readonly FoundSource[] {
  return listObjects(block.citations).map(({ title, source, location, sourceContent }) => {
    const web = isJsonObject(location) ? location['web'] : undefined
    const url = isJsonObject(web) ? web['url'] : undefined
    const quote = listObjects(sourceContent)
      .map(({ text }) => text)
      .filter((text) => typeof text === 'string')
      .join(' ')
    return readSource({ url, title: title ?? source, quote })
  })
}

function readId(block: Block): string {
  const toolUse = block.start['toolUse']
  const id = isJsonObject(toolUse) ? toolUse['toolUseId'] : undefined
  return typeof id === 'string' ? id : ''
}

function listThoughts(block: Block, model: string): readonly ModelPart[] {
  if (block.thoughts === '') return []
  return [{ type: 'reasoning', text: block.thoughts, state: buildState(model, { tag: 'thinking' }) }]
}

function readText(block: Block, model: string): readonly ModelPart[] {
  const data = { ...(block.citations.length > 0 && { citations: block.citations }), ...unknown(block) }
  const isBare = Object.keys(data).length === 0
  if (block.text === '') return isBare ? [] : [{ type: 'provider', state: buildState(model, data) }]
  return [{ type: 'text', text: block.text, ...(!isBare && { state: buildState(model, data) }) }]
}

function buildReasoning(block: Block, model: string): readonly ModelPart[] {
  if (block.redacted !== '')
    return [{ type: 'provider', state: buildState(model, { redactedContent: block.redacted, ...unknown(block) }) }]
  if (block.text === '' && block.signature === '') return []
  return [
    {
      type: 'reasoning',
      text: block.text,
      state: buildState(model, { ...(block.signature !== '' && { signature: block.signature }), ...unknown(block) }),
    },
  ]
}

function pickRest(block: Block): JsonObject {
  return { block: block.start, ...(block.text !== '' && { input: block.text }), ...unknown(block) }
}

function unknown(block: Block): JsonObject {
  return block.unknownDeltas.length > 0 ? { unknownDeltas: block.unknownDeltas } : {}
}

function buildState(model: string, data: JsonValue): ProviderState {
  return { provider: PROVIDER, model, data }
}
