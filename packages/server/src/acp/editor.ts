// An editor's services for tools: it reads and writes files, including unsaved changes, and runs commands in terminals
// that the user sees. Methods that an editor does not offer are absent.
import type {
  AgentContext,
  ClientCapabilities,
  CreateTerminalResponse,
  TerminalOutputResponse,
  WaitForTerminalExitResponse,
} from '@agentclientprotocol/sdk'
import { methods, RequestError } from '@agentclientprotocol/sdk'
import type { Timers } from '@baton/core/internal'
import { BatonError, isJsonObject } from '@baton/core/internal'
import { within } from '@baton/runtime'
import { describeRefusal } from './acp-errors.ts'

export interface Editor {
  /** Returns the text of a file by its absolute path. @throws BatonError `tool_failed` */
  readonly readTextFile?: (path: string) => Promise<string>
  /** @throws BatonError `tool_failed` */
  readonly writeTextFile?: (path: string, text: string) => Promise<void>
  /** Resolves when the command has ended; aborting kills it. @throws BatonError `tool_failed`, `cancelled` */
  readonly runCommand?: (command: EditorCommand) => Promise<EditorCommandEnd>
}

export interface EditorCommand {
  /** The call that the command belongs to: the editor shows the terminal there. */
  readonly callId: string
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly timeoutMs: number
  /** Bytes of output to keep, dropping the oldest. */
  readonly outputBytes: number
  readonly signal: AbortSignal
}

export interface EditorCommandEnd {
  readonly output: string
  readonly truncated: boolean
  readonly timedOut: boolean
  /** Null if a signal ended it. */
  readonly exitCode: number | null
  readonly signal: string | null
}

export interface EditorOptions {
  readonly client: Pick<AgentContext, 'request'>
  readonly session: string
  readonly capabilities: ClientCapabilities
  readonly fileMs: number
  readonly timers: Timers
  /** Called when a call gets a terminal. */
  readonly onTerminal: (callId: string, terminalId: string) => Promise<void>
}

/** Milliseconds for an editor to create a terminal, to return its output, and to end it. */
const TERMINAL_MS = 30_000

export function createEditor(init: EditorOptions): Editor {
  const { client, session: sessionId, capabilities, fileMs } = init
  const { fs, terminal } = capabilities
  const ask = askWithin(init)
  return {
    ...(fs?.readTextFile === true && {
      readTextFile: async (path) => {
        const answer = client.request(methods.client.fs.readTextFile, { sessionId, path })
        return demandText(await ask('read the file', fileMs, answer), 'content')
      },
    }),
    ...(fs?.writeTextFile === true && {
      writeTextFile: async (path, content) => {
        await ask(
          'write the file',
          fileMs,
          client.request(methods.client.fs.writeTextFile, { sessionId, path, content }),
        )
      },
    }),
    ...(terminal === true && { runCommand: (command) => runCommand(init, command) }),
  }
}

const REASON_CHARS = 500

type Ask = <Value>(what: string, timeoutMs: number, answer: Promise<Value>) => Promise<Value>

/** Sends a request to the editor with a deadline, and turns failures into errors that a model understands. */
function askWithin({ timers }: EditorOptions): Ask {
  return async (what, timeoutMs, answer) => {
    const error = (): BatonError =>
      new BatonError({ code: 'tool_failed', message: `the editor did not ${what} within ${timeoutMs} ms` })
    try {
      return await within(timers, { timeoutMs, error }, answer)
    } catch (cause) {
      if (cause instanceof BatonError) throw cause
      throw new BatonError({
        code: 'tool_failed',
        message: `the editor could not ${what}: ${readReason(cause)}`,
        cause,
      })
    }
  }
}

function readReason(cause: unknown): string {
  if (cause instanceof RequestError) return describeRefusal(cause).slice(0, REASON_CHARS)
  return cause instanceof Error ? cause.message.slice(0, REASON_CHARS) : 'no reason given'
}

async function runCommand(init: EditorOptions, command: EditorCommand): Promise<EditorCommandEnd> {
  const ended = new AbortController()
  const aborted = untilAborted(command.signal, ended.signal)
  try {
    return await waitForEnd(init, { ...command, aborted, terminalId: await createTerminal(init, command, aborted) })
  } finally {
    ended.abort()
  }
}

interface StartedCommand extends EditorCommand {
  readonly terminalId: string
  readonly aborted: Promise<undefined>
}

async function waitForEnd(init: EditorOptions, started: StartedCommand): Promise<EditorCommandEnd> {
  const { client, session: sessionId, onTerminal, timers } = init
  const { callId, terminalId, signal, aborted, timeoutMs } = started
  const ask = askWithin(init)
  const terminal = { sessionId, terminalId }
  const kill = (): void => {
    client.request(methods.client.terminal.kill, terminal).catch(() => {}) // it has ended, or is released below
  }
  let timedOut = false
  const stopTimer = timers.start(timeoutMs, () => {
    timedOut = true
    kill()
  })
  signal.addEventListener('abort', kill, { once: true })
  if (signal.aborted) kill()
  try {
    await onTerminal(callId, terminalId)
    const exit = client.request<WaitForTerminalExitResponse>(methods.client.terminal.waitForExit, terminal)
    const ended = await Promise.race([exit, aborted]).catch((cause: unknown) =>
      ask('run the command', TERMINAL_MS, Promise.reject<undefined>(cause)),
    )
    if (ended === undefined) throw createCancelled()
    const answer = client.request<TerminalOutputResponse>(methods.client.terminal.output, terminal)
    const told = await ask('return the output of the command', TERMINAL_MS, answer)
    return { output: demandText(told, 'output'), truncated: told.truncated === true, timedOut, ...readExit(ended) }
  } finally {
    stopTimer()
    signal.removeEventListener('abort', kill)
    client.request(methods.client.terminal.release, terminal).catch(() => {}) // the connection is lost, and the terminal with it
  }
}

/** @throws BatonError `tool_failed`, `cancelled` */
async function createTerminal(
  init: EditorOptions,
  { command, args, cwd, outputBytes, signal }: EditorCommand,
  aborted: Promise<undefined>,
): Promise<string> {
  const { client, session: sessionId } = init
  if (signal.aborted) throw createCancelled()
  const given = { sessionId, command, args: [...args], cwd, outputByteLimit: outputBytes }
  const made = client.request<CreateTerminalResponse>(methods.client.terminal.create, given)
  try {
    const answer = await Promise.race([askWithin(init)('create a terminal', TERMINAL_MS, made), aborted])
    if (signal.aborted) throw createCancelled()
    return demandText(answer, 'terminalId')
  } catch (cause) {
    // An editor may still be asking its user, and would run the command although the model has read its failure.
    made.then((late) => endTerminal(init, late)).catch(() => {}) // none was created, or the connection is lost
    throw cause
  }
}

async function endTerminal({ client, session: sessionId }: EditorOptions, created: unknown): Promise<void> {
  const terminal = { sessionId, terminalId: demandText(created, 'terminalId') }
  await Promise.all(
    [methods.client.terminal.kill, methods.client.terminal.release].map((end) => client.request(end, terminal)),
  )
}

function createCancelled(): BatonError {
  return new BatonError({ code: 'cancelled', message: 'the command was ended' })
}

/**
 * Checks an answer's text field, because neither the SDK does nor can the editor be trusted: callers would take an
 * object with a huge `length` for a long text.
 * @throws BatonError `tool_failed`
 */
function demandText(answer: unknown, field: string): string {
  const text = isJsonObject(answer) ? answer[field] : undefined
  if (typeof text === 'string') return text
  throw new BatonError({ code: 'tool_failed', message: `the editor’s answer has no text in ${field}` })
}

function readExit(ended: unknown): Pick<EditorCommandEnd, 'exitCode' | 'signal'> {
  const { exitCode, signal } = isJsonObject(ended) ? ended : {}
  return {
    exitCode: typeof exitCode === 'number' ? exitCode : null,
    signal: typeof signal === 'string' ? signal : null,
  }
}

/** Resolves when the signal aborts, unless `ended` has aborted before. */
function untilAborted(signal: AbortSignal, ended: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    else signal.addEventListener('abort', () => resolve(undefined), { once: true, signal: ended })
  })
}
