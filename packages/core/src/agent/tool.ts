// Tools offered to models. A tool with `execute` runs in the server; without it, a connected client runs the tool.
import type { JsonObject } from '../json.ts'
import type { ErrorCode } from '../error-codes.ts'
import { BatonError } from '../errors.ts'
import { checkDeciders } from './check-deciders.ts'
import type { Deciders, TaskOperation } from '../machine/values.ts'
import { BACKGROUND_FLAG } from '../machine/task-bodies.ts'
import { EffectClass, InterruptPolicy, WakePolicy } from '../machine/values.ts'
import type { InputOf, OutputOf, Schema, StandardSchema } from './schema.ts'
import type { FieldIsNamed, FieldKind } from '../shape/known-fields.ts'
import { checkFields, checkKinds } from '../shape/known-fields.ts'
import type { ReturnsJson, ToolContent, ToolResult } from './result-type.ts'
import { TOOL_ELSEWHERE } from './names-elsewhere.ts'
import { readObjectSchema, listWarnings, warnOfSchema } from './schema.ts'
import type { AskedCall, ToolContext } from './tool-context.ts'
import type { CallDescription, DelegateRules, ToolRetry, Trust, WaitingOptions } from './tool-options.ts'
import { checkRetry, checkWaiting, ToolKind } from './tool-options.ts'
import { describeValue } from '../shape/value-reader.ts'

export type { EffectClass, InterruptPolicy, PlanEntry, WakePolicy } from '../machine/values.ts'
export type { AskedCall, Generated, GenerateRequest, Logger, Question, ToolContext } from './tool-context.ts'
export type {
  CallDescription,
  DelegateLimits,
  DelegateRules,
  ToolKind,
  ToolRetry,
  Trust,
  WaitingOptions,
  WaitingWords,
} from './tool-options.ts'
export type { ToolContent, ToolResult } from './result-type.ts'
export { WAITING_CHARS_MAX } from './tool-options.ts'

/** Options that all tools share. */
export interface ToolBase<Name extends string, Input extends Schema, Output extends Schema> {
  /** Any name, such as `agent.spawn`. Adapters encode it for each provider. */
  readonly name: Name
  /** Tells the model what the tool does and when to call it. */
  readonly description: string
  /**
   * A JSON Schema, or a Standard Schema that can describe itself as one: Zod 4.2, ArkType, Valibot through
   * `toStandardJsonSchema`.
   */
  readonly input: Input
  /** Schema of the result; a result that does not fit is an error for the model (`result_invalid`). */
  readonly output?: Output
  /** `once` by default, the safe assumption. */
  readonly effect?: EffectClass
  /** Milliseconds until the call settles as timed-out, whatever the tool does; 30 s by default. */
  readonly timeoutMs?: number
  /**
   * For a client-run tool: milliseconds that a call waits while no client can run it; 0 means it fails at once.
   * Defaults to `limits.awayMs`, 10 minutes.
   */
  readonly awayMs?: number
  /** Whether it may run at the same time as other calls. True by default. */
  readonly parallel?: boolean
  /** Whether a person must approve a call first: true, or a function of the validated arguments. */
  readonly approval?: boolean | ((input: OutputOf<Input>, call: AskedCall) => boolean | Promise<boolean>)
  /**
   * People who decide when a call has to be approved, instead of the session's own principal: `{ roles: ['manager'] }`,
   * `{ people: ['mia', 'tom', 'eve'], needed: 2 }`, `{ notAsker: true }`. Needs `approval`, which may be false if only a
   * policy asks.
   */
  readonly deciders?: Deciders
  /**
   * How to handle the running tool when the user interrupts. `cancel` stops it. `finish` lets it run until two seconds
   * after the next input. `background` answers the next input at once, and the tool continues as a task, as with
   * `background: true`. `detach` is like it, but a note tells the model the outcome with the next input, and the tool ends
   * with its process; it requires `execute`. Defaults to `cancel` for pure tools, else `finish`.
   */
  readonly onInterrupt?: InterruptPolicy
  /**
   * True: its calls run in the background. A receipt answers the model at once, and the outcome wakes the session later.
   * `model`: the model decides for each call, by an optional argument `run_in_background`. Not with `parallel: false` or
   * `endsTurn`. False by default.
   */
  readonly background?: boolean | 'model'
  /** How the model learns of a task's end: `turn` (default) begins a turn if none runs; `note` waits for the next input. */
  readonly wake?: WakePolicy
  /** Words for a voice to say when a call takes longer than `afterMs`. They are not part of the conversation. */
  readonly waiting?: WaitingOptions<OutputOf<Input>>
  /** Retries after a transient failure, for a pure or idempotent tool with `execute`. None by default. */
  readonly retry?: ToolRetry
  /**
   * True if an `ok` result ends the turn, with `stop: 'tool'`: the other calls of its step settle first, and the model
   * is not asked again. After any other result the turn continues.
   */
  readonly endsTurn?: boolean
  /**
   * True if the tool waits for something by being called repeatedly, so that repeated calls with the same result are
   * not treated as a loop.
   */
  readonly polls?: boolean
  /**
   * True: hidden from the model until it finds the tool with `tools.search`. False: always shown. By default tools are
   * shown unless there are more than 30, or their schemas take more than a fifth of the model's window.
   */
  readonly defer?: boolean
  /** Display name for people; `name` by default. */
  readonly title?: string
  /** Kind of work, for people. */
  readonly kind?: ToolKind
  /** Describes one call for people, from its validated input. Errors are logged, and nothing is shown. */
  readonly describe?: (input: OutputOf<Input>) => CallDescription
  /** `trusted` by default. Policies see results of an untrusted tool as such. */
  readonly trust?: Trust
  /**
   * False: whatever the host runs for it reaches nothing beyond this machine, including programs it starts. Absent: it
   * may, so an agent whose permissions forbid the network does not get it.
   */
  readonly network?: boolean
  /**
   * Codes of the errors that `execute` throws, for people. Any tool may also fail as described for `timeoutMs`, `input`
   * and `output`.
   */
  readonly errors?: readonly ErrorCode[]
}

/** The options of `tool()`. With `execute` the host runs the tool; without it, a connected client does. */
export interface ToolOptions<Name extends string, Input extends Schema, Output extends Schema, Run, RunFallback>
  extends ToolBase<Name, Input, Output>, MisnamedToolFields {
  /** Runs one call. `context.services` is what the host was given: annotate it as `context: ToolContext<Services>`. */
  readonly execute?: Run | undefined
  /**
   * Like `execute`, but runs on the host if no client takes the call within `awayMs`. Never runs for a call that a
   * client has claimed, or that went to an app that does not claim (protocol version 1); such a call ends as it would
   * without a fallback.
   */
  readonly fallback?: RunFallback | undefined
}

/** Names that other libraries use, so that the compiler's error is at the field and says its name here. */
interface MisnamedToolFields {
  /** @deprecated The field is `input`. */
  readonly inputSchema?: FieldIsNamed<'input'>
  /** @deprecated The field is `input`. */
  readonly parameters?: FieldIsNamed<'input'>
  /** @deprecated The field is `output`. */
  readonly outputSchema?: FieldIsNamed<'output'>
  /** @deprecated The field is `approval`. */
  readonly needsApproval?: FieldIsNamed<'approval'>
}

/** The `execute` of a tool: takes validated input and the context, and returns the result or a promise of it. */
export type Execute<Input, Result, Services> = {
  // A method, so that a tool with any input is assignable to `Tool`. The host calls it with validated input.
  run(input: Input, context: ToolContext<Services>): Result
}['run']

/** A validated tool, created with `tool()`. */
export interface Tool<Name extends string = string, Input = unknown, Output = unknown> {
  readonly name: Name
  readonly description: string
  /** As the author gave it. */
  readonly input: Schema
  /** Draft 2020-12, whatever dialect `input` has. Calls are validated against it, and models receive it. */
  readonly inputSchema: JsonObject
  /** Parts of the input schema that are dropped or unchecked, at most 10; absent if there are none. */
  readonly schemaWarnings?: readonly string[]
  readonly output?: Schema
  readonly effect: EffectClass
  readonly timeoutMs: number
  readonly awayMs?: number
  readonly parallel: boolean
  readonly approval: boolean | ((input: unknown, call: AskedCall) => boolean | Promise<boolean>)
  readonly deciders?: Deciders
  readonly onInterrupt: InterruptPolicy
  readonly background?: boolean | 'model'
  readonly wake?: WakePolicy
  readonly waiting?: WaitingOptions
  readonly retry?: ToolRetry
  readonly polls?: boolean
  readonly endsTurn?: boolean
  readonly defer?: boolean
  readonly title?: string
  readonly kind?: ToolKind
  readonly describe?: (input: unknown) => CallDescription
  readonly trust?: Trust
  readonly errors?: readonly ErrorCode[]
  readonly network?: boolean
  /** Name of the source that provides it; absent for an agent's own tool. */
  readonly source?: string
  /** Absent if a connected client or another agent runs the tool. */
  readonly execute?: Execute<unknown, unknown, unknown> | undefined
  /** Present if another agent does the call, in a child session. */
  readonly delegation?: DelegateRules
  /** Present if the session itself runs it, about its tasks. */
  readonly operation?: TaskOperation['type']
  /** Only for a client-run tool: the host runs it if no client takes the call in time. */
  readonly fallback?: Execute<unknown, unknown, unknown>
  /** Type information only; always undefined at runtime. */
  readonly types?: { readonly input: Input; readonly output: Output }
}

/** A tool without `execute`, which a connected client runs. */
export interface ClientRunTool<Name extends string, Input, Output> extends Tool<Name, Input, Output> {
  readonly execute?: undefined
}

/** A tool with `execute`, which the host runs. */
export interface ServerRunTool<Input, Output, Services> extends Tool<string, Input, Output> {
  readonly execute: Execute<Input, ToolResult<Output>, Services>
}

/** A tool for the host or for a client. Without `execute`, `Result` is not inferred and equals its constraint. */
type ToolOf<Name extends string, Input extends Schema, Output extends Schema, Services, Result> =
  IsAny<Result> extends true
    ? ServerRun<Name, Input, Output, Services, Result>
    : [ToolResult<InputOf<Output>>] extends [Result]
      ? ClientRunTool<Name, OutputOf<Input>, InputOf<Output>>
      : ServerRun<Name, Input, Output, Services, Result>

/** Keeps the name, which events of its calls have. */
type ServerRun<Name extends string, Input extends Schema, Output extends Schema, Services, Result> = ServerRunTool<
  OutputOf<Input>,
  ResultType<InputOf<Output>, Result>,
  Services
> & { readonly name: Name }

/** The output schema's type; without a schema, the value that `execute` returns. */
type ResultType<Output, Result> = unknown extends Output ? ValueOf<Awaited<Result>> : Output

type ValueOf<T> = T extends ToolContent ? (T extends { readonly value: infer Value } ? Value : undefined) : T

/** Forbids `fallback` in a tool with `execute`. A function that is absent has the result `Constraint`. */
type OneRuns<Result, FallbackResult, Constraint> = [Constraint] extends [FallbackResult]
  ? unknown
  : [Constraint] extends [Result]
    ? unknown
    : { readonly fallback?: undefined }

type IsAny<T> = 0 extends 1 & T ? true : false

/** The schema of a tool without an output schema: anything. */
type Untold = StandardSchema

type Field = keyof ToolBase<string, Schema, Schema> | 'execute' | 'fallback'

/** Every field, with the kind of its value; a field without one has a check of its own below. */
const TOOL_FIELDS: Readonly<Record<Field, FieldKind | undefined>> = {
  name: undefined,
  description: undefined,
  input: undefined,
  output: undefined,
  effect: EffectClass.words,
  timeoutMs: undefined,
  awayMs: undefined,
  parallel: 'true or false',
  approval: 'true, false or a function',
  deciders: undefined,
  onInterrupt: InterruptPolicy.words,
  background: undefined,
  wake: WakePolicy.words,
  waiting: undefined,
  retry: undefined,
  polls: 'true or false',
  endsTurn: 'true or false',
  defer: 'true or false',
  title: 'text',
  kind: ToolKind.words,
  describe: 'a function',
  trust: ['trusted', 'untrusted'],
  errors: 'an array',
  network: 'true or false',
  execute: 'a function',
  fallback: 'a function',
}
const FIELD_NAMES = Object.keys(TOOL_FIELDS) as readonly Field[] // its own fields
const KNOWN = { fields: new Set<string>(FIELD_NAMES), elsewhere: TOOL_ELSEWHERE }

const TIMEOUT_MS = 30_000
const NAME_LENGTH_MAX = 256

/**
 * Defines a tool. With `execute` the host runs it; without it, a connected client does.
 * @throws BatonError `invalid_tool` (name, description, time-out), `invalid_schema`
 */
export function tool<
  const Name extends string,
  // These defaults apply if a field is missing or misnamed. They accept any `execute`, so the error is at that field.
  // oxlint-disable-next-line no-explicit-any -- with `unknown` the compiler would complain about `execute` instead
  const Input extends Schema = StandardSchema<any>,
  const Output extends Schema = Untold,
  Services = unknown,
  // A separate type parameter makes the compiler keep returned literals, such as `status: 'done'`.
  const Result extends ToolResult<InputOf<Output>> = ToolResult<InputOf<Output>>,
  const FallbackResult extends ToolResult<InputOf<Output>> = ToolResult<InputOf<Output>>,
>(
  init: ToolOptions<
    Name,
    Input,
    Output,
    (input: OutputOf<Input>, context: ToolContext<Services>) => Result,
    (input: OutputOf<Input>, context: ToolContext<Services>) => FallbackResult
  > &
    ReturnsJson<Result, 'execute'> &
    ReturnsJson<FallbackResult, 'fallback'> &
    OneRuns<Result, FallbackResult, ToolResult<InputOf<Output>>>,
): ToolOf<Name, Input, Output, Services, Result>
export function tool(init: unknown): unknown {
  const made = makeTool(init as AnyToolOptions) // it checks each field
  warnOfSchema(`tool "${made.name.slice(0, 100)}"`, made.schemaWarnings)
  return made
}

type AnyToolOptions = ToolBase<string, Schema, Schema> & Partial<Pick<Tool, 'execute' | 'fallback'>>

/**
 * Like `tool()`, for code that lists foreign tools and logs their `schemaWarnings` itself.
 * @throws BatonError `invalid_tool`, `invalid_schema`
 */
export function makeTool(init: AnyToolOptions): Tool {
  const what = typeof init?.name === 'string' ? `tool "${init.name.slice(0, 100)}"` : 'a tool without a name'
  checkFields(init, { what, code: 'invalid_tool', ...KNOWN })
  if (typeof init.name !== 'string')
    throw new BatonError({
      code: 'invalid_tool',
      message: `a tool needs a name, which is text, not ${describeValue(init.name)}`,
      hint: 'Set one, such as name: "weather". The model calls the tool by its name.',
    })
  if (typeof init.description !== 'string')
    throw wrong(
      init.name,
      `description must be text that tells the model when to call the tool, not ${describeValue(init.description)}`,
    )
  if (init.input === undefined)
    throw wrong(init.name, 'it has no input: a schema of Zod, Valibot or ArkType, or a JSON Schema with type "object"')
  if (init.name === '' || init.name.length > NAME_LENGTH_MAX)
    throw wrong(init.name, `name must have 1 to ${NAME_LENGTH_MAX} characters, not ${init.name.length}`)
  checkKinds(init, { what, code: 'invalid_tool', kinds: TOOL_FIELDS })
  const timeoutMs = init.timeoutMs ?? TIMEOUT_MS
  if (!Number.isFinite(timeoutMs) || timeoutMs <= 0)
    throw wrong(init.name, `timeoutMs must be a number above 0, not ${describeValue(timeoutMs)}`)
  const { awayMs } = init
  if (awayMs !== undefined && !(Number.isFinite(awayMs) && awayMs >= 0))
    throw wrong(init.name, `awayMs must be a number, 0 or more, not ${describeValue(awayMs)}`)
  if (awayMs !== undefined && init.execute)
    throw wrong(init.name, 'awayMs is for a tool that a client runs, but this one has execute')
  if (init.fallback && init.execute)
    throw wrong(init.name, 'fallback is for a tool that a client runs, but this one has execute')
  if (init.onInterrupt === 'detach' && !init.execute)
    throw wrong(init.name, 'onInterrupt: "detach" is for a tool with execute, but a client runs this one')
  checkBackground(init)
  if (init.deciders) checkDeciders(init)
  if (init.waiting !== undefined) checkWaiting(init.name, init.waiting)
  const effect = init.effect ?? 'once'
  if (init.retry !== undefined) checkRetry(init.name, init.retry, { effect, runsHere: init.execute !== undefined })
  const { schema: inputSchema, faults } = readObjectSchema(`tool "${init.name}"`, init.input)
  // Field by field, because an instance of a class may have its functions on its prototype.
  const given = FIELD_NAMES.flatMap((field) => (init[field] === undefined ? [] : [[field, init[field]]]))
  const made = {
    ...(Object.fromEntries(given) as AnyToolOptions), // its own fields
    inputSchema: init.background === 'model' ? withFlag(init.name, inputSchema) : inputSchema,
    ...(faults.length > 0 && { schemaWarnings: listWarnings(faults) }),
    effect,
    timeoutMs,
    parallel: init.parallel ?? true,
    approval: init.approval ?? false,
    onInterrupt: init.onInterrupt ?? (effect === 'pure' ? 'cancel' : 'finish'),
  }
  return made as Tool // its functions get validated input
}

function wrong(name: string, why: string): BatonError {
  return new BatonError({ code: 'invalid_tool', message: `tool "${name}": ${why}` })
}

/** Adds the argument to a schema that a model is shown. @throws BatonError `invalid_tool` if the tool has one of that name */
export function withFlag(name: string, schema: JsonObject): JsonObject {
  const { properties = {} } = schema as { readonly properties?: JsonObject }
  if (BACKGROUND_FLAG in properties)
    throw wrong(name, `background: "model" needs the argument "${BACKGROUND_FLAG}" for itself`)
  const description = 'True: it runs in the background. You get a receipt at once, and its outcome later.'
  return { ...schema, properties: { ...properties, [BACKGROUND_FLAG]: { type: 'boolean', description } } }
}

function checkBackground({ name, background = false, parallel = true, endsTurn }: AnyToolOptions): void {
  if (typeof background !== 'boolean' && background !== 'model')
    throw wrong(name, `background must be true, false or "model", not ${describeValue(background)}`)
  if (background === false) return
  if (!parallel) throw wrong(name, 'a tool with parallel: false runs alone, so it cannot run in the background')
  if (endsTurn)
    throw wrong(name, 'endsTurn ends a turn with the result of a call, and a call in the background has none yet')
}

/** Says who runs a tool: the host, a connected client, another agent in a child session, or the session itself. */
export function runsWhere({
  execute,
  delegation,
  operation,
}: Pick<Tool, 'execute' | 'delegation' | 'operation'>): 'server' | 'client' | 'child' | 'machine' {
  if (operation) return 'machine'
  if (delegation) return 'child'
  return execute ? 'server' : 'client'
}
