// What the tools of a server were when they were first seen. A tool that says something else later is offered as it was, and a person
// must approve its next call: a server could change a harmless description into orders for the model.
import { createHash } from 'node:crypto'
import { stringifySorted } from '@baton/core'
import type { Tool as McpTool } from '@modelcontextprotocol/client'

/** Where definitions of tools are kept, by server. */
export interface McpPinStore {
  read(server: string): Promise<readonly McpTool[] | undefined>
  write(server: string, tools: readonly McpTool[]): Promise<void>
}

/** Keeps pins in this process only. */
export function createMemoryPinStore(): McpPinStore {
  const pins = new Map<string, readonly McpTool[]>()
  return {
    read: (server) => Promise.resolve(pins.get(server)),
    write: (server, tools) => {
      pins.set(server, tools)
      return Promise.resolve()
    },
  }
}

/** SHA-256, in hex, over what a model or a person is shown of the tool, and over its schemas. */
export function fingerprint({ name, title, description, inputSchema, outputSchema, annotations }: McpTool): string {
  const said = { name, title, description, inputSchema, outputSchema, annotations }
  return createHash('sha256').update(stringifySorted(said)).digest('hex')
}

export interface PinnedTool {
  /** What is offered: the pinned definition, where it changed. */
  readonly offered: McpTool
  /** The new definition that waits for consent. */
  readonly waiting?: McpTool
  /** What changed, for the person who is asked. */
  readonly changed?: string
}

/** Tools that are new are pinned as they are: their own approvals and policies apply to them. */
export function comparePins(listed: readonly McpTool[], pins: readonly McpTool[] | undefined): readonly PinnedTool[] {
  const byName = new Map((pins ?? []).map((pin) => [pin.name, pin]))
  return listed.map((found) => {
    const pin = byName.get(found.name)
    if (!pin || fingerprint(pin) === fingerprint(found)) return { offered: found }
    return { offered: pin, waiting: found, changed: tellChange(pin, found) }
  })
}

function tellChange(pin: McpTool, found: McpTool): string {
  const fields = (['title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const).filter(
    (field) => stringifySorted(pin[field] ?? null) !== stringifySorted(found[field] ?? null),
  )
  return `The server changed its ${fields.join(', ')} since it was first seen`
}
