// Logs which of an agent's own tools have a schema that is only checked in part. Sources log their own.
import type { Agent, JsonObject, Logger } from '@baton/core'

/** Logs each tool once. */
export function createSchemaTeller(log: Logger): (agent: Agent) => void {
  const told = new WeakSet<JsonObject>()
  return ({ name, tools }) => {
    for (const { name: tool, inputSchema, schemaWarnings } of tools) {
      if (!schemaWarnings || told.has(inputSchema)) continue
      told.add(inputSchema)
      log.warn('the schema of a tool is checked only in part', { agent: name, tool, leftOut: schemaWarnings })
    }
  }
}
