// Tools that come and go while a session lives: an MCP server, a connected editor, a registry.
import type { Tool } from './tool.ts'

export interface ToolSource {
  /** Its name in logs, in collisions and in the provenance of results; 1 to 64 characters. */
  readonly name: string
  /** False: neither it nor its tools reach beyond this machine. Absent: they may, so an agent without the network does not have it. */
  readonly network?: boolean
  /**
   * Its current tools. Called when a session opens, and again after each change. It has 10 s; a source that fails or takes longer has
   * no tools until its next change, and the log says so.
   */
  list(): Promise<readonly Tool[]>
  /** Calls the listener after every change; returns a function that ends this. */
  onChange?(listener: () => void): () => void
  /** Called once, when the session leaves the process. It has 10 s. */
  close?(): Promise<void>
}

/**
 * Handling of a tool whose name is taken. `refuse` (default): a session does not open, and a tool that comes later is left out.
 * `first`: it is left out. `prefix`: it is called `<source>.<tool>`. The agent's own tools come first, then the sources in their
 * order.
 */
export type CollisionPolicy = 'refuse' | 'first' | 'prefix'
