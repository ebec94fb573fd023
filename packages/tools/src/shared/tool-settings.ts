// Settings of a program for tools from another library: for all of them, and for single ones by name. It knows no library.
import type { EffectClass, InterruptPolicy, JsonObject, ToolKind, ToolRetry, Trust, WaitingInit } from '@baton/core'
import { BatonError, checkFields, findNearName } from '@baton/core'

/** Fields of `tool()`, with the same defaults. */
export interface ToolSettings {
  /** `once` by default: the safe assumption about a tool that says nothing. */
  readonly effect?: EffectClass
  /** `trusted` by default. Choose `untrusted` for a tool that reads what strangers write. */
  readonly trust?: Trust
  /** Milliseconds until the call settles as timed-out, whatever the tool does; 30 s by default. */
  readonly timeoutMs?: number
  /** False: never beside another call. True by default. */
  readonly parallel?: boolean
  /** False: it reaches nothing beyond this machine. Absent: an agent whose permissions forbid the network does not have it. */
  readonly network?: boolean
  /** Replaces the tool's own approval: true, or a function of the validated input. A person must then approve the call first. */
  readonly approval?: boolean | Asks
  readonly onInterrupt?: InterruptPolicy
  readonly waiting?: WaitingInit<JsonObject>
  /**
   * How to repeat a tool after a failure that may go away. Effects are repeated only after defects: use `Effect.retry` for typed errors.
   * For a whole set, it applies to tools that run here and may run twice; in `byName`, a `once` tool refuses it.
   */
  readonly retry?: ToolRetry
  readonly title?: string
  readonly kind?: ToolKind
  /** Only for a tool that a client runs: milliseconds that a call waits while no client can run it. */
  readonly awayMs?: number
}

type Asks = {
  // A method: a function of one tool's input will do.
  run(input: JsonObject): boolean | Promise<boolean>
}['run']

/** Settings for all tools, and in `byName` for single ones. */
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

/** The fields for `tool()` besides name, description, schemas and function. */
export interface SettingsOfTool extends Omit<ToolSettings, 'approval' | 'waiting'> {
  readonly approval?: boolean | ((input: unknown) => boolean | Promise<boolean>)
  readonly waiting?: WaitingInit
}

/** @throws BatonError `invalid_tool`: `byName` names an unknown tool or an unknown field */
export function checkSettings(what: string, settings: ToolsSettings, names: readonly string[]): void {
  for (const [name, own] of Object.entries(settings.byName ?? {})) {
    if (!names.includes(name)) {
      const near = findNearName(names, name)
      throw new BatonError({
        code: 'invalid_tool',
        message: `${what}: byName has "${name}", and there is no such tool`,
        hint: near === undefined ? `The tools are ${names.slice(0, 50).join(', ')}.` : `Write "${near}" in its place.`,
      })
    }
    const fields = new Set<string>(TOOL_SETTINGS)
    checkFields(own, { what: `${what}: byName.${name}`, code: 'invalid_tool', fields })
  }
}

/** The settings of one tool. `byItself`: the tool's own. */
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
  // A setting for a whole set applies to the tools that may run twice.
  if (own?.retry === undefined && (effect === 'once' || !byItself.runsHere)) delete settings['retry']
  return settings // each of its fields is one of `tool()`, which checks them
}
