// Resolves a tool name that a model wrote with markup around it, or spelled differently. Local servers and gateways
// pass on what a model's template writes: `list_files<|channel|>commentary` (gpt-oss), `functions.list_files:0` (Kimi),
// `default_api.list_files` and `default_api:list_files` (Gemini).
import type { ModelPart, ToolDeclaration } from '@baton/core/internal'

/** Markup around a name. The name is tried with and without each. */
const MARKUP: readonly RegExp[] = [
  /^[^]*\bto=/,
  /^(?:<\|[^|]*\|>)+/,
  /<\|[^]*$/,
  /^(?:functions?|default_api|tools?)[.:/]/,
  /[:#]\d{1,3}$/,
  /^\s+|\s+$/g,
]

/**
 * The only tool whose name remains after removing markup, else the only name that differs just in capitals, hyphens and
 * underscores, else also in dots, slashes, colons and spaces. Undefined if the name is exact, or matches no tool or
 * several.
 */
export function fitToolName(name: string, tools: readonly Pick<ToolDeclaration, 'name'>[]): string | undefined {
  if (tools.some((tool) => tool.name === name)) return undefined
  let readings = new Set([name])
  for (const markup of MARKUP) readings = new Set([...readings].flatMap((one) => [one, one.replace(markup, '')]))
  const exact = tools.filter((tool) => readings.has(tool.name))
  let near = exact
  for (const left of SPELLINGS) {
    if (near.length > 0) break
    const fold = (one: string): string => one.toLowerCase().replaceAll(left, '')
    const folded = new Set([...readings].map(fold).filter((one) => one !== ''))
    near = tools.filter((tool) => folded.has(fold(tool.name)))
  }
  return near.length === 1 ? near[0]?.name : undefined
}

/**
 * Characters that a spelling may omit or add. Models write `box_set` for `box.set`, which no provider accepts as a
 * name.
 */
const SPELLINGS: readonly RegExp[] = [/[-_]/g, /[-_./: ]/g]

/** The log and the history have the tool's own name; the log records the repair. */
export function withToolName(part: ModelPart, tools: readonly ToolDeclaration[]): ModelPart {
  const name = part.type === 'call' ? fitToolName(part.name, tools) : undefined
  return part.type === 'call' && name !== undefined
    ? { ...part, name, repairs: [...(part.repairs ?? []), 'tool-name'] }
    : part
}
