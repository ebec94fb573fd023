// A call that the model must make. Functions of node-llama-cpp are offered and never forced: a small model writes text in their place. So
// the grammar of the one tool's arguments is the grammar of the whole answer.
import type { ModelEvent, ModelPart, ModelRequest, ToolDeclaration } from '@baton/core'

/** The tool that must be called, where it is one alone. */
export function findForced({ tools, toolChoice }: ModelRequest): ToolDeclaration | undefined {
  if (toolChoice.type === 'tool') return tools.find(({ name }) => name === toolChoice.name)
  return toolChoice.type === 'any' && tools.length === 1 ? tools[0] : undefined
}

/** For the instructions: such a tool is not among the functions. */
export function describeForced({ name, description, inputSchema }: ToolDeclaration): string {
  return `Call ${name} now. Write its arguments as one JSON object, and nothing else.
${name}: ${description}
JSON Schema of the arguments: ${JSON.stringify(inputSchema)}`
}

/** Streams what the grammar gives as the arguments of the call. */
export function streamForced({ name }: ToolDeclaration, sink: (event: ModelEvent) => void): (text: string) => void {
  const index = 0
  let isBegun = false
  return (text) => {
    if (!isBegun) sink({ type: 'call-start', index, name })
    isBegun = true
    sink({ type: 'call-delta', index, text })
  }
}

/** Arguments that the limit cut off are not JSON: then the call never runs. */
export function partOfForced({ name }: ToolDeclaration, said: string): ModelPart {
  return { type: 'call', name, arguments: said === '' ? '{}' : said }
}
