// A program that a test starts, asks by lines of JSON, and kills.
import type { ChildProcessByStdio } from 'node:child_process'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'

/** Each command has its number `n`, and its answer repeats that. */
export interface Numbered {
  readonly n: number
}

export interface KilledProcess<Command extends Numbered> {
  readonly port: number
  /** Resolves to undefined if the program refuses, or dies first. */
  ask(command: Omit<Command, 'n'>): Promise<unknown>
  readonly ended: Promise<void>
  kill(): void
}

/** Starts a program of this folder, and resolves once it has said its `port`. */
export async function startProcess<Command extends Numbered>(
  name: string,
  words: readonly string[],
): Promise<KilledProcess<Command>> {
  const program = join(import.meta.dirname, name)
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(
    process.execPath,
    ['--conditions=@baton/source', program, ...words],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const waiting = new Map<number, (answer: unknown) => void>()
  const begun = Promise.withResolvers<number>()
  const ended = new Promise<void>((resolve) => void child.on('exit', () => resolve()))
  void ended.then(() => begun.reject(new Error(`${name} ended before it began`)))
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { port, n = -1, answer } = JSON.parse(line) as { port?: number; n?: number; answer?: unknown } // of the program
    if (port !== undefined) begun.resolve(port)
    waiting.get(n)?.(answer)
    waiting.delete(n)
  })
  child.stdin.on('error', () => {}) // it was killed
  let serial = 0
  const ask = (command: Omit<Command, 'n'>): Promise<unknown> => {
    const n = (serial += 1)
    child.stdin.write(`${JSON.stringify({ ...command, n })}\n`)
    return Promise.race([new Promise((resolve) => waiting.set(n, resolve)), ended])
  }
  return { port: await begun.promise, ask, ended, kill: () => void child.kill('SIGKILL') }
}

/** Answers each line of the input, and says the port first. For the program. */
export function serveCommands<Command extends Numbered>(
  port: number,
  perform: (command: Command) => Promise<unknown>,
): void {
  const say = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`)
  say({ port })
  createInterface({ input: process.stdin }).on('line', (line) => {
    const command = JSON.parse(line) as Command // of the test
    perform(command).then(
      (answer) => say({ n: command.n, answer }),
      (cause: unknown) => say({ n: command.n, failed: String(cause) }),
    )
  })
}
