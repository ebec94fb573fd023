// The `baton` command: finds the command that is meant, and turns what goes wrong into one line and an exit code.
import { chatCommand } from './chat.ts'
import type { Command } from './command.ts'
import type { Console } from './console.ts'
import { doctorCommand } from './doctor.ts'
import { errorLine } from './error-line.ts'
import { logCommand } from './log.ts'
import { modelsCommand } from './models.ts'
import { replayCommand } from './replay.ts'
import { serveCommand } from './serve.ts'
import { sessionsCommand } from './sessions.ts'
import { storeCommand } from './store.ts'
import { UsageError } from './usage-error.ts'
import { VERSION } from './version.ts'
import { suggestion } from './words.ts'

const COMMANDS: Readonly<Record<string, Command>> = {
  chat: chatCommand,
  serve: serveCommand,
  models: modelsCommand,
  sessions: sessionsCommand,
  store: storeCommand,
  log: logCommand,
  replay: replayCommand,
  doctor: doctorCommand,
}

const USAGE_EXIT = 2

/** Returns the exit code: 0, 1 when it failed, 2 when it was asked wrongly; `baton chat` has more. */
export async function run(words: readonly string[], terminal: Console): Promise<number> {
  try {
    return await runCommand(words, terminal)
  } catch (cause) {
    terminal.note(`baton: ${errorLine(cause, terminal.variables)}`)
    return cause instanceof UsageError ? USAGE_EXIT : 1
  }
}

async function runCommand([name, ...rest]: readonly string[], terminal: Console): Promise<number> {
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    const [about] = name === 'help' ? rest : []
    terminal.write(about === undefined ? HELP : findCommand(about).help)
    return 0
  }
  if (name === '--version' || name === '-v') {
    terminal.write(`${VERSION}\n`)
    return 0
  }
  const command = findCommand(name)
  if (rest.includes('--help') || rest.includes('-h')) {
    terminal.write(command.help)
    return 0
  }
  return await command.run(rest, terminal)
}

/** @throws UsageError */
function findCommand(name: string): Command {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command) return command
  const near = suggestion(name, Object.keys(COMMANDS))
  const names = Object.keys(COMMANDS).join(', ')
  throw new UsageError(`there is no command "${name}"${near || `; there are ${names};`} see "baton --help"`)
}

const HELP = `baton: tool calls that always come home

Usage: baton COMMAND [options]

${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`)
  .join('\n')}
  help COMMAND  options and examples of a command
  --version

Without options the agent explores the folder that you are in, and the model needs no key and no network.
Examples:
  baton chat
  baton chat --once "which files here mention WebSocket?"
  baton serve
  baton doctor
`
