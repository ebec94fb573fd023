// Converts Effect-based tools and Effect AI toolkits to Baton tools, which share one set of services.
import type { Tool, ToolContext } from '@baton/core/internal'
import { BatonError, checkFields, checkKinds } from '@baton/core/internal'
import type { ToolsSettings } from '../shared/tool-settings.ts'
import { TOOL_SETTINGS } from '../shared/tool-settings.ts'
import { EffectServices } from './effect-services.ts'
import type { EffectPlace, EffectTool } from './effect-tool.ts'
import { toBatonTool } from './effect-tool.ts'
import type {
  Closed,
  NeededByLayer,
  Provided,
  ProvidedBy,
  RequiredBy,
  RequiredByTools,
  ServiceTag,
} from './effect-types.ts'
import type { ManagedRuntime } from './library.ts'
import { readEffectModule } from './library.ts'
import { readToolkit } from './toolkit.ts'

/** Options of `fromEffect`: `{ layer }` provides the services of the tools. */
export interface EffectToolsOptions extends ToolsSettings {
  /** The services of the tools: a Layer without requirements. Built once, on the first call. */
  readonly layer?: unknown
  /** Instead of `layer`: your own ManagedRuntime, which `close` does not touch. */
  readonly runtime?: unknown
  /** Your own tag for `ToolContext`, which gives Effects the context of their call. */
  readonly call?: ServiceTag<ToolContext>
  /** Created by `effectTool`. */
  readonly tools?: readonly EffectTool<unknown>[]
  /** An Effect AI toolkit; `layer` provides its handlers: `toolkit.toLayer(…)`. */
  readonly toolkit?: unknown
  /** Milliseconds that `close` waits for running Effects and for the services; 10 s by default. */
  readonly closeMs?: number
}

/** The missing services, as a field that the compiler reports as absent. */
type Complete<Init> = Provided<
  | (Init extends { readonly tools: readonly EffectTool<infer Services>[] } ? Services : never)
  | (Init extends { readonly toolkit: infer Toolkit } ? RequiredBy<Toolkit> | RequiredByTools<Toolkit> : never),
  | (Init extends { readonly layer: infer Layer } ? ProvidedBy<Layer> : never)
  | (Init extends { readonly runtime: infer Runtime } ? ProvidedBy<Runtime> : never)
  | (Init extends { readonly call: { readonly Identifier: infer Identifier } } ? Identifier : never)
> &
  Closed<Init extends { readonly layer: infer Layer } ? NeededByLayer<Layer> : never>

/** Tools of Effect, ready for an agent. Call `close` when the program ends. */
export interface EffectTools {
  /** For `defineAgent({ tools: [...tools] })`. */
  readonly tools: readonly Tool[]
  /**
   * Interrupts running Effects and releases the services. Idempotent; later calls fail with `tool_gone`.
   * @throws BatonError `cancelled` if that takes longer than `closeMs`
   */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const FIELDS: ReadonlySet<string> = new Set([
  'layer',
  'runtime',
  'call',
  'tools',
  'toolkit',
  'closeMs',
  'byName',
  ...TOOL_SETTINGS,
])
const CLOSE_MS = 10_000

/**
 * Converts Effects to tools. A typed failure reaches the model as `tool_failed` with tag and message, a defect with its
 * message, and the cause is logged. When a call ends, its fiber is interrupted. The settings apply to the toolkit's
 * tools.
 * @param effect the module of Effect 3.22 or newer, or of Effect 4: `import * as effect from 'effect'`
 * @throws BatonError `invalid_tool`, `invalid_schema`
 */
export function fromEffect<Init extends EffectToolsOptions>(effect: object, init: Init & Complete<Init>): EffectTools {
  checkFields(init, { what: 'fromEffect', code: 'invalid_tool', fields: FIELDS })
  checkKinds(init, { what: 'fromEffect', code: 'invalid_tool', kinds: { tools: 'an array', byName: 'an object' } })
  const { layer, runtime, call, tools = [], toolkit, closeMs = CLOSE_MS, ...settings }: EffectToolsOptions = init
  if (layer !== undefined && runtime !== undefined)
    throw wrong('it has both a layer and a runtime', 'Pass only one of them.')
  if (!Number.isFinite(closeMs) || closeMs <= 0)
    throw wrong(`closeMs must be a number greater than 0, not ${String(closeMs)}`)
  const [setting] = Object.keys(settings)
  if (toolkit === undefined && setting !== undefined)
    throw wrong(`it has ${setting}, which applies only to toolkit tools`, 'Set it in effectTool.')
  const module = readEffectModule(effect)
  const services = new EffectServices(module, {
    closeMs,
    ...(layer !== undefined && { layer }),
    ...(runtime !== undefined && { runtime: runtime as ManagedRuntime }), // both versions have the parts that are used
  })
  const place: EffectPlace = { module, services, ...(call !== undefined && { call }) }
  const own = tools.map((one) => toBatonTool(one, place))
  const brought = toolkit === undefined ? [] : readToolkit(toolkit, settings, place)
  const close = (): Promise<void> => services.close()
  return { tools: [...own, ...brought], close, [Symbol.asyncDispose]: close }
}

function wrong(why: string, hint?: string): BatonError {
  return new BatonError({ code: 'invalid_tool', message: `fromEffect: ${why}`, ...(hint !== undefined && { hint }) })
}
