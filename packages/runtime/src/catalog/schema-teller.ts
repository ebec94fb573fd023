// Says in the log which of an agent's own tools have a schema that calls are not checked against whole. Sources say it of theirs.
import type { Agent, JsonObject, Logger } from '@baton/core'

/** Tells it once for each tool. */
export function createSchemaTeller(log: Logger): (agent: Agent) => void {
  const told = new WeakSet<JsonObject>()
  return ({ name, tools }) => {
    for (const { name: tool, inputSchema, schemaWarnings } of tools) {
      if (!schemaWarnings || told.has(inputSchema)) continue
      told.add(inputSchema)
      log.warn('the schema of a tool is not checked whole', { agent: name, tool, leftOut: schemaWarnings })
    }
  }
}
