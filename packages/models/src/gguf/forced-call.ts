// Forces a tool call. node-llama-cpp offers functions but cannot force them, and small models write text instead. So
// the grammar of the one tool's arguments becomes the grammar of the whole answer.
import type { ModelEvent, ModelPart, ModelRequest, ToolDeclaration } from '@baton/core/internal'

/** The tool that must be called, if there is exactly one. */
export function findForced({ tools, toolChoice }: ModelRequest): ToolDeclaration | undefined {
  if (toolChoice.type === 'tool') return tools.find(({ name }) => name === toolChoice.name)
  return toolChoice.type === 'any' && tools.length === 1 ? tools[0] : undefined
}

/** Describes the tool in the instructions, because a forced tool is not among the functions. */
export function describeForced({ name, description, inputSchema }: ToolDeclaration): string {
  return `Call ${name} now. Write its arguments as one JSON object, and nothing else.
${name}: ${description}
JSON Schema of the arguments: ${JSON.stringify(inputSchema)}`
}

/** Streams the generated text as the call's arguments. */
export function streamForced({ name }: ToolDeclaration, sink: (event: ModelEvent) => void): (text: string) => void {
  const index = 0
  let isBegun = false
  return (text) => {
    if (!isBegun) sink({ type: 'call-start', index, name })
    isBegun = true
    sink({ type: 'call-delta', index, text })
  }
}

/** Arguments truncated by the token limit are not valid JSON, so such a call never runs. */
export function partOfForced({ name }: ToolDeclaration, said: string): ModelPart {
  return { type: 'call', name, arguments: said === '' ? '{}' : said }
}
