// The `baton` command: finds the requested command, and turns errors into one line and an exit code.
import type { Command } from './command.ts'
import type { Console } from './console.ts'
import { UsageError } from './words/usage-error.ts'
import { VERSION } from './version.ts'

interface Entry {
  /** Shown in the list of all commands. */
  readonly summary: string
  /** Loads the command and its dependencies on demand, so that `--version` needs none of them. */
  readonly load: () => Promise<Command>
}

const COMMANDS: Readonly<Record<string, Entry>> = {
  chat: {
    summary: 'chat with an agent in the terminal, here or on a running server',
    load: async () => (await import('./commands/chat.ts')).chatCommand,
  },
  init: {
    summary: 'create an agent, its test and a package in this folder',
    load: async () => (await import('./commands/init.ts')).initCommand,
  },
  run: {
    summary: 'give an agent one goal, for scripts',
    load: async () => (await import('./commands/run-command.ts')).runCommand,
  },
  explore: {
    summary: 'explore a folder with a small model and report what it contains',
    load: async () => (await import('./commands/explore.ts')).exploreCommand,
  },
  serve: {
    summary: 'serve chat pages (HTTP) and apps (WebSocket)',
    load: async () => (await import('./commands/serve.ts')).serveCommand,
  },
  console: {
    summary: 'show sessions, what waits, where each call is and what it costs, as a page',
    load: async () => (await import('./commands/console.ts')).consoleCommand,
  },
  mcp: {
    summary: 'serve an agent and its tools to MCP clients, over standard input and output or HTTP',
    load: async () => (await import('./commands/mcp.ts')).mcpCommand,
  },
  acp: {
    summary: 'serve an agent to editors such as Zed, over the Agent Client Protocol',
    load: async () => (await import('./commands/acp.ts')).acpCommand,
  },
  login: {
    summary: 'save the key of a provider',
    load: async () => (await import('./commands/login.ts')).loginCommand,
  },
  worker: {
    summary: 'run a worker for sessions and goals of a Temporal service',
    load: async () => (await import('./commands/worker.ts')).workerCommand,
  },
  models: {
    summary: 'list providers and the models they offer',
    load: async () => (await import('./commands/models.ts')).modelsCommand,
  },
  sessions: {
    summary: 'list, delete, export or import sessions',
    load: async () => (await import('./commands/sessions.ts')).sessionsCommand,
  },
  store: {
    summary: "check, back up or restore a store's file",
    load: async () => (await import('./commands/store.ts')).storeCommand,
  },
  log: { summary: 'show what happened in a session', load: async () => (await import('./commands/log.ts')).logCommand },
  replay: {
    summary: 'replay an exported session with the current agent',
    load: async () => (await import('./commands/replay.ts')).replayCommand,
  },
  doctor: {
    summary: 'check what is configured, reachable or missing',
    load: async () => (await import('./commands/doctor.ts')).doctorCommand,
  },
}

const USAGE_EXIT = 2

/** Returns the exit code: 0, 1 for a failure, 2 for wrong usage; `baton chat` has more. */
export async function run(words: readonly string[], terminal: Console): Promise<number> {
  const { rest, isVerbose } = takeVerbose(words)
  try {
    return await runCommand(rest, terminal)
  } catch (cause) {
    const { errorLine, errorStack } = await import('./words/error-line.ts')
    terminal.note(`baton: ${errorLine(cause, terminal.variables)}`)
    if (isVerbose) terminal.note(errorStack(cause, terminal.variables))
    return cause instanceof UsageError ? USAGE_EXIT : 1
  }
}

const VERBOSE = '--verbose'

/** Accepted by every command, except as the value of an option, as in "--once=--verbose". */
function takeVerbose(words: readonly string[]): { readonly rest: readonly string[]; readonly isVerbose: boolean } {
  const end = words.indexOf('--')
  const ours = end < 0 ? words : words.slice(0, end)
  if (!ours.includes(VERBOSE)) return { rest: words, isVerbose: false }
  return { rest: [...ours.filter((word) => word !== VERBOSE), ...words.slice(ours.length)], isVerbose: true }
}

async function runCommand([name, ...rest]: readonly string[], terminal: Console): Promise<number> {
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    const [about] = name === 'help' ? rest : []
    terminal.write(about === undefined ? HELP : (await findCommand(about)).help)
    return 0
  }
  if (name === '--version' || name === '-v') {
    terminal.write(`${VERSION}\n`)
    return 0
  }
  const command = await findCommand(name)
  if (rest.includes('--help') || rest.includes('-h')) {
    terminal.write(command.help)
    return 0
  }
  await terminal.loadKeys?.()
  return await command.run(rest, terminal)
}

/** @throws UsageError */
async function findCommand(name: string): Promise<Command> {
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (entry) return await entry.load()
  const { suggestion } = await import('./words/words.ts')
  const options = ['--version', '--help', VERBOSE]
  const near =
    suggestion(name, Object.keys(COMMANDS)) ||
    (name.startsWith('-') ? suggestion(name, options) : suggestion(`--${name}`, options))
  const names = Object.keys(COMMANDS).join(', ')
  throw new UsageError(`there is no command "${name}"${near || `; the commands are ${names};`} see "baton --help"`)
}

const HELP = `baton: tool calls that always come home

Usage: baton COMMAND [options]

${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`)
  .join('\n')}
  help COMMAND  show the options and examples of a command
  --version
  --verbose     with any command: show an error's stack

Without options, the agent explores the current folder, with a model that needs no key and no network.
Examples:
  baton chat
  baton chat --once "which files here mention WebSocket?"
  baton init
  baton serve
  baton doctor

Paths such as docs/chat.md are in a project's node_modules/@baton/host, or in a clone of Baton.
`
