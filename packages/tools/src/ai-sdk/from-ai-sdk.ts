// Converts tools written for the AI SDK to Baton tools.
import type { AskedCall, JsonValue, Tool, ToolContext } from '@baton/core/internal'
import { BatonError, checkFields, checkKinds, describeValue, isJsonObject, tool } from '@baton/core/internal'
import type { ToolsSettings } from '../shared/tool-settings.ts'
import { checkSettings, settingsOf, TOOL_SETTINGS } from '../shared/tool-settings.ts'
import { invalidOutput, readContent } from '../shared/content-parts.ts'
import { refuseRead } from '../shared/unknown-here.ts'
import type { AiSdkTool, ReadTool } from './ai-sdk-tool.ts'
import { callOptional, readAiSdkTool } from './ai-sdk-tool.ts'
import type { AiSdkVersion, ModelMessage } from './model-messages.ts'
import { toModelMessages } from './model-messages.ts'
import { readModelOutput } from './model-output.ts'
import { decodeBy, readAiSdkSchema } from './schema.ts'

/** The call that is passed to `around` and `options`. */
export interface AroundCall {
  readonly name: string
  readonly input: unknown
  readonly context: ToolContext
}

/** Options of `fromAiSdk`. */
export interface AiSdkOptions<Name extends string = string> extends ToolsSettings<Name> {
  /** Wraps each run; must call `run` and return its result. For AsyncLocalStorage, transactions, spans. */
  readonly around?: (run: () => Promise<unknown>, call: AroundCall) => unknown
  /**
   * Adds fields to the second argument of `execute`. By default, `context` (version 7) and `experimental_context` (5
   * and 6) are `context.services`, and `messages` is the conversation in the session's window.
   */
  readonly options?: (call: AroundCall) => object | Promise<object>
  /**
   * Set to 5 for version 5 tools: their `toModelOutput` takes the bare output, and images in results within `messages`
   * differ.
   */
  readonly version?: AiSdkVersion
}

/** A tool set of the AI SDK, as for `generateText({ tools })`. */
export type AiSdkTools = Readonly<Record<string, AiSdkTool>>

const FIELDS: ReadonlySet<string> = new Set(['around', 'options', 'version', 'byName', ...TOOL_SETTINGS])
const KINDS = { around: 'a function', options: 'a function', byName: 'an object' } as const
const ELSEWHERE = {
  context: 'options: () => ({ context: … }) sets the context of tools',
  messages: 'tools get the conversation of their session; options: () => ({ messages: … }) sets a different one',
  needsApproval: 'approval',
  toolApproval: 'approval',
}

/**
 * Converts a set of AI SDK tools, version 4 to 7. A tool without `execute` becomes a client tool. Errors thrown by a
 * tool are shown to the model. Values that `execute` yields before the last one become progress.
 * @throws BatonError `invalid_tool`, `invalid_schema`
 */
export function fromAiSdk<const Tools extends AiSdkTools>(
  tools: Tools,
  options: AiSdkOptions<Extract<keyof Tools, string>> = {},
): readonly Tool<Extract<keyof Tools, string>>[] {
  if (!isJsonObject(tools))
    throw new BatonError({
      code: 'invalid_tool',
      message: `fromAiSdk takes an object of tools by name, not ${describeValue(tools)}`,
    })
  checkSet(tools)
  checkFields(options, { what: 'fromAiSdk', code: 'invalid_tool', fields: FIELDS, elsewhere: ELSEWHERE })
  checkKinds(options, { what: 'fromAiSdk', code: 'invalid_tool', kinds: KINDS })
  if (options.version !== undefined && ![4, 5, 6, 7].includes(options.version))
    throw new BatonError({
      code: 'invalid_tool',
      message: `fromAiSdk: version must be 4, 5, 6 or 7, not ${describeValue(options.version)}`,
    })
  checkSettings('fromAiSdk', options, Object.keys(tools))
  return Object.entries(tools).map(([name, given]) =>
    toBatonTool(readAiSdkTool(name, given), options),
  ) as unknown as readonly Tool<Extract<keyof Tools, string>>[] // named after the set's keys
}

/** Rejects a single tool or a promise, whose fields would pass for tools. @throws BatonError `invalid_tool` */
function checkSet({ execute, description, then }: Readonly<Record<string, unknown>>): void {
  const wrong = (what: string, hint: string): BatonError =>
    new BatonError({
      code: 'invalid_tool',
      message: `fromAiSdk takes an object of tools by name, not ${what}`,
      hint,
    })
  if (typeof then === 'function') throw wrong('a promise', 'Await it first, such as fromAiSdk(await client.tools()).')
  if (typeof execute === 'function' || typeof description === 'string')
    throw wrong('one tool', 'Write fromAiSdk({ name: tool }), with the name that the model should use.')
}

function toBatonTool(read: ReadTool, options: AiSdkOptions): Tool {
  const { name, given, description, title, execute } = read
  const what = `fromAiSdk: "${name}"`
  const input = readAiSdkSchema(`${what}: its input schema`, read.input)
  const said = {
    approval: readApproval(read, options),
    ...(title !== undefined && { title }),
    ...settingsOf(name, options, { runsHere: execute !== undefined }),
  }
  if (execute) {
    const run = (value: unknown, context: ToolContext): Promise<unknown> =>
      runTool({ ...read, execute }, value, context, options)
    return tool({ ...said, name, description, input, execute: run })
  }
  // Nothing else validates a client's output.
  const output =
    given.outputSchema === undefined ? undefined : readAiSdkSchema(`${what}: its output schema`, given.outputSchema)
  return tool({ ...said, name, description, input, ...(output && { output }) })
}

function readApproval(read: ReadTool, options: AiSdkOptions): Tool['approval'] {
  const { name, needsApproval } = read
  if (typeof needsApproval === 'boolean') return needsApproval
  const hint = 'Set approval in byName, or an approvalPolicy on the agent.'
  const refuse = (what: string): never => refuseRead({ what: `${what} in needsApproval`, tool: name, hint })
  return async (input: unknown, call: AskedCall): Promise<boolean> => {
    const unknown = {
      get context() {
        return refuse('its context')
      },
      get experimental_context() {
        return refuse('its context (experimental_context)')
      },
    }
    const services = options.options
      ? unknown
      : { experimental_context: call.services, ...(await createContextOf(read, call.services)) }
    const about = extend({ toolCallId: call.callId }, services, await createMessages(read, call, options))
    // As in the SDK, any truthy value requires approval.
    return Boolean(await needsApproval(input, about))
  }
}

type Runnable = ReadTool & Required<Pick<ReadTool, 'execute'>>

async function runTool(read: Runnable, input: unknown, context: ToolContext, options: AiSdkOptions): Promise<unknown> {
  const { name, given, execute } = read
  const call: AroundCall = { name, input, context }
  const about = await createAbout(read, call, options)
  const run = async (): Promise<unknown> => {
    await callOptional(given, 'onInputAvailable', [extend(about, { input })])
    return readLast(execute(input, about), context)
  }
  const output = await (options.around ? options.around(run, call) : run())
  if (given.experimental_toToolResultContent !== undefined) {
    const parts = callOptional(given, 'experimental_toToolResultContent', [output])
    return readContent(name, Array.isArray(parts) ? parts : [parts])
  }
  if (given.toModelOutput === undefined) return output
  const asked = options.version === 5 ? output : { toolCallId: context.callId, input, output }
  const said = await sayToModel(read, asked)
  return readModelOutput(name, isJsonObject(said) && said['value'] === asked && asked !== output ? undefined : said)
}

/** @throws BatonError `result_invalid` if it throws, as version 5 tools do without `version: 5` */
async function sayToModel({ name, given }: ReadTool, asked: unknown): Promise<unknown> {
  try {
    return await callOptional(given, 'toModelOutput', [asked])
  } catch (cause) {
    throw invalidOutput(
      name,
      `its toModelOutput threw: ${cause instanceof Error ? cause.message : describeValue(cause)}`,
    )
  }
}

/** Creates the second argument of `execute`. */
async function createAbout(read: ReadTool, call: AroundCall, options: AiSdkOptions): Promise<object> {
  const { context } = call
  const given = await options.options?.(call)
  const services = given && 'context' in given ? given.context : context.services
  return extend(
    { toolCallId: context.callId, abortSignal: context.signal },
    given && 'messages' in given ? {} : await createMessages(read, context, options),
    { experimental_context: context.services },
    given ?? {},
    await createContextOf(read, services),
  )
}

/** The context, validated by the tool's own schema if it has one. @throws BatonError `tool_failed` */
async function createContextOf({ name, given }: ReadTool, context: unknown): Promise<{ readonly context: unknown }> {
  if (given.contextSchema === undefined) return { context }
  const schema = readAiSdkSchema(`"${name}": its context schema`, given.contextSchema)
  return { context: await decodeBy(`the context of "${name}"`, schema, context) }
}

/**
 * The conversation, which most tools never read. It is converted to the AI SDK's format only on access, and only a tool
 * that reads it fails if the store fails.
 */
async function createMessages(
  { given }: ReadTool,
  call: Pick<ToolContext, 'messages'>,
  { version }: AiSdkOptions,
): Promise<{ readonly messages: readonly ModelMessage[] }> {
  const loading = await Promise.allSettled([call.messages()])
  let made: readonly ModelMessage[] | undefined
  return {
    get messages() {
      const [loaded] = loading
      if (loaded.status === 'rejected') throw loaded.reason
      return (made ??= toModelMessages(loaded.value, version ?? (given.parameters === undefined ? 7 : 4)))
    },
  }
}

/** Merges all fields into one object; later ones win. Unlike a spread, it does not invoke getters. */
function extend(...all: readonly object[]): object {
  const fields: PropertyDescriptorMap = {}
  for (const one of all) Object.assign(fields, Object.getOwnPropertyDescriptors(one))
  return Object.defineProperties({}, fields)
}

/** Returns the last yielded value; every value is reported as progress. */
async function readLast(result: unknown, context: ToolContext): Promise<unknown> {
  if (!isAsyncIterable(result)) return result
  let last: unknown
  for await (const value of result) {
    context.signal.throwIfAborted()
    context.progress(value as JsonValue) // Baton logs values that are not JSON and does not show them
    last = value
  }
  return last
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}
