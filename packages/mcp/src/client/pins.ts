// Pins a server's tools as Baton first saw them. If a tool changes later, Baton still offers the old definition, and a
// person must accept the change before the next call: a server could turn a harmless description into instructions for
// the model.
import { createHash } from 'node:crypto'
import { stringifySorted } from '@baton/core/internal'
import type { Tool as McpTool } from '@modelcontextprotocol/client'

/** Stores tool definitions by server. */
export interface McpPinStore {
  read(server: string): Promise<readonly McpTool[] | undefined>
  write(server: string, tools: readonly McpTool[]): Promise<void>
}

/** Stores pins in this process only. */
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

/** SHA-256, in hex, of everything that a model or a person sees of the tool, and of its schemas. */
export function fingerprint({ name, title, description, inputSchema, outputSchema, annotations }: McpTool): string {
  const said = { name, title, description, inputSchema, outputSchema, annotations }
  return createHash('sha256').update(stringifySorted(said)).digest('hex')
}

export interface PinnedTool {
  /** The offered tool, with the pinned definition if it changed. */
  readonly offered: McpTool
  /** The server's definition if it differs: a person has to accept it. */
  readonly waiting?: McpTool
}

/** New tools are pinned as they are: their own approvals and policies apply to them. */
export function comparePins(listed: readonly McpTool[], pins: readonly McpTool[] | undefined): readonly PinnedTool[] {
  const byName = new Map((pins ?? []).map((pin) => [pin.name, pin]))
  return listed.map((found) => {
    const pin = byName.get(found.name)
    if (!pin || fingerprint(pin) === fingerprint(found)) return { offered: found }
    return { offered: pin, waiting: found }
  })
}

/** Maximum characters of a definition as JSON: its schema is part of each request to the model. */
const DEFINITION_CHARS = 131_072

/** Such a definition would fill the model's requests and the store of pins. */
export function isTooLarge(definition: McpTool): boolean {
  return JSON.stringify(definition).length > DEFINITION_CHARS
}

/**
 * Adds new tools to the pins without dropping any: a server could otherwise push out a tool's pin to change it unseen.
 * A server cannot add more than `most` tools.
 */
export function addPins(pins: readonly McpTool[], offered: readonly McpTool[], most: number): AddedPins {
  const names = new Set(pins.map(({ name }) => name))
  const added = offered.filter(({ name }) => !names.has(name))
  const room = Math.max(0, most - pins.length)
  return { pins: [...pins, ...added.slice(0, room)], leftOut: added.slice(room).map(({ name }) => name) }
}

interface AddedPins {
  readonly pins: readonly McpTool[]
  /** Names of the tools above the limit. */
  readonly leftOut: readonly string[]
}

/** Changed fields that a model or a person sees, each as JSON text with sorted keys. */
export function listChanges(before: McpTool, after: McpTool): readonly PinnedChange[] {
  return (['title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const).flatMap((field) => {
    const change = {
      field,
      before: stringifySorted(before[field] ?? null),
      after: stringifySorted(after[field] ?? null),
    }
    return change.before === change.after ? [] : [change]
  })
}

export interface PinnedChange {
  readonly field: string
  readonly before: string
  readonly after: string
}
