// The tool that a model means by a name with its own markup around it. Local servers and gateways pass on what a model's
// template writes: `list_files<|channel|>commentary` (gpt-oss), `functions.list_files:0` (Kimi), `default_api.list_files`
// and `default_api:list_files` (Gemini).
import type { ToolDeclaration } from '@baton/core'

/** What may stand around a name. Each is cut off, or not. */
const MARKUP: readonly RegExp[] = [/<\|[^]*$/, /^(?:functions?|default_api|tools?)[.:/]/, /[:#]\d{1,3}$/, /^\s+|\s+$/g]

/** The name of the one tool that is left after its markup is cut off. Undefined: it is one as it stands, or none, or several. */
export function fitToolName(name: string, tools: readonly Pick<ToolDeclaration, 'name'>[]): string | undefined {
  if (tools.some((tool) => tool.name === name)) return undefined
  let readings = new Set([name])
  for (const markup of MARKUP) readings = new Set([...readings].flatMap((one) => [one, one.replace(markup, '')]))
  const [meant, ...others] = tools.filter((tool) => readings.has(tool.name))
  return others.length === 0 ? meant?.name : undefined
}
