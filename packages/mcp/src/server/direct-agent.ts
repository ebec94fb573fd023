// An agent without a language model: its "model" turns an input that names a tool into exactly that call, and then says
// nothing. This gives an MCP client's call everything that a model's call gets: validation, approval, questions, one
// settlement, a log.
import type { Agent, JsonObject, Message, Model, ModelAnswer, ModelCallPart } from '@baton/core/internal'
import { defineAgent, isJsonObject, parseJson } from '@baton/core/internal'
import { READ_RESULT, readPiece } from '@baton/runtime'

/** Maximum characters of a call's arguments. */
const INPUT_CHARS = 1_048_576
/** The tool's own time-out ends a call; a turn has no other work. */
const TURN_MS = 86_400_000
/**
 * Minimum characters of a piece of a result, except the last one. Pieces may overlap by one character, but none is
 * lost.
 */
const PIECE_CHARS = 12_287

export interface DirectAgentOptions {
  readonly agent: Agent
  /** Maximum characters to read of one text in a result. */
  readonly resultChars: number
}

/** Contains the agent's tools that run on the host or are done by other agents, under the agent's own policy. Does not call `prepareStep`. */
export function createDirectAgent({ agent, resultChars }: DirectAgentOptions): Agent {
  const reads = Math.ceil(resultChars / PIECE_CHARS)
  return defineAgent({
    name: `${agent.name.slice(0, 58)}.tools`,
    model: createDirectModel(reads),
    // A turn that ended at its call would not read the rest of a long result.
    tools: agent.tools
      .filter(({ execute, delegation }) => execute !== undefined || delegation !== undefined)
      .map((tool) => ({ ...tool, endsTurn: false })),
    sources: agent.sources,
    collisions: agent.collisions,
    ...(agent.approvalPolicy && { approvalPolicy: agent.approvalPolicy }),
    limits: {
      ...agent.limits,
      toolRounds: 4,
      // The call, and the pieces of each of its texts.
      callsPerTurn: 1 + 32 * reads,
      inputChars: INPUT_CHARS,
      queueChars: INPUT_CHARS,
      turnMs: TURN_MS,
      turnTokens: Number.MAX_SAFE_INTEGER,
    },
    window: { exchanges: 1, summarise: false },
    retry: { attempts: 1 },
    emptyAnswer: 'silence',
  })
}

/** The input that represents this call. */
export function writeCall(name: string, input: JsonObject): string {
  return JSON.stringify({ call: name, arguments: input })
}

function createDirectModel(reads: number): Model {
  const run: Model['run'] = ({ messages, tools }) => {
    const calls = decideCalls(messages, {
      reads,
      canRead: tools.some(({ name }) => name === READ_RESULT),
    })
    const answer: ModelAnswer = {
      parts: calls,
      finish: calls.length > 0 ? 'tool-calls' : 'end',
      usage: {},
      model: 'mcp/direct',
    }
    return Promise.resolve(answer)
  }
  return { id: 'mcp/direct', provider: 'mcp', capabilities: { tools: 'native', images: true }, run }
}

interface Reading {
  readonly reads: number
  readonly canRead: boolean
}

/** First the call, then the rest of its long texts, then nothing. */
function decideCalls(messages: readonly Message[], reading: Reading): readonly ModelCallPart[] {
  const asked = messages.findLastIndex(({ role }) => role === 'user')
  const [answered, ...more] = messages.slice(asked + 1).filter(({ role }) => role === 'tool')
  if (!answered) return readCall(messages[asked])
  if (more.length > 0 || !reading.canRead || answered.role !== 'tool') return []
  return answered.parts.flatMap(({ callId, content }) =>
    content.flatMap((part, index) => {
      const piece = part.type === 'text' ? readPiece(part.text) : undefined
      if (!piece || piece.handle !== `${callId}_${index}`) return []
      const end = Math.min(piece.of, reading.reads * PIECE_CHARS)
      return listOffsets(piece.to, end).map((offset) => toCall(READ_RESULT, { handle: piece.handle ?? '', offset }))
    }),
  )
}

function listOffsets(from: number, end: number): readonly number[] {
  return Array.from({ length: Math.max(0, Math.ceil((end - from) / PIECE_CHARS)) }, (_, n) => from + n * PIECE_CHARS)
}

/** Next to the input, a message may report late outcomes of earlier calls. */
function readCall(message: Message | undefined): readonly ModelCallPart[] {
  if (message?.role !== 'user') return []
  for (const part of message.parts.toReversed()) {
    const parsed = part.type === 'text' ? parseJson(part.text) : undefined
    if (!parsed?.ok || !isJsonObject(parsed.value)) continue
    const { call, arguments: input } = parsed.value
    if (typeof call === 'string' && isJsonObject(input)) return [toCall(call, input)]
  }
  return []
}

function toCall(name: string, input: JsonObject): ModelCallPart {
  return { type: 'call', name, arguments: JSON.stringify(input) }
}
