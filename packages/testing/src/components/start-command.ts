// Starts a real process and reads its output, for tests of commands. It sets no deadline; the test's own applies.
import { spawn } from 'node:child_process'

export interface StartedCommand {
  readonly pid: number | undefined
  /** All text so far. */
  output(): string
  errors(): string
  /** Resolves with the first output line that satisfies `isWanted`. @throws if the process ends without one */
  untilLine(isWanted: (line: string) => boolean): Promise<string>
  kill(signal: NodeJS.Signals): void
  /** Stops reading its output and errors, as if its supervisor had died. */
  stopReading(): void
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>
}

export interface CommandOptions {
  readonly words: readonly string[]
  readonly folder?: string
  /** Its only environment variables, apart from PATH and NODE_COMPILE_CACHE. */
  readonly variables?: Readonly<Record<string, string>>
}

/** Maximum text kept per stream; more than that fails the test in another way. */
const TEXT_MAX = 4 * 1024 * 1024

export function startCommand(program: string, init: CommandOptions): StartedCommand {
  const child = spawn(program, [...init.words], {
    ...(init.folder !== undefined && { cwd: init.folder }),
    env: { ...takeOwn('PATH', 'NODE_COMPILE_CACHE'), ...init.variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const texts = { output: '', errors: '' }
  const watchers = new Set<() => void>()
  const tellAll = (): void => {
    for (const look of watchers) look()
  }
  const collect = (stream: keyof typeof texts) => (piece: string) => {
    if (texts[stream].length < TEXT_MAX) texts[stream] += piece
    tellAll()
  }
  child.stdout.setEncoding('utf8').on('data', collect('output'))
  child.stderr.setEncoding('utf8').on('data', collect('errors'))
  let isOver = false
  const ended = new Promise<Awaited<StartedCommand['ended']>>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      isOver = true
      resolve({ code, signal })
      tellAll()
    })
  })
  // Reported to callers that wait for a line.
  ended.catch(() => {})

  const untilLine: StartedCommand['untilLine'] = (isWanted) =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const line = texts.output.split('\n').slice(0, -1).find(isWanted)
        if (line === undefined && !isOver) return
        watchers.delete(look)
        if (line !== undefined) resolve(line)
        else reject(new Error(`the command ended without the line; its output: ${texts.output}${texts.errors}`))
      }
      watchers.add(look)
      look()
    })

  return {
    pid: child.pid,
    output: () => texts.output,
    errors: () => texts.errors,
    untilLine,
    kill: (signal) => void child.kill(signal),
    stopReading: () => {
      child.stdout.destroy()
      child.stderr.destroy()
    },
    ended,
  }
}

function takeOwn(...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  )
}
