// An editor that handles files and commands for the tools of a workspace. It has unsaved changes, and terminals that a
// person sees.

/**
 * Methods that it does not support are absent, and the tools do that work themselves. Paths are absolute and already
 * checked.
 */
export interface WorkspaceEditor {
  /** @throws BatonError `tool_failed` */
  readonly readTextFile?: (path: string) => Promise<string>
  /** @throws BatonError `tool_failed` */
  readonly writeTextFile?: (path: string, text: string) => Promise<void>
  /** Resolves when the command has ended, even by timeout. @throws BatonError `tool_failed`, `cancelled` */
  readonly runCommand?: (command: WorkspaceCommand) => Promise<WorkspaceCommandEnd>
}

/** A command for an editor's terminal. */
export interface WorkspaceCommand {
  readonly callId: string
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly timeoutMs: number
  /** Maximum bytes of output kept. */
  readonly outputBytes: number
  readonly signal: AbortSignal
}

/** The end of a command in an editor's terminal. */
export interface WorkspaceCommandEnd {
  readonly output: string
  readonly truncated: boolean
  readonly timedOut: boolean
  readonly exitCode: number | null
  readonly signal: string | null
}
