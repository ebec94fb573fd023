// What a program says of tools that come from another library: of all of them, and of single ones by their names. It knows no
// library.
import type { EffectClass, InterruptPolicy, JsonObject, ToolKind, ToolRetry, Trust, WaitingInit } from '@baton/core'
import { BatonError, checkFields, findNearName } from '@baton/core'

/** Fields of `tool()`, with the same defaults. */
export interface ToolSettings {
  /** `once` by default: the safe assumption about a tool that says nothing. */
  readonly effect?: EffectClass
  /** `trusted` by default. Say `untrusted` of a tool that reads what strangers write. */
  readonly trust?: Trust
  /** Milliseconds until the call settles as timed-out, whatever the tool does; 30 s by default. */
  readonly timeoutMs?: number
  /** False: never beside another call. True by default. */
  readonly parallel?: boolean
  /** In place of what the tool itself says: true, or a function of the validated input, and a person must approve the call first. */
  readonly approval?: boolean | Asks
  readonly onInterrupt?: InterruptPolicy
  readonly waiting?: WaitingInit<JsonObject>
  /**
   * How a tool that failed for a moment is tried again; of an Effect only defects are, and `Effect.retry` is for its typed errors. Said
   * of all tools, it holds for those that run here and may run twice; said of a `once` tool in `byName`, it is refused.
   */
  readonly retry?: ToolRetry
  readonly title?: string
  readonly kind?: ToolKind
  /** Only of a tool that a client runs: milliseconds that a call waits while no client can run it. */
  readonly awayMs?: number
}

type Asks = {
  // A method: a function of one tool's input will do.
  run(input: JsonObject): boolean | Promise<boolean>
}['run']

/** Of all tools, and in `byName` what is different for one. */
export interface ToolsSettings<Name extends string = string> extends ToolSettings {
  readonly byName?: { readonly [Key in Name]?: ToolSettings }
}

export const TOOL_SETTINGS: readonly (keyof ToolSettings)[] = [
  'effect',
  'trust',
  'timeoutMs',
  'parallel',
  'approval',
  'onInterrupt',
  'waiting',
  'retry',
  'title',
  'kind',
  'awayMs',
]

/** What `tool()` is given beside name, description, schemas and function. */
export interface SettingsOfTool extends Omit<ToolSettings, 'approval' | 'waiting'> {
  readonly approval?: boolean | ((input: unknown) => boolean | Promise<boolean>)
  readonly waiting?: WaitingInit
}

/** @throws BatonError `invalid_tool`: `byName` names a tool that is not there, or says something that no tool has */
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

/** What holds for one tool. `byItself`: what the tool says of itself. */
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
  // What is said of a whole set is for those tools that may run twice.
  if (own?.retry === undefined && (effect === 'once' || !byItself.runsHere)) delete settings['retry']
  return settings // each of its fields is one of `tool()`, which checks them
}
