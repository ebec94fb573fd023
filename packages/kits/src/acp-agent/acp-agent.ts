// Runs another agent as one tool: Claude Code, Codex, Gemini CLI, OpenCode, or another Baton, over the Agent Client
// Protocol. Its updates become progress, its permission requests become questions to the user, and the next call
// continues its session.
import type {
  LoadSessionResponse,
  NewSessionRequest,
  NewSessionResponse,
  PermissionOption,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from '@agentclientprotocol/sdk'
import type { Clock, ErrorCode, Tool, ToolContext } from '@baton/core/internal'
import { BatonError, checkFields, checkKinds, isBatonError, readMonotonicMs, tool } from '@baton/core/internal'
import * as z from 'zod'
import type { AgentProgram } from './agent-process.ts'
import { AgentProcess } from './agent-process.ts'
import { AgentTurn } from './agent-turn.ts'

/** Options of `acpAgent`: `{ command: 'opencode', args: ['acp'] }`. */
export interface AcpAgentOptions {
  /** Program to run, such as `opencode`, and its arguments, such as `['acp']`. */
  readonly command: string
  readonly args?: readonly string[]
  /** Name of the tool; `agent.run` by default. */
  readonly name?: string
  /** Display name; the command by default. */
  readonly title?: string
  /** Description that tells the model when to use it. */
  readonly description?: string
  /** Working directory of the agent; that of this process by default. */
  readonly cwd?: string
  /**
   * Environment variables of the program, in addition to PATH, HOME, LANG and TMPDIR. It inherits no others from this
   * process.
   */
  readonly env?: Readonly<Record<string, string>>
  /**
   * Set to `false` to start the agent without asking the user. The agent's own permission requests are still asked.
   * Defaults to `true`.
   */
  readonly approval?: boolean
  /**
   * Id of the mode for the agent's sessions, which determines how freely it acts: `plan` or `acceptEdits` for Claude
   * Code, `read` or `allow` for Baton. The agent's own default if omitted.
   */
  readonly mode?: string
  /** Timeout of one call in milliseconds, not counting the time a user takes to answer; 30 minutes by default. */
  readonly timeoutMs?: number
  /** Clock that throttles progress updates; the system clock by default. */
  readonly clock?: Clock
}

/** A coding agent that runs as a program, as a tool. `defineAgent({ tools: [opencode.tool] })`. */
export interface AcpAgent {
  readonly tool: Tool
  /** Ends the program. `await using` calls it at the end of its block. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const TIMEOUT_MS = 30 * 60_000
const OPEN_MS = 60_000
/** Milliseconds the agent may take to stop after a cancellation before Baton ends it. */
const CANCEL_MS = 5_000
const PROGRESS_MS = 250
/** Maximum number of sessions whose agent session is remembered. */
const SESSIONS_MAX = 500
const FIELDS = new Set('command args name title description cwd env approval mode timeoutMs clock'.split(' '))
const ERRORS: readonly ErrorCode[] = ['api_unavailable', 'tool_failed', 'cancelled']
const PASSED_ON = ['PATH', 'HOME', 'LANG', 'TMPDIR']

const output = z.object({
  text: z.string().describe("The agent's answer"),
  stopReason: z.string().describe('"end_turn", or why it stopped early'),
  calls: z.array(z.object({ id: z.string(), title: z.string(), kind: z.string(), status: z.string() })),
  diffs: z
    .array(z.object({ path: z.string(), oldText: z.string().nullable(), newText: z.string() }))
    .describe('File changes that it reported'),
  resumed: z.boolean().describe('False if it has no memory of earlier calls'),
  truncated: z.boolean(),
})

/** @throws BatonError `invalid_option` */
export function acpAgent(options: AcpAgentOptions): AcpAgent {
  const what = 'acpAgent'
  const elsewhere = { cmd: 'command', timeout: 'timeoutMs', folder: 'cwd' }
  checkFields(options, { what, code: 'invalid_option', fields: FIELDS, elsewhere })
  const kinds = {
    command: 'text',
    args: 'an array',
    name: 'text',
    cwd: 'text',
    env: 'an object',
    approval: 'true or false',
    mode: 'text',
  } as const
  checkKinds(options, { what, code: 'invalid_option', kinds })
  const { command, name = 'agent.run', title = command, timeoutMs = TIMEOUT_MS, approval = true } = options
  if (typeof command !== 'string' || command.trim() === '')
    throw new BatonError({ code: 'invalid_option', message: `${what}: command must name a program` })
  for (const [field, texts] of Object.entries({ args: options.args ?? [], env: Object.values(options.env ?? {}) }))
    if (texts.some((one) => typeof one !== 'string'))
      throw new BatonError({ code: 'invalid_option', message: `${what}: ${field} must contain only strings` })
  const agent = new ForeignAgent(options, title)
  const run = tool({
    name,
    title,
    kind: 'execute',
    description:
      options.description ??
      `Delegates a task to the agent ${title}, which works on its own and then answers. Include everything it needs to know; it remembers earlier tasks from this conversation.`,
    effect: 'once',
    trust: 'untrusted', // it quotes text it has read
    network: true,
    parallel: false,
    approval,
    timeoutMs,
    errors: ERRORS,
    describe: ({ task }) => ({ title: `${title}: ${task.slice(0, 200)}`, destination: title }),
    input: z.object({ task: z.string().min(1).max(50_000).describe('What to do, in full') }),
    output,
    execute: async ({ task }, context) => await agent.run(task, context),
  })
  return { tool: run, close: () => agent.close(), [Symbol.asyncDispose]: () => agent.close() }
}

class ForeignAgent {
  readonly #program: AgentProgram
  readonly #clock: Clock
  readonly #mode: string | undefined
  /** Agent session ids by Baton session id. */
  readonly #sessions = new Map<string, string>()
  #process: Promise<AgentProcess> | undefined
  #isClosed = false

  constructor({ command, args = [], cwd = process.cwd(), env = {}, mode, clock }: AcpAgentOptions, name: string) {
    const passed = PASSED_ON.flatMap((variable) => {
      const value = process.env[variable]
      return value === undefined ? [] : [[variable, value] as const]
    })
    this.#program = { command, args, cwd, name, env: { ...Object.fromEntries(passed), ...env } }
    this.#mode = mode
    this.#clock = clock ?? { nowMs: () => Date.now(), monotonicMs: () => performance.now() }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#process?.then(
      (running) => running.end(),
      () => {},
    )
  }

  async run(task: string, context: ToolContext): Promise<z.infer<typeof output>> {
    const signal = context.signal as AbortSignal // a real one, as ToolContext declares
    const running = await this.#start(signal)
    const { sessionId, isResumed } = await this.#open(running, context.session, signal)
    const turn = new AgentTurn()
    let toldMs = -PROGRESS_MS
    const flood = Promise.withResolvers<never>()
    flood.promise.catch(() => {})
    const leave = running.listen(sessionId, {
      onUpdate: (update) => {
        if (!turn.take(update))
          flood.reject(this.#fail('sent more updates than allowed for one answer and was stopped'))
        const nowMs = readMonotonicMs(this.#clock)
        if (nowMs - toldMs < PROGRESS_MS) return
        toldMs = nowMs
        context.progress(turn.note())
      },
      askPermission: async (request) => await this.#askPerson(request, context),
    })
    const prompt = running.peer.request(running.methods.agent.session.prompt, {
      sessionId,
      prompt: [{ type: 'text', text: task }],
    })
    try {
      const answered = running.ask(prompt, { signal, what: 'answer' })
      const { stopReason } = await Promise.race([answered, flood.promise])
      return { ...turn.result(), stopReason: String(stopReason).slice(0, 40), resumed: isResumed }
    } catch (thrown) {
      if (signal.aborted) await this.#cancel(running, sessionId, prompt)
      // An agent that floods or violates the protocol is not reused.
      else if (!isBatonError(thrown) || thrown.code !== 'tool_failed' || turn.isFlooded) void running.end()
      throw thrown
    } finally {
      leave()
    }
  }

  /** Returns the running program, or starts a new one if it has ended. */
  async #start(signal: AbortSignal): Promise<AgentProcess> {
    for (;;) {
      const before = this.#process
      const known = await before?.catch(() => undefined)
      if (this.#isClosed) throw this.#fail('was closed')
      signal.throwIfAborted()
      if (known?.isAlive) return known
      // Otherwise another call has started one meanwhile, and only the last one would be closed.
      if (this.#process === before) return await (this.#process = AgentProcess.start(this.#program, signal))
    }
  }

  async #open(
    running: AgentProcess,
    session: string,
    signal: AbortSignal,
  ): Promise<{ readonly sessionId: string; readonly isResumed: boolean }> {
    const known = this.#sessions.get(session)
    const limits = { signal, timeoutMs: OPEN_MS, what: 'open a session' }
    const place: NewSessionRequest = { cwd: this.#program.cwd, mcpServers: [] }
    if (known !== undefined && running.has(known)) return { sessionId: known, isResumed: true }
    if (known !== undefined && running.about?.agentCapabilities?.loadSession === true) {
      try {
        const load = running.peer.request(running.methods.agent.session.load, { sessionId: known, ...place })
        const { modes } = await running.ask<LoadSessionResponse>(load, limits)
        await this.#setMode(running, { sessionId: known, modes }, limits)
        running.remember(known)
        return { sessionId: known, isResumed: true }
      } catch (thrown) {
        // The agent has forgotten the session. `resumed` reports that this one is new.
        if (signal.aborted || !running.isAlive) throw thrown
      }
    }
    const opening: Promise<NewSessionResponse> = running.peer.request(running.methods.agent.session.new, place)
    const made = await running.ask(opening, limits)
    const sessionId = String(made.sessionId)
    // Otherwise one user's questions would go to another user.
    if (running.has(sessionId)) throw this.#fail('returned the same id for two sessions')
    running.remember(sessionId)
    await this.#setMode(running, { sessionId, modes: made.modes }, limits)
    this.#sessions.delete(session)
    this.#sessions.set(session, sessionId)
    const [oldest] = this.#sessions.keys()
    if (this.#sessions.size > SESSIONS_MAX && oldest !== undefined) this.#sessions.delete(oldest)
    return { sessionId, isResumed: false }
  }

  /**
   * @throws BatonError `tool_failed` if the agent lacks the mode, since it might otherwise act more freely than
   * intended
   */
  async #setMode(running: AgentProcess, { sessionId, modes }: Opened, limits: Limits): Promise<void> {
    const modeId = this.#mode
    if (modeId === undefined || modes?.currentModeId === modeId) return
    const known = (modes?.availableModes ?? []).map(({ id }) => `"${String(id).slice(0, 40)}"`).slice(0, 20)
    if (!known.includes(`"${modeId}"`))
      throw this.#fail(
        `has no mode "${modeId}"; ${known.length === 0 ? 'it has no modes' : `its modes are ${known.join(', ')}`}`,
      )
    await running.ask(running.peer.request(running.methods.agent.session.setMode, { sessionId, modeId }), {
      ...limits,
      what: 'change its mode',
    })
  }

  /** Ends an agent that does not stop, so that it cannot continue unseen. */
  async #cancel(running: AgentProcess, sessionId: string, prompt: Promise<unknown>): Promise<void> {
    try {
      await running.peer.notify(running.methods.agent.session.cancel, { sessionId })
      await running.ask(prompt, { timeoutMs: CANCEL_MS, what: 'stop' })
    } catch {
      void running.end()
    }
  }

  async #askPerson(request: RequestPermissionRequest, context: ToolContext): Promise<RequestPermissionResponse> {
    const labels = labelOptions(request.options)
    if (labels.size === 0) return { outcome: { outcome: 'cancelled' } }
    const { title, kind, locations } = request.toolCall
    const places = (locations ?? []).slice(0, 5).map(({ path }) => writeLine(path, 200))
    const asked = `${this.#program.name} asks: ${writeLine(title ?? 'may it continue?', 1000)}`
    const about = [kind ? `(${kind})` : '', ...places].filter((one) => one !== '').join(' ')
    const names = [...labels.keys()]
    try {
      const answer = await context.ask({
        message: [asked, about].join('\n').trim(),
        schema: { type: 'object', properties: { choice: { type: 'string', enum: names } }, required: ['choice'] },
      })
      const choice = (answer as { readonly choice?: unknown }).choice
      const option = typeof choice === 'string' ? labels.get(choice) : undefined
      return { outcome: option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' } }
    } catch {
      const no = request.options.find(({ kind: way }) => way === 'reject_once')
      return { outcome: no ? { outcome: 'selected', optionId: no.optionId } : { outcome: 'cancelled' } }
    }
  }

  #fail(why: string): BatonError {
    return new BatonError({ code: 'tool_failed', message: `${this.#program.name} ${why}` })
  }
}

interface Opened {
  readonly sessionId: string
  readonly modes: NewSessionResponse['modes'] | undefined
}

interface Limits {
  readonly signal: AbortSignal
  readonly timeoutMs: number
  readonly what: string
}

const OPTIONS_MAX = 20

/** Labels of permission options; options that share a name also show their kind. */
function labelOptions(options: readonly PermissionOption[]): ReadonlyMap<string, PermissionOption> {
  const labels = new Map<string, PermissionOption>()
  for (const option of options.slice(0, OPTIONS_MAX)) {
    const name = writeLine(option.name, 200)
    labels.set(labels.has(name) ? `${name} (${option.kind}, ${labels.size})` : name, option)
  }
  return labels
}

/** Collapses to one line, so that an agent's text cannot imitate Baton's text below it, and marks omissions. */
function writeLine(said: unknown, most: number): string {
  const line = String(said)
    .replaceAll(/[\s\p{Cc}\p{Bidi_Control}]+/gu, ' ')
    .trim()
  return (line.length > most ? `${line.slice(0, most)}…` : line).toWellFormed()
}
