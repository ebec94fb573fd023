// An editor that does files and commands for the tools of a workspace. It has changes that are not saved, and terminals that a person sees.

/** Methods that it does not offer are absent: then the tools do it themselves. Paths are absolute, and have been judged. */
export interface WorkspaceEditor {
  /** @throws BatonError `tool_failed` */
  readonly readTextFile?: (path: string) => Promise<string>
  /** @throws BatonError `tool_failed` */
  readonly writeTextFile?: (path: string, text: string) => Promise<void>
  /** Resolves when the command has ended, also by its time-out. @throws BatonError `tool_failed`, `cancelled` */
  readonly runCommand?: (command: WorkspaceCommand) => Promise<WorkspaceCommandEnd>
}

export interface WorkspaceCommand {
  readonly callId: string
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly timeoutMs: number
  /** Bytes of output that are kept. */
  readonly outputBytes: number
  readonly signal: AbortSignal
}

export interface WorkspaceCommandEnd {
  readonly output: string
  readonly truncated: boolean
  readonly timedOut: boolean
  readonly exitCode: number | null
  readonly signal: string | null
}
