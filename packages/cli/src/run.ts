// The `baton` command: finds the command that is meant, and turns what goes wrong into one line and an exit code.
import { isBatonError } from '@baton/core'
import { chat } from './chat.ts'
import type { Console } from './console.ts'
import { HELP, helpOf } from './help.ts'
import type { CommandName } from './options.ts'
import { isCommand, parseOptions, UsageError } from './options.ts'
import { serve } from './serve.ts'
import { VERSION } from './version.ts'

const USAGE_EXIT = 2

/** Returns the exit code: 0, 1 when it failed, 2 when it was asked wrongly. */
export async function run(words: readonly string[], terminal: Console): Promise<number> {
  try {
    return await runCommand(words, terminal)
  } catch (cause) {
    terminal.note(`baton: ${messageOf(cause)}`)
    return cause instanceof UsageError ? USAGE_EXIT : 1
  }
}

async function runCommand([command, ...rest]: readonly string[], terminal: Console): Promise<number> {
  if (command === undefined || command === '--help' || command === '-h' || command === 'help') {
    const [about] = command === 'help' ? rest : []
    terminal.write(about === undefined ? HELP : helpOf(known(about)))
    return 0
  }
  if (command === '--version' || command === '-v') {
    terminal.write(`${VERSION}\n`)
    return 0
  }
  const name = known(command)
  if (rest.includes('--help') || rest.includes('-h')) {
    terminal.write(helpOf(name))
    return 0
  }
  const options = parseOptions(name, rest, terminal)
  return options.command === 'serve' ? await serve(options, terminal) : await chat(options, terminal)
}

/** @throws UsageError */
function known(command: string): CommandName {
  if (isCommand(command)) return command
  throw new UsageError(`there is no command "${command}"; see "baton --help"`)
}

/** One line: what happened, and what to do where the message does not say so itself. */
function messageOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause)
  const line = message.replace(/\s*\n\s*/g, ' ').trim()
  if (!isBatonError(cause)) return line
  return cause.code.startsWith('model_') && cause.code !== 'model_not_configured'
    ? `${cause.code}: ${line} (${cause.hint})`
    : line
}
