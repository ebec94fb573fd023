// A tool whose work is an Effect: its definition, and the Baton tool it becomes.
import type { StandardSchema, Tool, ToolContext, WaitingOptions } from '@baton/core/internal'
import { BatonError, checkFields, checkKinds, tool } from '@baton/core/internal'
import type { SettingsOfTool, ToolSettings } from '../shared/tool-settings.ts'
import { TOOL_SETTINGS } from '../shared/tool-settings.ts'
import type { EffectServices } from './effect-services.ts'
import type { EffectSchema, RequiredBy, SuccessOf } from './effect-types.ts'
import { describeFailure } from './failure.ts'
import type { EffectModule, Opaque } from './library.ts'

/** Options of `effectTool`: as those of `tool`, with schemas of Effect and an `execute` that returns an Effect. */
export interface EffectToolOptions<Input extends EffectSchema, Output extends EffectSchema, Made> extends Omit<
  ToolSettings,
  'approval' | 'waiting' | 'awayMs'
> {
  readonly name: string
  /** Text that tells the model when to call it. */
  readonly description: string
  /** An Effect schema that needs no services, with a struct at the root. Decodes the arguments for `execute`. */
  readonly input: Input
  /** Encodes the result. A result that does not match is an error for the model (`result_invalid`). */
  readonly output?: Output
  /** Creates the Effect that does the work. A typed failure reaches the model with its tag and its message. */
  readonly execute: (input: Input['Type'], context: ToolContext) => Made & Fitting<SuccessOf<Made>, Output['Type']>
  readonly approval?: boolean | ((input: Input['Type']) => boolean | Promise<boolean>)
  readonly waiting?: WaitingOptions<Input['Type']>
}

/** Names the mismatched result in the compiler's message. */
type Fitting<Success, Output> = [Success] extends [Output]
  ? unknown
  : { readonly 'a result that matches the output': Output }

/** Created by `effectTool`; `Requires` are the services that its Effect needs. */
export interface EffectTool<out Requires = never> {
  readonly name: string
  readonly init: AnyEffectToolOptions
  /** For the compiler only: never set at runtime. */
  readonly types?: { readonly requires: Requires }
}

/** The untyped definition, after the compiler has checked it. */
export interface AnyEffectToolOptions extends Omit<SettingsOfTool, 'approval'> {
  readonly name: string
  readonly description: string
  readonly input: Opaque
  readonly output?: Opaque
  readonly execute: (input: never, context: ToolContext) => Opaque
  readonly approval?: boolean | ((input: never) => boolean | Promise<boolean>)
}

const FIELDS: ReadonlySet<string> = new Set(['name', 'description', 'input', 'output', 'execute', ...TOOL_SETTINGS])

/** Defines a tool for `fromEffect`. */
export function effectTool<const Input extends EffectSchema, Made, const Output extends EffectSchema = AnySchema>(
  init: EffectToolOptions<Input, Output, Made>,
): EffectTool<RequiredBy<Made>> {
  const what = typeof init?.name === 'string' ? `the Effect tool "${init.name.slice(0, 100)}"` : 'an Effect tool'
  checkFields(init, {
    what,
    code: 'invalid_tool',
    fields: FIELDS,
    elsewhere: { parameters: 'input', success: 'output' },
  })
  checkKinds(init, { what, code: 'invalid_tool', kinds: { name: 'text', execute: 'a function' } })
  return { name: init.name, init: init as AnyEffectToolOptions } // its input type was only for the compiler
}

interface AnySchema extends EffectSchema {
  readonly Type: unknown
}

export interface EffectPlace {
  readonly module: EffectModule
  readonly services: EffectServices
  /** Tag that gives Effects the context of their call. */
  readonly call?: Opaque
}

/** @throws BatonError `invalid_tool`, `invalid_schema` */
export function toBatonTool({ name, init }: EffectTool<unknown>, place: EffectPlace): Tool {
  if (typeof init !== 'object' || init === null)
    throw new BatonError({
      code: 'invalid_tool',
      message: `fromEffect: the tool "${String(name).slice(0, 100)}" was not created by effectTool`,
      hint: 'Write effectTool({ name, description, input, execute }), or pass a tool created by tool() directly to the agent.',
    })
  checkSchema(`tool "${init.name}": input`, init.input, place)
  if (init.output !== undefined) checkSchema(`tool "${init.name}": output`, init.output, place)
  const { input, output, execute, approval, ...rest } = init
  const { schemas, library } = place.module
  const { Effect } = library
  return tool({
    ...rest,
    ...(approval !== undefined && { approval: approval as NonNullable<SettingsOfTool['approval']> }), // decoded
    input: toStandardSchema(input, place.module),
    execute: async (given: unknown, context: ToolContext): Promise<unknown> => {
      const work = Effect.suspend(() => checkEffect(init.name, execute(given as never, context), place)) // decoded
      const encoded =
        output === undefined
          ? work
          : Effect.flatMap(work, (value) => encode(init.name, schemas.encode(output, value), place))
      return place.services.run(provideCall(encoded, context, place), context)
    },
  })
}

/**
 * Rejects Zod, JSON Schema and schemas of the other Effect version, for which Effect's own error would be unclear.
 * @throws BatonError `invalid_schema`
 */
function checkSchema(what: string, schema: Opaque, { module }: EffectPlace): void {
  if (module.library.Schema.isSchema(schema)) return
  throw new BatonError({
    code: 'invalid_schema',
    message: `${what} is not a schema of the Effect module passed to fromEffect`,
    hint: 'Write Schema.Struct({ … }), using Schema from the same version of Effect.',
  })
}

/** The schema of the model's arguments. `keep` leaves them undecoded, for a program that decodes them itself. */
export function toStandardSchema(schema: Opaque, { schemas }: EffectModule, keep = false): StandardSchema {
  const describe = (): Record<string, unknown> => ({ ...schemas.describe(schema) })
  return {
    '~standard': {
      version: 1,
      vendor: 'effect',
      validate: async (value) => {
        const decoded = await schemas.decode(schema, value)
        return decoded.issues || !keep ? decoded : { value }
      },
      jsonSchema: { input: describe, output: describe },
    },
  }
}

export function provideCall(work: Opaque, context: ToolContext, { call, module }: EffectPlace): Opaque {
  return call === undefined ? work : module.library.Effect.provideService(work, call, context)
}

/** @throws BatonError `result_invalid` */
function checkEffect(name: string, made: Opaque, { module }: EffectPlace): Opaque {
  if (module.library.Effect.isEffect(made)) return made
  throw new BatonError({
    code: 'result_invalid',
    message: `execute of "${name}" must return an Effect of the module passed to fromEffect`,
    hint: 'Return an Effect, such as Effect.gen(…) or Effect.promise(…), and pass the module that it was created with.',
  })
}

function encode(name: string, encoding: Opaque, { module }: EffectPlace): Opaque {
  return module.library.Effect.mapError(
    encoding,
    (cause) =>
      new BatonError({
        code: 'result_invalid',
        message: `the result of "${name}" is wrong: ${describeFailure(cause)}`.slice(0, 2000),
        cause,
      }),
  )
}
