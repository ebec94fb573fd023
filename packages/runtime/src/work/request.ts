// Materialises a model request: the agent's instructions and tools, and the history between two entries.
import type { Agent, JsonObject, Message, Model, ModelRequest, StoredMessage, Tool, ToolDeclaration } from '@baton/core'
import type { ClientToolSpec, History } from '@baton/core/machine'
import type { CallModel, ModelJob, Summarise } from './jobs.ts'
import { READ_RESULT } from './tool-result.ts'

const OUT_OF_ROUNDS = 'The tool rounds of this turn are used up. Answer now from what you have, without calling tools.'
const SAY_SOMETHING = 'Your last answer was empty. Answer now.'
const OUTPUT = 'Your final answer must be one JSON value and nothing else, no code block. It must fit this JSON Schema:'
const SUMMARISE =
  'Summarise the conversation so far in two or three sentences. Keep findings, the files and sessions that were ' +
  'looked at, decisions, and what is still open. Write only the summary.'

export interface RequestContext {
  readonly agent: Agent
  readonly model: Model
  readonly tools: readonly Tool[]
  readonly history: Pick<History, 'messages'>
  /** Puts the bytes in place of handles. @throws BatonError `store_failed` */
  readonly load: (messages: readonly StoredMessage[]) => Promise<readonly Message[]>
}

/** @throws BatonError `store_failed` */
export async function createRequest(context: RequestContext, job: ModelJob): Promise<ModelRequest> {
  const { effect } = job
  if (effect.type === 'summarise') return createSummaryRequest(context, job, effect)
  const request = await createStepRequest(context, job, effect)
  return context.agent.outputSchema ? addOutput(context, request, context.agent.outputSchema) : request
}

/** The schema goes to the provider where it keeps answers to it, else into the instructions. */
function addOutput({ agent, model }: RequestContext, request: ModelRequest, schema: JsonObject): ModelRequest {
  const { name } = agent
  const { output = 'none' } = model.capabilities
  if (output === 'native' || (output === 'without-tools' && request.tools.length === 0))
    return { ...request, output: { name, schema } }
  const asked = `${OUTPUT}\n${JSON.stringify(schema)}`
  return { ...request, instructions: [request.instructions, asked].filter((part) => part !== '').join('\n\n') }
}

async function createStepRequest(
  { agent, tools, history, load }: RequestContext,
  { session, settings, clientTools }: ModelJob,
  effect: CallModel,
): Promise<ModelRequest> {
  const messages = await load(history.messages(effect.fromEntry, effect.toEntry))
  const note = effect.choice === 'none' ? OUT_OF_ROUNDS : effect.again ? SAY_SOMETHING : undefined
  return {
    instructions: agent.instructions,
    messages: note === undefined ? messages : [...messages, userText(note)],
    tools: declareTools(tools, clientTools, messages),
    toolChoice: { type: effect.choice },
    settings: { ...agent.settings, ...settings },
    session,
  }
}

/** Calls and results read as text: a summary needs no tools, and no provider refuses it. */
function createSummaryRequest(
  { agent, history }: RequestContext,
  { session }: ModelJob,
  effect: Summarise,
): ModelRequest {
  const told = history.messages(effect.fromEntry, effect.toEntry).map(describeMessage).join('\n\n')
  return {
    instructions: SUMMARISE,
    messages: [userText(told)],
    tools: [],
    toolChoice: { type: 'none' },
    settings: { ...agent.settings, maxOutputTokens: 512 },
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
  const own = tools.filter((tool) => tool.name !== READ_RESULT || readsOn(messages))
  const names = new Set(own.map((tool) => tool.name))
  return [
    ...own.map(({ name, description, inputSchema, effect }) => ({ name, description, inputSchema, effect })),
    ...clientTools
      .filter((tool) => !names.has(tool.name))
      .map(({ name, description, inputSchema, effect }) => ({
        name,
        description,
        // `client-tools` is checked by the front that brings them: the root is an object.
        inputSchema: inputSchema as ToolDeclaration['inputSchema'],
        effect,
      })),
  ]
}

/** Whether a shortened result is in sight. */
function readsOn(messages: readonly Message[]): boolean {
  return messages.some(
    (message) =>
      message.role === 'tool' &&
      message.parts.some((part) =>
        part.content.some(
          (piece) => piece.type === 'text' && piece.text.endsWith('}]') && piece.text.includes(READ_RESULT),
        ),
      ),
  )
}
