// Tools that change during a session: those of an MCP server, a connected editor, a registry.
import type { Tool } from './tool.ts'

/**
 * Tools from elsewhere, such as an MCP server, listed when a session opens. `createMcpServers` of
 * @baton/mcp gives an agent's `sources`.
 */
export interface ToolSource {
  /** Name of the source in logs, collisions and the provenance of results; 1 to 64 characters. */
  readonly name: string
  /**
   * False: neither the source nor its tools reach beyond this machine. Absent: they may, so an agent without network
   * access does not get it.
   */
  readonly network?: boolean
  /**
   * Lists the current tools. Called when a session opens, and after each change. Times out after 10 s; a source that
   * fails or is too slow has no tools until its next change, which is logged.
   */
  list(): Promise<readonly Tool[]>
  /** Calls the listener after every change; returns a function that unsubscribes it. */
  onChange?(listener: () => void): () => void
  /** Called once, when the session leaves the process. Times out after 10 s. */
  close?(): Promise<void>
}

/**
 * How to handle a tool whose name is taken. `refuse` (default): a session does not open, and a tool added later is
 * skipped. `first`: the tool is skipped. `prefix`: it is renamed to `<source>.<tool>`. The agent's own tools have
 * priority, then the sources in order.
 */
export type CollisionPolicy = 'refuse' | 'first' | 'prefix'
