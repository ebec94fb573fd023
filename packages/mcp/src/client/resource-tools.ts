// Two tools that list and read an MCP server's resources: results name resources, so the model must be able to read
// them.
import type { ContentPart, Tool, ToolContent, ToolContext } from '@baton/core/internal'
import { BatonError, tool } from '@baton/core/internal'
import type { Connection } from './connection.ts'
import { readResource } from './content.ts'
import type { McpToolOptions } from './server-config.ts'

/** Maximum resources in one result. */
const LISTED_MAX = 200

type Use = <Result>(act: (connection: Connection) => Promise<Result>, context: ToolContext) => Promise<Result>

export function createResourceTools(
  server: string,
  { trust = 'untrusted' }: McpToolOptions,
  use: Use,
): readonly Tool[] {
  const list = tool({
    name: `${server}.list_resources`,
    description: `Lists the resources (documents, files, records) of the MCP server "${server}", ${LISTED_MAX} at a time.`,
    input: {
      type: 'object',
      properties: { offset: { type: 'integer', minimum: 0, description: 'How many to skip; 0 by default' } },
      additionalProperties: false,
    },
    effect: 'pure',
    kind: 'read',
    trust,
    execute: async ({ offset = 0 }, context: ToolContext) => {
      const all = await use((connection) => connection.listResources(context.signal as AbortSignal), context)
      const resources = all.slice(offset, offset + LISTED_MAX).map(({ uri, name, title, description, mimeType }) => ({
        uri,
        name,
        ...(title !== undefined && { title }),
        ...(description !== undefined && { description }),
        ...(mimeType !== undefined && { mimeType }),
      }))
      const next = offset + LISTED_MAX
      return { total: all.length, resources, ...(next < all.length && { truncated: true, next: { offset: next } }) }
    },
  })
  const read = tool({
    name: `${server}.read_resource`,
    description: `Reads one resource of the MCP server "${server}" by its URI.`,
    input: {
      type: 'object',
      properties: { uri: { type: 'string', minLength: 1, description: 'The URI as named in a list or a result' } },
      required: ['uri'],
      additionalProperties: false,
    },
    effect: 'pure',
    kind: 'read',
    trust,
    execute: async ({ uri }, context: ToolContext): Promise<ToolContent> => {
      const contents = await use((connection) => connection.readResource(uri, context.signal as AbortSignal), context)
      const parts = contents.map((one): ContentPart => readResource(one))
      if (parts.length === 0) throw new BatonError({ code: 'tool_failed', message: `the resource ${uri} is empty` })
      return { content: parts }
    },
  })
  return [list, read]
}
