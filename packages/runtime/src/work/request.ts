// Builds a model request: the agent's instructions and tools, and the history between two entries with the bytes of its
// images and files. A model never sees a handle.
import type {
  JsonObject,
  Message,
  Model,
  ModelRequest,
  ModelSettings,
  StoredMessage,
  Tool,
  ToolDeclaration,
} from '@baton/core/internal'
import { outputTokensFor } from '@baton/core/internal'
import { findClientToolRefusal, permitSettings } from './permitted.ts'
import type { ClientToolSpec, History } from '@baton/core/machine'
import type { CallModel, ModelJob, Summarise } from './jobs.ts'
import { mapSome } from './media.ts'
import { showMoved } from './request-messages.ts'
import type { Streaks } from './repeats.ts'
import { describeRepeats } from './repeats.ts'
import { READ_RESULT } from './tool-result.ts'
import type { WorkContext } from './work.ts'

const OUT_OF_ROUNDS = 'The tool rounds of this turn are used up. Answer now from what you have, without calling tools.'
const SAY_SOMETHING = 'Your last answer was empty. Answer now.'
const OUTPUT = 'Your final answer must be one JSON value and nothing else, no code block. It must fit this JSON Schema:'
const SUMMARISE =
  'Summarise the conversation so far in two or three sentences. Keep findings, the files and sessions that were ' +
  'looked at, decisions, and what is still open. Write only the summary.'

export interface RequestSources {
  readonly context: WorkContext
  readonly model: Model
  readonly history: Pick<History, 'messages'>
  /** Calls of this turn that repeated with the same result. */
  readonly streaks?: Streaks | undefined
}

/** @throws BatonError `store_failed` */
export async function createRequest(sources: RequestSources, job: ModelJob): Promise<ModelRequest> {
  const { effect } = job
  if (effect.type === 'summarise') return createSummaryRequest(sources, job, effect)
  const request = await createStepRequest(sources, job, effect)
  const outputSchema = job.output ?? sources.context.agent.outputSchema
  if (!outputSchema) return request
  return addOutput({ name: sources.context.agent.name, model: sources.model, schema: outputSchema }, request)
}

/** Passes the schema to the provider if it enforces schemas, else adds it to the instructions. */
export function addOutput(
  { name, model, schema }: { readonly name: string; readonly model: Model; readonly schema: JsonObject },
  request: ModelRequest,
): ModelRequest {
  const { output = 'none' } = model.capabilities
  if (output === 'native' || (output === 'without-tools' && request.tools.length === 0))
    return { ...request, output: { name, schema } }
  const asked = `${OUTPUT}\n${JSON.stringify(schema)}`
  return { ...request, instructions: [request.instructions, asked].filter((part) => part !== '').join('\n\n') }
}

async function createStepRequest(
  { context, history, streaks }: RequestSources,
  job: ModelJob,
  effect: CallModel,
): Promise<ModelRequest> {
  const { session, model, settings, clientTools, done = [] } = job
  const { agent, tools, toolSearch, requestMessages } = context
  const told = history.messages(effect.fromEntry, effect.toEntry)
  const messages = await requestMessages.load(session, told, context)
  const repeats = streaks && describeRepeats(streaks)
  const note = effect.choice === 'none' ? OUT_OF_ROUNDS : effect.again ? SAY_SOMETHING : repeats
  const permitted = clientTools.filter(({ name }) => findClientToolRefusal(agent, name) === undefined)
  const first = agent.firstTool !== undefined && !done.includes(agent.firstTool) ? agent.firstTool : undefined
  const chosen = toolSearch?.choose(messages) ?? tools
  const declared = declareTools(first === undefined ? chosen : withFirst(chosen, tools, first), permitted, messages)
  const mustBegin = first !== undefined && effect.choice === 'auto' && declared.some(({ name }) => name === first)
  const { toolChoice: wish, ...wished } = { ...agent.settings, ...settings }
  const all = agent.permissions ? permitSettings(agent, wished) : wished
  // A choice for every step would leave no answer, and choosing a missing tool would fail the turn.
  const isFirst = effect.choice === 'auto' && messages.at(-1)?.role === 'user'
  const canChoose = isFirst && wish && (wish.type !== 'tool' || declared.some(({ name }) => name === wish.name))
  return {
    instructions: agent.instructions,
    messages: note === undefined ? messages : [...messages, userText(note)],
    tools: declared,
    toolChoice: mustBegin ? { type: 'tool', name: first } : canChoose ? wish : { type: effect.choice },
    settings:
      all.maxOutputTokens === undefined ? all : limitOutput(all, declared.length > 0, findRoom(context, model, job)),
    session,
  }
}

/** Offers the first tool even if a search hides it: the search would run before it. */
function withFirst(chosen: readonly Tool[], tools: readonly Tool[], first: string): readonly Tool[] {
  return chosen.some(({ name }) => name === first) ? chosen : [...chosen, ...tools.filter(({ name }) => name === first)]
}

/** Relative error allowed in an input estimate, and the tokens that chat templates add. */
const SHORT = 0.1
const FRAMING_TOKENS = 64

/**
 * Tokens that the window leaves for the answer: slightly less than estimated, but never less than the agent reserves.
 */
function findRoom({ agent, modelOf }: WorkContext, model: string, job: ModelJob): number {
  const { inputTokens, contextTokens: learnt = Infinity } = job
  const { contextTokens: known = modelOf(model).capabilities.contextTokens ?? Infinity } = agent.window
  const contextTokens = Math.min(known, learnt)
  if (inputTokens === undefined || contextTokens === Infinity) return Infinity
  // The machine keeps it free in a window that it knows.
  const reserved = learnt < known ? 0 : Math.min(agent.window.reserveTokens, contextTokens - inputTokens)
  return Math.max(1, reserved, Math.floor(contextTokens - inputTokens * (1 + SHORT) - FRAMING_TOKENS))
}

/** Servers refuse a request whose input and maximum output together exceed their window. */
function limitOutput(settings: ModelSettings, hasTools: boolean, roomTokens: number): ModelSettings {
  const { moreForTools: _, ...others } = settings
  const tokens = outputTokensFor(settings, hasTools)
  return { ...others, maxOutputTokens: Math.min(tokens ?? roomTokens, roomTokens) }
}

/**
 * Turns calls and results into text, so that a summary needs no tools, not even the provider's, and no provider refuses
 * it. The request is sent once, so caching its prompt would cost more and save nothing.
 */
async function createSummaryRequest(
  { context, history }: RequestSources,
  { session }: ModelJob,
  effect: Summarise,
): Promise<ModelRequest> {
  const stored = history.messages(effect.fromEntry, effect.toEntry)
  const shown = await mapSome(stored, (message) => showMoved(session, message, context))
  const told = shown.map(describeMessage).join('\n\n')
  const { serverTools: _, ...settings } = context.agent.settings
  return {
    instructions: SUMMARISE,
    messages: [userText(told)],
    tools: [],
    toolChoice: { type: 'none' },
    settings: { ...settings, maxOutputTokens: 512, cache: 'off' },
    session,
  }
}

function describeMessage(message: StoredMessage): string {
  const said = message.parts.map((part) => {
    if (part.type === 'text') return part.text
    if (part.type === 'call') return `[calls ${part.name} ${part.arguments}]`
    if (part.type === 'result')
      return `[${part.name} gave ${part.content.map((piece) => (piece.type === 'text' ? piece.text : piece.type)).join(' ')}]`
    return ''
  })
  return `${message.role}: ${said.filter((piece) => piece !== '').join('\n')}`
}

function userText(text: string): Message {
  return { role: 'user', parts: [{ type: 'text', text }] }
}

function declareTools(
  tools: readonly Tool[],
  clientTools: readonly ClientToolSpec[],
  messages: readonly Message[],
): readonly ToolDeclaration[] {
  const own = tools.filter(({ name }) => name !== READ_RESULT || hasShortened(messages))
  const names = new Set(own.map((tool) => tool.name))
  return [
    ...own.map(({ name, description, inputSchema, effect }) => ({ name, description, inputSchema, effect })),
    ...clientTools
      .filter((tool) => !names.has(tool.name))
      .map(({ name, description, inputSchema, effect }) => ({
        name,
        description,
        // The front that receives `client-tools` checks it: the root is an object.
        inputSchema: inputSchema as ToolDeclaration['inputSchema'],
        effect,
      })),
  ]
}

/** Whether there is a shortened result: `result.read` is offered while the window has one. */
function hasShortened(messages: readonly Message[]): boolean {
  for (const message of messages) {
    if (message.role !== 'tool') continue
    for (const { content } of message.parts)
      for (const piece of content)
        if (piece.type === 'text' && piece.text.endsWith('}]') && piece.text.includes(READ_RESULT)) return true
  }
  return false
}
