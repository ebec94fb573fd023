// The tool that a model means by a name with its own markup around it, or in a spelling of its own. Local servers and gateways
// pass on what a model's template writes: `list_files<|channel|>commentary` (gpt-oss), `functions.list_files:0` (Kimi),
// `default_api.list_files` and `default_api:list_files` (Gemini).
import type { ToolDeclaration } from '@baton/core'

/** What may stand around a name. Each is cut off, or not. */
const MARKUP: readonly RegExp[] = [
  /^[^]*\bto=/,
  /^(?:<\|[^|]*\|>)+/,
  /<\|[^]*$/,
  /^(?:functions?|default_api|tools?)[.:/]/,
  /[:#]\d{1,3}$/,
  /^\s+|\s+$/g,
]

/**
 * The name of the one tool that is left after its markup is cut off, else of the one that differs only in capitals, hyphens and
 * underscores. Undefined: it is one as it stands, or none, or several.
 */
export function fitToolName(name: string, tools: readonly Pick<ToolDeclaration, 'name'>[]): string | undefined {
  if (tools.some((tool) => tool.name === name)) return undefined
  let readings = new Set([name])
  for (const markup of MARKUP) readings = new Set([...readings].flatMap((one) => [one, one.replace(markup, '')]))
  const exact = tools.filter((tool) => readings.has(tool.name))
  const folded = new Set([...readings].map(foldSpelling).filter((one) => one !== ''))
  const near = exact.length > 0 ? exact : tools.filter((tool) => folded.has(foldSpelling(tool.name)))
  return near.length === 1 ? near[0]?.name : undefined
}

function foldSpelling(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '')
}
