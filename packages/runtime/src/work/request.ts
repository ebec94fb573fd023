// Builds a model request: the agent's instructions and tools, and the history between two entries with the bytes of its
// images and files. A model never sees a handle.
import type {
  Agent,
  JsonObject,
  Message,
  Model,
  ModelRequest,
  ModelSettings,
  StoredMessage,
  Tool,
  ToolDeclaration,
  BlobStore,
  ContentPart,
  Logger,
  StoredPart,
  Timers,
} from '@baton/core/internal'
import { outputTokensFor, withFlag } from '@baton/core/internal'
import { findBackground, hasFlag } from './background.ts'
import { findClientToolRefusal, permitSettings } from './permitted.ts'
import type { ClientToolSpec } from '@baton/core/machine'
import type { CallModel, ModelJob } from './jobs.ts'
import { mapSome, inTime, nameMediaBlob } from './media.ts'
import type { Streaks } from './repeats.ts'
import { countRepeats, describeRepeats } from './repeats.ts'
import { READ_RESULT, showPiece } from './tool-result.ts'
import type { ModelIo, WorkContext } from './work.ts'

const OUT_OF_ROUNDS = 'The tool rounds of this turn are used up. Answer now from what you have, without calling tools.'
const SAY_SOMETHING = 'Your last answer was empty. Answer now.'
const OUTPUT = 'Your final answer must be one JSON value and nothing else, no code block. It must fit this JSON Schema:'
const SUMMARISE =
  'Summarise the conversation so far in two or three sentences. Keep findings, the files and sessions that were ' +
  'looked at, decisions, and what is still open. Write only the summary.'

interface RequestSources {
  readonly context: WorkContext
  readonly model: Model
  readonly told: readonly StoredMessage[]
  /** Calls of this turn that repeated with the same result. */
  readonly streaks?: Streaks | undefined
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

export interface StepSources {
  readonly job: ModelJob
  readonly effect: CallModel
  readonly history: Pick<ModelIo['history'], 'messages'>
}

/** The request of a step, before `prepareStep` changes it. @throws BatonError `unknown_model`, `store_failed` */
export async function buildStep(context: WorkContext, { job, effect, history }: StepSources) {
  const model = context.modelOf(job.model)
  const told = history.messages(effect.fromEntry, effect.toEntry)
  let results = 0
  for (let at = told.length - 1; at >= 0 && told[at]?.role !== 'user'; at -= 1)
    if (told[at]?.role === 'tool') results += told[at]?.parts.length ?? 0
  // Fewer than three results cannot repeat: the case in most turns.
  const streaks = results < 3 ? undefined : countRepeats(told, context.tools)
  return { model, streaks, request: await createStepRequest({ context, model, told, streaks }, job, effect) }
}

/** @throws BatonError `store_failed` */
async function createStepRequest(
  { context, model, told, streaks }: RequestSources,
  job: ModelJob,
  effect: CallModel,
): Promise<ModelRequest> {
  const { session, settings, clientTools, done = [] } = job
  const { agent, tools, toolSearch, requestMessages } = context
  const messages = await requestMessages.load(session, told, context)
  const repeats = streaks && describeRepeats(streaks)
  const note = effect.choice === 'none' ? OUT_OF_ROUNDS : effect.again ? SAY_SOMETHING : repeats
  const permitted = clientTools.filter(({ name }) => findClientToolRefusal(agent, name) === undefined)
  const first = agent.firstTool !== undefined && !done.includes(agent.firstTool) ? agent.firstTool : undefined
  const chosen = toolSearch?.choose(messages) ?? tools
  const offered = first === undefined ? chosen : withFirst(chosen, tools, first)
  const declared = declareTools(offered, permitted, messages, agent)
  const mustBegin = first !== undefined && effect.choice === 'auto' && declared.some(({ name }) => name === first)
  const { toolChoice: wish, ...wished } = { ...agent.settings, ...settings }
  const all = agent.permissions ? permitSettings(agent, wished) : wished
  // A choice for every step would leave no answer, and choosing a missing tool would fail the turn.
  const isFirst = effect.choice === 'auto' && messages.at(-1)?.role === 'user'
  const canChoose = isFirst && wish && (wish.type !== 'tool' || declared.some(({ name }) => name === wish.name))
  const request: ModelRequest = {
    instructions: agent.instructions,
    messages: note === undefined ? messages : [...messages, userText(note)],
    tools: declared,
    toolChoice: mustBegin ? { type: 'tool', name: first } : canChoose ? wish : { type: effect.choice },
    settings: all.maxOutputTokens === undefined ? all : limitOutput(all, declared.length > 0, findRoom(context, job)),
    session,
  }
  const schema = job.output ?? agent.outputSchema
  return schema ? addOutput({ name: agent.name, model, schema }, request) : request
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
function findRoom({ agent, modelOf }: WorkContext, job: ModelJob): number {
  const { model, inputTokens, contextTokens: learnt = Infinity } = job
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
export async function createSummaryRequest(
  context: WorkContext,
  session: string,
  stored: readonly StoredMessage[],
): Promise<ModelRequest> {
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
  agent: Agent,
): readonly ToolDeclaration[] {
  const own = tools
    .filter(({ name }) => name !== READ_RESULT || hasShortened(messages))
    .map(({ name, description, inputSchema, effect }) => ({ name, description, inputSchema, effect }))
  if (clientTools.length === 0) return own
  const names = new Set(own.map((tool) => tool.name))
  return [
    ...own,
    ...clientTools
      .filter((tool) => !names.has(tool.name))
      .map(({ name, description, inputSchema, effect }) => ({
        name,
        description,
        // The front that receives `client-tools` checks it: the root is an object.
        inputSchema: declareInput(agent, name, inputSchema as ToolDeclaration['inputSchema']),
        effect,
      })),
  ]
}

/** A client's tool has the argument for the background if the agent says so, and the tool leaves it free. */
function declareInput(
  agent: Agent,
  name: string,
  schema: ToolDeclaration['inputSchema'],
): ToolDeclaration['inputSchema'] {
  if (findBackground(agent, name) !== 'model' || hasFlag(schema)) return schema
  return withFlag(name, schema)
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

/** Characters to show. With the handle they stay below the machine's `RULES.movedChars`. */
const SHOWN_CHARS = 1000
/** Matches the end of a piece of a longer text, which the store already has. */
const KEPT_PIECE = new RegExp(
  String.raw`\n\[characters (\d+) to \d+ of (\d+)\. Read on with ${READ_RESULT.replace('.', String.raw`\.`)} \{"handle":"([^"]+)","offset":\d+\}\]$`,
)

interface MediaReader {
  readonly blobs: BlobStore
  readonly timers: Timers
  readonly log: Logger
}

/** The loaded messages of one session. */
export class RequestMessages {
  /**
   * A message is the same object in every request, so that adapters keep its encoding. The reference is weak, since an
   * idle session need not hold the bytes; an object still in use is shared.
   */
  #loaded: WeakMap<StoredMessage, WeakRef<Message>> | undefined

  /** Replaces a missing blob with a text, and logs it. @throws BatonError `store_failed` */
  async load(session: string, messages: readonly StoredMessage[], reader: MediaReader): Promise<readonly Message[]> {
    if (messages.every(isInline)) return messages
    const known = new Map<StoredMessage, Message>()
    for (const message of messages) {
      const loaded = isInline(message) ? message : this.#loaded?.get(message)?.deref()
      if (loaded) known.set(message, loaded)
    }
    const handles = new Set(messages.flatMap((message) => (known.has(message) ? [] : listHandles(message))))
    const bytes = await readBlobs(session, [...handles], reader)
    return await mapSome(messages, async (message) => {
      const loaded = known.get(message) ?? inlineMessage(await showMoved(session, message, reader), bytes)
      if (!known.has(message)) this.#loaded = (this.#loaded ?? new WeakMap()).set(message, new WeakRef(loaded))
      return loaded
    })
  }
}

/** The bytes by handle, without missing blobs. */
async function readBlobs(
  session: string,
  handles: readonly string[],
  { blobs, timers, log }: MediaReader,
): Promise<ReadonlyMap<string, string>> {
  const bytes = new Map<string, string>()
  await mapSome(handles, async (handle) => {
    const text = await inTime(timers, () => blobs.get(session, nameMediaBlob(handle)))
    if (text === undefined) log.warn('an image or file of the history is missing in the store', { session, handle })
    else bytes.set(handle, text)
  })
  return bytes
}

function isInline(message: StoredMessage): message is Message {
  if (message.role === 'assistant') return true
  for (const part of message.parts) {
    if (part.type === 'result' && part.moved) return false
    for (const piece of part.type === 'result' ? part.content : [part])
      if (piece.type !== 'text' && piece.source.type === 'blob') return false
  }
  return true
}

function listHandles({ role, parts }: StoredMessage): readonly string[] {
  const handles: string[] = []
  if (role === 'assistant') return handles
  for (const part of parts)
    for (const piece of part.type === 'result' ? part.content : [part])
      if (piece.type !== 'text' && piece.source.type === 'blob') handles.push(piece.source.handle)
  return handles
}

function inlineMessage(message: StoredMessage, bytes: ReadonlyMap<string, string>): Message {
  const inline = (part: StoredPart): ContentPart => inlinePart(part, bytes)
  if (message.role === 'user') return { ...message, parts: message.parts.map(inline) }
  if (message.role === 'assistant') return message
  return { ...message, parts: message.parts.map((part) => ({ ...part, content: part.content.map(inline) })) }
}

function inlinePart(part: StoredPart, bytes: ReadonlyMap<string, string>): ContentPart {
  if (part.type === 'text') return part
  const { source } = part
  if (source.type !== 'blob') return { ...part, source }
  const data = bytes.get(source.handle)
  if (data !== undefined) return { ...part, source: { type: 'base64', data } }
  return { type: 'text', text: `[${part.type === 'image' ? 'an image' : 'a file'} is missing here]` }
}

/** Stores the full texts first. If the store fails, the model reads that the rest could not be kept. */
export async function showMoved<Stored extends StoredMessage>(
  session: string,
  message: Stored,
  store: { readonly blobs: BlobStore; readonly timers: Timers },
): Promise<Stored> {
  if (message.role !== 'tool') return message
  const parts = await Promise.all(
    message.parts.map(async ({ moved, ...part }) => {
      // The note that a person changed the arguments goes before the tool's own text.
      const notes = part.content.slice(0, -1)
      const piece = part.content.at(-1)
      if (!moved || piece?.type !== 'text') return part
      return { ...part, content: [...notes, await showBeginning(piece.text, `${part.callId}_0`, put)] }
    }),
  )
  return { ...message, parts }

  async function put(name: string, text: string): Promise<void> {
    await inTime(store.timers, () => store.blobs.put(session, name, text), 'a long result')
  }
}

async function showBeginning(text: string, handle: string, put: (name: string, text: string) => Promise<void>) {
  const [, from, of, kept] = KEPT_PIECE.exec(text) ?? []
  if (kept !== undefined)
    return showPiece(text, { chars: SHOWN_CHARS, from: Number(from), of: Number(of), handle: kept })
  try {
    await put(`result/${handle}`, text)
    return showPiece(text, { chars: SHOWN_CHARS, handle })
  } catch {
    return showPiece(text, { chars: SHOWN_CHARS })
  }
}

/** @throws BatonError `store_failed` */
export async function readConversation(
  context: WorkContext,
  session: string,
  messages: readonly StoredMessage[],
): Promise<readonly Message[]> {
  return (await context.requestMessages.load(session, messages, context)).map(copyMessage)
}

export function copyMessage(message: Message): Message {
  if (message.role === 'tool')
    return { ...message, parts: message.parts.map((part) => ({ ...part, content: part.content.map(copyPart) })) }
  if (message.role === 'user') return { ...message, parts: message.parts.map(copyPart) }
  return { ...message, parts: message.parts.map((part) => ({ ...part })) }
}

function copyPart(part: ContentPart): ContentPart {
  return part.type === 'text' ? { ...part } : { ...part, source: { ...part.source } }
}
