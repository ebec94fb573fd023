// A program's settings for tools of another library: for all tools, and for individual ones by name. Independent of the
// library.
import type {
  EffectClass,
  InterruptPolicy,
  JsonObject,
  ToolKind,
  ToolRetry,
  Trust,
  WaitingOptions,
} from '@baton/core/internal'
import { BatonError, checkFields, findNearName } from '@baton/core/internal'

/** Fields of `tool()`, with the same defaults. */
export interface ToolSettings {
  /** `once` by default: the safe assumption for a tool that does not say. */
  readonly effect?: EffectClass
  /** `trusted` by default. Use `untrusted` for a tool that reads what strangers write. */
  readonly trust?: Trust
  /** Milliseconds until the call settles as timed-out, whatever the tool does; 30 s by default. */
  readonly timeoutMs?: number
  /** Set to `false` if it must never run in parallel with another call. Defaults to `true`. */
  readonly parallel?: boolean
  /**
   * Set to `false` if it reaches nothing beyond this machine. Otherwise an agent whose permissions forbid the network
   * does not get it.
   */
  readonly network?: boolean
  /**
   * Replaces the tool's own approval: `true`, or a function of the validated input. The user must then approve the call
   * first.
   */
  readonly approval?: boolean | Asks
  readonly onInterrupt?: InterruptPolicy
  readonly waiting?: WaitingOptions<JsonObject>
  /**
   * Retries after transient failures. Effects are retried only after defects: use `Effect.retry` for typed errors. On a
   * whole set, it applies to tools that run here and may run twice; in `byName`, it is rejected for a `once` tool.
   */
  readonly retry?: ToolRetry
  readonly title?: string
  readonly kind?: ToolKind
  /** Only for client tools: milliseconds that a call waits while no client can run it. */
  readonly awayMs?: number
}

type Asks = {
  // Declared as a method, so that a function of one tool's input is accepted.
  run(input: JsonObject): boolean | Promise<boolean>
}['run']

/** Settings for all tools, and for individual ones in `byName`. */
export interface ToolsSettings<Name extends string = string> extends ToolSettings {
  readonly byName?: { readonly [Key in Name]?: ToolSettings }
}

export const TOOL_SETTINGS: readonly (keyof ToolSettings)[] = [
  'effect',
  'trust',
  'timeoutMs',
  'parallel',
  'network',
  'approval',
  'onInterrupt',
  'waiting',
  'retry',
  'title',
  'kind',
  'awayMs',
]

/** Fields of `tool()` other than name, description, schemas and function. */
export interface SettingsOfTool extends Omit<ToolSettings, 'approval' | 'waiting'> {
  readonly approval?: boolean | ((input: unknown) => boolean | Promise<boolean>)
  readonly waiting?: WaitingOptions
}

/** @throws BatonError `invalid_tool` if `byName` names an unknown tool or field */
export function checkSettings(what: string, settings: ToolsSettings, names: readonly string[]): void {
  for (const [name, own] of Object.entries(settings.byName ?? {})) {
    if (!names.includes(name)) {
      const near = findNearName(names, name)
      throw new BatonError({
        code: 'invalid_tool',
        message: `${what}: byName has "${name}", but there is no such tool`,
        hint: near === undefined ? `The tools are ${names.slice(0, 50).join(', ')}.` : `Use "${near}" instead.`,
      })
    }
    const fields = new Set<string>(TOOL_SETTINGS)
    checkFields(own, { what: `${what}: byName.${name}`, code: 'invalid_tool', fields })
  }
}

/** Returns the settings of one tool. `byItself`: the tool's own. */
export function settingsOf(
  name: string,
  { byName, ...all }: ToolsSettings,
  byItself: { readonly effect?: EffectClass; readonly runsHere: boolean },
): SettingsOfTool {
  const own: ToolSettings | undefined = byName && Object.hasOwn(byName, name) ? byName[name] : undefined
  const settings: Record<string, unknown> = {}
  for (const field of TOOL_SETTINGS) {
    const said = own?.[field] ?? all[field]
    if (said !== undefined) settings[field] = said
  }
  const { effect = byItself.effect ?? 'once' } = settings as SettingsOfTool
  // A setting for a whole set applies only to tools that may run twice.
  if (own?.retry === undefined && (effect === 'once' || !byItself.runsHere)) delete settings['retry']
  return settings // each of its fields is one of `tool()`, which checks them
}
