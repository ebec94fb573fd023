// The help texts of the `baton` command.
import type { CommandName } from './options.ts'

export const HELP = `baton: tool calls that always come home

Usage:
  baton serve [options]               a WebSocket server for apps of protocol version 1
  baton chat --once "text" [options]  one question, answered here
  baton help <command>                options and examples of a command
  baton --version

Without options the agent explores the folder that you are in, and the model needs no key and no network.
Examples:
  baton chat --once "which files here mention WebSocket?"
  baton serve
`

const MODEL = `  --model NAME   "anthropic/<model>" or "offline". By default the agent's own model, then that of
                 MODEL_PROVIDER, then Anthropic's where ANTHROPIC_API_KEY is set, then "offline"`
const AGENT = `  --agent FILE   a TypeScript or JavaScript file whose default export is an agent`

const SERVE = `baton serve: a WebSocket server for apps of protocol version 1

Options:
${AGENT}
${MODEL}
  --host NAME    address to listen on (127.0.0.1)
  --port NUMBER  port to listen on; 0 takes a free one (PORT, else 8080)
  --store URL    memory: is the only one yet (memory:)
  --allow-origin ORIGIN
                 pages that may connect, may be repeated, * for all (pages of this machine; with another --host
                 than this machine none)
  --json         one line of JSON when the server is ready: {"event":"listening","url":"ws://..."}

Variables: PORT, MODEL_PROVIDER, ANTHROPIC_API_KEY, ANTHROPIC_MODEL, ANTHROPIC_MAX_TOKENS, ANTHROPIC_BASE_URL,
MAX_TURNS (exchanges that the model sees, 20), MAX_EVENT_BYTES (bytes of a frame, 65536)

Examples:
  baton serve
  baton serve --agent examples/voice-conductor/agent.ts --model anthropic/claude-haiku-4-5
  baton serve --port 0 --json
`

const CHAT = `baton chat: one question, answered here

The answer is written to the standard output as it comes; calls are short lines on the standard error.
The exit code is 0 when there is an answer, else 1.

Options:
  --once TEXT    the question
${AGENT}
${MODEL}

Examples:
  baton chat --once "which files here mention WebSocket?"
  baton chat --once "what is in package.json?" --model anthropic/claude-haiku-4-5
`

export function helpOf(command: CommandName): string {
  return command === 'serve' ? SERVE : CHAT
}
