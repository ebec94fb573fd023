// The tools of an Effect AI toolkit, for Effect 3 (@effect/ai) or Effect 4 (effect/ai). Handlers come from the layer
// created by `toolkit.toLayer`; the toolkit itself decodes, runs and encodes.
import type { AskedCall, JsonObject, JsonValue, Schema, Tool, ToolContext } from '@baton/core/internal'
import { BatonError, tool, toJsonSchema } from '@baton/core/internal'
import type { ToolsSettings } from '../shared/tool-settings.ts'
import { checkSettings, settingsOf } from '../shared/tool-settings.ts'
import { readContent } from '../shared/content-parts.ts'
import { createUnreadList } from '../shared/unknown-here.ts'
import type { EffectPlace } from './effect-tool.ts'
import { provideCall, toStandardSchema } from './effect-tool.ts'
import { describeFailure } from './failure.ts'
import type { Opaque } from './library.ts'

/** The part of an Effect AI tool common to both versions. */
interface ToolkitTool {
  readonly name: string
  readonly description?: string
  readonly parametersSchema: Opaque
  /** Effect 4: a dynamic tool, whose parameters stay undecoded. */
  readonly jsonSchema?: JsonObject
  /** Effect 4. */
  readonly needsApproval?: boolean | ((input: unknown, about: object) => Opaque)
  /** Set for tools that a model provider runs. */
  readonly providerName?: string
  readonly annotations?: {
    readonly unsafeMap?: ReadonlyMap<string, unknown>
    readonly mapUnsafe?: ReadonlyMap<string, unknown>
  }
}

interface WithHandlers {
  /** Effect 3 returns a result, Effect 4 a stream of results. */
  readonly handle: (name: string, input: unknown, callId: string) => Opaque
}

interface Handled {
  readonly result?: unknown
  readonly encodedResult?: unknown
  /** Effect 4: the return value of the tool's `toModelOutput`, used instead of the result. */
  readonly modelOutput?: readonly unknown[]
  readonly isFailure?: boolean
  readonly preliminary?: boolean
}

/** @throws BatonError `invalid_tool`, `invalid_schema` */
export function readToolkit(toolkit: unknown, settings: ToolsSettings, place: EffectPlace): readonly Tool[] {
  const listed = isHolder(toolkit) ? (Reflect.get(toolkit, 'tools') as unknown) : undefined
  if (!isHolder(listed))
    throw new BatonError({
      code: 'invalid_tool',
      message: 'fromEffect: toolkit must be an Effect AI Toolkit with tools',
      hint: 'Use Toolkit.make(…) from @effect/ai or effect/ai.',
    })
  const tools = listed as Readonly<Record<string, ToolkitTool>> // a toolkit's own type
  checkSettings('fromEffect', settings, Object.keys(tools))
  return Object.entries(tools).map(([name, given]) => toBatonTool(toolkit, name, given, { settings, place }))
}

function toBatonTool(
  toolkit: Opaque,
  name: string,
  given: ToolkitTool,
  { settings, place }: { readonly settings: ToolsSettings; readonly place: EffectPlace },
): Tool {
  if (given.providerName !== undefined)
    throw new BatonError({
      code: 'invalid_tool',
      message: `fromEffect: "${name}" runs at a model provider (${given.providerName})`,
      hint: 'Remove it from the toolkit: provider-specific tools belong in the settings of the model.',
    })
  const input = given.jsonSchema ?? toStandardSchema(given.parametersSchema, place.module, true)
  const said = settingsOf(name, settings, { effect: readEffect(given), runsHere: true })
  const title = readAnnotation(given, 'Title')
  return tool({
    effect: readEffect(given),
    approval: readApproval(name, given, place),
    ...(typeof title === 'string' && { title: title.slice(0, 200) }),
    ...said,
    name,
    description: given.description ?? describeByInput(input),
    input,
    execute: async (written: unknown, context: ToolContext): Promise<unknown> => {
      const { Effect } = place.module.library
      // A toolkit is an Effect that returns its tools with the layer's handlers.
      const work = Effect.flatMap(toolkit, (kit) =>
        Effect.flatMap((kit as WithHandlers).handle(name, written, context.callId), (handled) =>
          readHandled(handled, context, place),
        ),
      )
      const last = (await place.services.run(provideCall(work, context, place), context)) as Handled | undefined // see `readHandled`
      if (last?.isFailure === true)
        throw new BatonError({ code: 'tool_failed', message: describeFailure(last.result), cause: last.result })
      return last?.modelOutput ? readContent(name, last.modelOutput) : last?.encodedResult
    },
  })
}

/** An Effect of the last result; earlier ones are progress. */
function readHandled(handled: unknown, context: ToolContext, { module }: EffectPlace): Opaque {
  const { Effect, Stream } = module.library
  if (isHolder(handled) && 'encodedResult' in handled) return Effect.sync(() => handled)
  let last: Handled | undefined
  const reading = Stream.runForEach(handled, (item) =>
    Effect.sync(() => {
      const read = item as Handled // the items of a toolkit's stream
      if (read.preliminary === true)
        context.progress(read.encodedResult as JsonValue) // encoded by its schema
      else last = read
    }),
  )
  return Effect.flatMap(reading, () => Effect.sync(() => last))
}

function readEffect(given: ToolkitTool): Tool['effect'] {
  if (readAnnotation(given, 'Readonly') === true) return 'pure'
  return readAnnotation(given, 'Idempotent') === true ? 'idempotent' : 'once'
}

function readAnnotation({ annotations }: ToolkitTool, name: string): unknown {
  const known = annotations?.mapUnsafe ?? annotations?.unsafeMap
  return known?.get(`effect/ai/Tool/${name}`) ?? known?.get(`@effect/ai/Tool/${name}`)
}

function readApproval(
  name: string,
  { needsApproval, parametersSchema }: ToolkitTool,
  place: EffectPlace,
): Tool['approval'] {
  if (typeof needsApproval !== 'function') return needsApproval ?? false
  const { schemas, library } = place.module
  const hint = 'Set approval in byName, or an approvalPolicy on the agent.'
  return async (written: unknown, { callId }: AskedCall): Promise<boolean> => {
    const decoded = await schemas.decode(parametersSchema, written)
    const about = {
      toolCallId: callId,
      messages: createUnreadList({ what: 'the conversation in needsApproval (messages)', tool: name, hint }),
    }
    const asked = needsApproval(decoded.issues ? written : decoded.value, about)
    // Any truthy value requires approval; a promise is awaited.
    return Boolean(
      library.Effect.isEffect(asked) ? await place.services.run(asked, createUnwatched(callId)) : await asked,
    )
  }
}

/** Only the host's own time limit ends this check. */
function createUnwatched(callId: string): Pick<ToolContext, 'signal' | 'log' | 'callId'> {
  return { signal: new AbortController().signal, log: { info: () => {}, warn: () => {} }, callId }
}

function describeByInput(input: Schema): string {
  try {
    const { description } = toJsonSchema(input)
    return typeof description === 'string' ? description : ''
  } catch {
    return '' // `tool` says why
  }
}

function isHolder(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}
