// `shell.run`: one shell command in the workspace, with an empty environment, a deadline, bounded output, and a sandbox
// if the system has one.
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { AskedCall, ToolContext } from '@baton/core/internal'
import { BatonError, checkFields, checkKinds, tool } from '@baton/core/internal'
import * as z from 'zod'
import { BoundedOutput, toText } from './bounded-output.ts'
import type { FoundBox } from './bubblewrap.ts'
import { boxArguments, findBox } from './bubblewrap.ts'
import type { GitGuards } from './git-guards.ts'
import { guardGit } from './git-guards.ts'
import { WORKSPACE_ERRORS, refused } from './refused.ts'
import { SecretScan } from './secret-content.ts'
import { workspacePath } from './workspace-limits.ts'
import type { WorkspaceEditor } from './workspace-editor.ts'
import type { WorkspaceKit } from './workspace.ts'

/** A command as the model wrote it. */
export interface ShellCommand {
  /** The whole line, which may contain several commands, pipes and substitutions. */
  readonly command: string
  /** Working directory, relative to the root of the workspace. */
  readonly folder: string
}

/** Options of `shellTool`. Without any, each command asks the user and runs in a sandbox. */
export interface ShellOptions {
  /**
   * Set to `false` to run commands without asking the user, or to a function that decides per command. Defaults to
   * `true`.
   */
  readonly approval?: boolean | ((command: ShellCommand, call: AskedCall) => boolean | Promise<boolean>)
  /**
   * Environment variables of commands, in addition to PATH, HOME, LANG and TMPDIR. They inherit no others from this
   * process.
   */
  readonly env?: Readonly<Record<string, string>>
  /**
   * `required`: no command runs without bubblewrap. `auto`, the default, uses it where it works. `none`: commands run
   * with all rights of this process.
   */
  readonly sandbox?: 'auto' | 'required' | 'none'
  /** Whether sandboxed commands can access the network; false by default. Without a sandbox they always can. */
  readonly network?: boolean
  /**
   * Places outside the workspace that sandboxed commands may read in addition to the system's programs, such as a
   * toolchain in /opt.
   */
  readonly readable?: readonly string[]
  /** Timeout of one command in milliseconds, and the maximum that a model may request; 2 minutes by default. */
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 120_000
/** Milliseconds between SIGTERM and SIGKILL. */
const TERM_MS = 2_000
/** Milliseconds to wait for output after the end: a background process may hold it open. */
const DRAIN_MS = 500
const PROGRESS_MS = 250
/** Fits a progress update even if each character takes six bytes as JSON. */
const PROGRESS_CHARS = 600
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** @throws BatonError `invalid_option` */
export function shellTool(kit: WorkspaceKit, options: ShellOptions) {
  if (process.platform === 'win32')
    throw new BatonError({
      code: 'invalid_option',
      message: 'shell.run needs a POSIX shell, which Windows does not have',
    })
  checkOptions(options)
  const { approval = true, timeoutMs: most = TIMEOUT_MS } = options
  if (!Number.isSafeInteger(most) || most <= 0)
    throw new BatonError({
      code: 'invalid_option',
      message: `shell.timeoutMs must be a whole number of milliseconds greater than 0, not ${most}`,
    })
  const shell = new Shell(kit, options)
  return tool({
    name: 'shell.run',
    description:
      "Run a shell command in the workspace and read its output. It gets no input and none of the user's environment variables. Use the other tools to read, search and change files.",
    title: 'Run a command',
    kind: 'execute',
    effect: 'once',
    trust: kit.trust,
    // Otherwise a command may run without the sandbox.
    network: options.network === true || options.sandbox !== 'required',
    errors: WORKSPACE_ERRORS,
    timeoutMs: most + TERM_MS + DRAIN_MS + 5_000,
    approval,
    describe: ({ command, folder }) => ({ title: folder === '.' ? `Run ${command}` : `Run in ${folder}: ${command}` }),
    input: z.object({
      command: z.string().min(1).max(16_384).describe('Command line, as for bash -c'),
      folder: workspacePath.default('.').describe('Working directory, relative to the root of the workspace'),
      timeoutMs: z.int().min(1).max(most).default(most).describe('Milliseconds after which it is stopped'),
    }),
    output: z.object({
      exitCode: z.int().nullable().describe('null if a signal ended it'),
      signal: z.string().optional(),
      timedOut: z.boolean(),
      output: z.string().describe('Its standard output and standard error, in order of arrival'),
      truncated: z.boolean(),
      withheld: z
        .boolean()
        .optional()
        .describe('True if the output contains what looks like a key or a token and is not shown'),
      sandbox: z.enum(['bubblewrap', 'none']),
      unguarded: z
        .boolean()
        .optional()
        .describe(
          'True if not every git repository and file was checked; hooks or permissions might have been changed',
        ),
    }),
    execute: async ({ command, folder, timeoutMs }, context) => {
      const guard = kit.workspace.guard()
      const path = await kit.workspace.locate(folder, guard)
      if (await kit.workspace.isFile(path)) throw refused('tool_failed', `"${folder}" is a file, not a folder`)
      return await shell.run({ command, folder: kit.workspace.toAbsolute(path), timeoutMs }, context)
    },
  })
}

const FIELDS = new Set(['approval', 'env', 'sandbox', 'network', 'readable', 'timeoutMs'])
const KINDS = {
  approval: 'true, false or a function',
  env: 'an object',
  sandbox: ['auto', 'required', 'none'],
  network: 'true or false',
  readable: 'an array',
} as const

/** A misspelled `required` would run commands without the sandbox. */
function checkOptions(options: ShellOptions): void {
  const what = 'workspaceTools: shell'
  checkFields(options, { what, code: 'invalid_option', fields: FIELDS })
  checkKinds(options, { what, code: 'invalid_option', kinds: KINDS })
  const relative = options.readable?.find((path) => !isAbsolute(path))
  if (relative !== undefined)
    throw new BatonError({
      code: 'invalid_option',
      message: `${what}: readable must contain absolute paths, not "${relative}"`,
    })
}

interface Asked {
  readonly command: string
  readonly folder: string
  readonly timeoutMs: number
}

interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly timedOut: boolean
}

class Shell {
  readonly #kit: WorkspaceKit
  readonly #options: ShellOptions
  /** Found once. A failed lookup is forgotten, because the next one may succeed. */
  #box: Promise<FoundBox> | undefined
  readonly #running = new Set<GitGuards>()
  #guarded: Promise<unknown> = Promise.resolve()

  constructor(kit: WorkspaceKit, options: ShellOptions) {
    this.#kit = kit
    this.#options = options
  }

  /** @throws BatonError `tool_failed` */
  async run(asked: Asked, context: ToolContext) {
    const program = await this.#findBox(asked.folder)
    checkWanted(context)
    const { runCommand } = this.#kit.editor
    if (runCommand && !this.#needsBox(program !== undefined)) return await this.#runInEditor(runCommand, asked, context)
    const output = new BoundedOutput(this.#kit.limits.shellOutputBytesMax)
    const guards = program === undefined ? undefined : await this.#guard()
    const [ended, isClean] = await this.#follow(
      () => this.#spawn(asked, program, guards),
      { asked, context, output },
      guards,
    )
    return {
      exitCode: ended.code,
      ...(ended.signal && { signal: ended.signal }),
      timedOut: ended.timedOut,
      ...(await withholdSecrets(output.read())),
      truncated: output.droppedBytes > 0,
      sandbox: program ? ('bubblewrap' as const) : ('none' as const),
      ...((guards?.isWhole === false || !isClean) && { unguarded: true }),
    }
  }

  /** Cleans up even after a failed command. */
  async #follow(
    spawnIt: () => ChildProcess,
    following: Following,
    guards: GitGuards | undefined,
  ): Promise<readonly [ended: Ended, isClean: boolean]> {
    try {
      checkWanted(following.context) // again, because preparing the guards takes time
      const ended = await follow(spawnIt(), following)
      return [ended, (await guards?.cleanUp()) ?? true]
    } catch (cause) {
      await guards?.cleanUp()
      throw cause
    } finally {
      if (guards) this.#running.delete(guards)
    }
  }

  /** Prepares commands one at a time, so that each knows which ones are running. */
  #guard(): Promise<GitGuards> {
    const guarded = this.#guarded.then(async () => {
      const guards = await guardGit(this.#kit.workspace, [...this.#running])
      this.#running.add(guards)
      return guards
    })
    this.#guarded = guarded.catch(() => {}) // the caller gets the error
    return guarded
  }

  /**
   * An editor's terminal has no sandbox: a person must have approved the command, unless the owner turned the sandbox
   * off.
   */
  #needsBox(isBoxed: boolean): boolean {
    const { sandbox = 'auto', approval = true } = this.#options
    return isBoxed && (sandbox === 'required' || approval !== true)
  }

  async #runInEditor(
    runCommand: NonNullable<WorkspaceEditor['runCommand']>,
    { command, folder, timeoutMs }: Asked,
    { callId, signal }: ToolContext,
  ) {
    const ended = await runCommand({
      callId,
      command: findShell(),
      args: ['-c', command],
      cwd: folder,
      timeoutMs,
      outputBytes: this.#kit.limits.shellOutputBytesMax,
      signal,
    })
    return {
      exitCode: ended.exitCode,
      ...(ended.signal !== null && { signal: ended.signal }),
      timedOut: ended.timedOut,
      ...(await withholdSecrets(ended.output)),
      truncated: ended.truncated,
      sandbox: 'none' as const,
    }
  }

  /** The path of bubblewrap; `undefined` if the command runs without it. */
  async #findBox(folder: string): Promise<string | undefined> {
    const { sandbox = 'auto' } = this.#options
    if (sandbox === 'none') return undefined
    const looking = (this.#box ??= findBox(this.#boxed(folder)))
    const found = await looking
    if ('program' in found) return found.program
    if (this.#box === looking) this.#box = undefined
    if (sandbox === 'auto') return undefined
    const why = `commands run only in a sandbox here, but bubblewrap cannot be used: ${found.problem}`
    throw refused('tool_failed', why)
  }

  #boxed(folder: string) {
    const { network = false, readable = [] } = this.#options
    return { root: this.#kit.workspace.toAbsolute(''), folder, network, readable }
  }

  #spawn({ command, folder }: Asked, box: string | undefined, guards: GitGuards | undefined): ChildProcess {
    // Both streams share one pipe, which keeps their order.
    const line = [findShell(), '-c', 'exec 2>&1; eval "$1"', 'shell', command]
    const [program = '', ...words] =
      box === undefined ? line : [box, ...boxArguments(this.#boxed(folder), guards?.words), ...line]
    return spawn(program, words, {
      cwd: folder,
      env: { PATH, HOME: this.#kit.workspace.toAbsolute(''), LANG: 'C.UTF-8', TMPDIR: '/tmp', ...this.#options.env },
      // Only the sandbox itself writes to the second one.
      stdio: ['ignore', 'pipe', 'pipe'],
      // A separate process group, so that its child processes end with it.
      detached: true,
    })
  }
}

/** @throws BatonError `cancelled` */
function checkWanted({ signal }: ToolContext): void {
  if (signal.aborted) throw refused('cancelled', 'the call was cancelled before its command started')
}

function findShell(): string {
  return existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh'
}

async function withholdSecrets(text: string): Promise<{ readonly output: string; readonly withheld?: true }> {
  const scan = new SecretScan()
  const isSecret = (await scan.take(text)) || (await scan.judge())
  return isSecret ? { output: '', withheld: true } : { output: text }
}

interface Following {
  readonly asked: Asked
  readonly context: ToolContext
  readonly output: BoundedOutput
}

/** Resolves when the command has ended, even if a child process holds the output open. */
async function follow(child: ChildProcess, { asked, context, output }: Following): Promise<Ended> {
  let timedOut = false
  let toldAt = 0
  let untold = ''
  const take = (piece: Buffer): void => {
    output.take(piece)
    untold = (untold + toText(piece)).slice(-PROGRESS_CHARS)
    if (performance.now() - toldAt < PROGRESS_MS) return
    toldAt = performance.now()
    context.progress({ output: untold })
    untold = ''
  }
  child.stdout?.on('data', take)
  child.stderr?.on('data', take)
  const end = (): void => {
    kill(child, 'SIGTERM')
    timers.push(setTimeout(() => kill(child, 'SIGKILL'), TERM_MS))
  }
  const timers = [
    setTimeout(() => {
      timedOut = true
      end()
    }, asked.timeoutMs),
  ]
  context.signal.addEventListener('abort', end)
  try {
    const closed = new Promise<void>((close) => void child.once('close', () => close()))
    const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((done, fail) => {
      child.once('error', fail)
      child.once('exit', (...how) => done(how))
    })
    await Promise.race([closed, new Promise<void>((late) => void timers.push(setTimeout(late, DRAIN_MS)))])
    return { code, signal, timedOut }
  } catch (cause) {
    const message = `could not start the command: ${cause instanceof Error ? cause.message : String(cause)}`
    throw new BatonError({ code: 'tool_failed', message, cause })
  } finally {
    context.signal.removeEventListener('abort', end)
    for (const timer of timers) clearTimeout(timer)
    kill(child, 'SIGKILL')
    child.stdout?.destroy()
    child.stderr?.destroy()
  }
}

/** Signals the command and its child processes. */
function kill({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // the whole group has ended
  }
}
