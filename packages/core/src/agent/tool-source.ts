// Tools that come and go while a session lives: an MCP server, a connected editor, a registry.
import type { Tool } from './tool.ts'

export interface ToolSource {
  /** Names it in logs, in collisions and in the provenance of results; 1 to 64 characters. */
  readonly name: string
  /**
   * The tools that it has now. Asked when a session opens, and again after each change. It has 10 s; a source that fails
   * or takes longer has no tools until its next change, and that is logged.
   */
  list(): Promise<readonly Tool[]>
  /** Calls the listener after every change; returns what ends that. */
  onChange?(listener: () => void): () => void
  /** Called once, when the session leaves the process. It has 10 s. */
  close?(): Promise<void>
}

/**
 * What becomes of a tool whose name another one has already: `refuse` (default) fails the opening, and leaves a tool out
 * that comes later; `first` leaves it out; `prefix` names it `<source>.<tool>`. The agent's own tools come first, then
 * the sources in their order.
 */
export type CollisionPolicy = 'refuse' | 'first' | 'prefix'
