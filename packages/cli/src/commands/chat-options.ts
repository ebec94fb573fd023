// Options of `baton chat`, with its help.
import type { Permissions } from '@baton/core'
import { describePlace } from '@baton/models/internal'
import type { Console } from '../console.ts'
import { MCP_HELP, MCP_OPTION } from '../words/mcp-option.ts'
import { MODEL_HELP } from '../words/model-options.ts'
import { PERMISSION_HELP, PERMISSION_WORDS, readPermissions } from '../words/permission-options.ts'
import type { StoreLocation } from '../places/store-location.ts'
import { storeLocation } from '../places/store-location.ts'
import { UsageError } from '../words/usage-error.ts'
import { readToken } from '../words/token-option.ts'
import { notBlank, numberOfVariable, readWords } from '../words/words.ts'

export interface ChatOptions {
  readonly once: string | undefined
  readonly session: string | undefined
  /** Print events instead of answers. */
  readonly json: boolean
  readonly partner: EmbeddedOptions | ServerChoice
}

export interface EmbeddedOptions {
  readonly type: 'embedded'
  readonly agent: string | undefined
  readonly model: string | undefined
  readonly baseUrl: string | undefined
  /** Exchanges of the window, from MAX_TURNS. */
  readonly exchanges: number | undefined
  readonly mcp: readonly string[]
  readonly permissions: Permissions | undefined
  readonly store: StoreLocation
}

export interface ServerChoice {
  readonly type: 'server'
  readonly url: string
  readonly token: string | undefined
}

export const CHAT_HELP = `baton chat: chat with an agent in the terminal

Answers stream, and tool calls are shown as they run and settle. You run client tools and decide approvals. Ctrl+C
interrupts the answer; a second Ctrl+C exits. In the chat, /help lists the commands: /model NAME, /retry, /undo, /fork,
/show, /tools, /usage and others.

Options:
  --once TEXT    ask one question: the answer goes to standard output, calls to standard error. Piped input is added
                 to the question
  --json         print each event as a line of JSON instead of the answers (docs/events.md)
  --session NAME continue that session, or start it (default: a new one)
${MODEL_HELP}
${MCP_HELP}
${PERMISSION_HELP}
  --store URL    where to keep sessions: sqlite:FILE or memory: (default: BATON_STORE, then a file for this folder in
                 the user's data folder; with --once and no --session, memory:). If a server has the store open, the
                 chat connects to it, unless --agent, --model, --base-url, --mcp or permissions are given
  --url URL      connect to a running server, such as ws://127.0.0.1:8080/ws, and use its agent, model and store
  --token TEXT   the token for that server (BATON_TOKEN is safer)

Without a terminal, each line of standard input is a turn, and approvals are denied because there is no one to ask; a
line /approve always before it approves the calls, except those that a policy asks about.
Exit codes: 0 success; 1 the chat could not start or, without a terminal, a turn failed or had no answer; 2 wrong usage;
130 left during an answer. NO_COLOR=1 disables colours.

Examples:
  baton chat
  baton chat --session shop --model ollama/qwen3
  baton chat --model openai-compatible/my-model --base-url http://gpu-1:8080/v1
  baton chat --mcp "npx -y @modelcontextprotocol/server-everything"
  baton chat --url ws://127.0.0.1:8080/ws --session kitchen
  baton chat --once "which files here mention WebSocket?"
  git diff | baton chat --once "what does this change?"
  printf 'list the files\\nwhat is in README.md?\\n' | baton chat
`

/** Options for an agent that runs here. */
const EMBEDDED_WORDS = [
  'agent',
  'model',
  'base-url',
  'mcp',
  'store',
  'allow',
  'deny',
  'no-network',
  'no-external-models',
] as const
const NAME_CHARS_MAX = 128

/** @throws UsageError */
export function chatOptions(words: readonly string[], { variables, folder }: Console): ChatOptions {
  const { values } = readWords(words, {
    command: 'chat',
    instead: (question) => `--once ${JSON.stringify(question)} asks one question`,
    options: {
      once: { type: 'string' },
      session: { type: 'string' },
      agent: { type: 'string' },
      model: { type: 'string' },
      'base-url': { type: 'string' },
      mcp: MCP_OPTION,
      ...PERMISSION_WORDS,
      store: { type: 'string' },
      url: { type: 'string' },
      token: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  })
  const { json } = values
  const once = notBlank(values.once, '--once')
  const session = notBlank(values.session, '--session')
  if (session !== undefined && session.length > NAME_CHARS_MAX)
    throw new UsageError(`--session must be a name of at most ${NAME_CHARS_MAX} characters`)
  if (values.url !== undefined) {
    for (const name of EMBEDDED_WORDS)
      if (values[name] !== undefined)
        throw new UsageError(`--url and --${name} cannot be combined: the server has its own`)
    const partner = { type: 'server', url: readUrl(values.url), token: readToken(values.token, variables) } as const
    return { once, session, json, partner }
  }
  if (values.token !== undefined) throw new UsageError('--token requires --url')
  const isBrief = once !== undefined && session === undefined && values.store === undefined
  const partner: EmbeddedOptions = {
    type: 'embedded',
    agent: values.agent,
    model: values.model,
    baseUrl: values['base-url'],
    exchanges: numberOfVariable(variables, 'MAX_TURNS', 10_000),
    mcp: values.mcp ?? [],
    permissions: readPermissions(values),
    store: isBrief ? { type: 'memory' } : storeLocation(values.store, variables, folder),
  }
  return { once, session, json, partner }
}

/** `ws://127.0.0.1:8080` is enough. */
function readUrl(text: string): string {
  const url = URL.parse(text)
  if (!url || !['ws:', 'wss:'].includes(url.protocol) || url.search !== '' || url.hash !== '')
    throw new UsageError(
      `--url must be an address such as ws://127.0.0.1:8080/ws, without a query, not "${describePlace(text)}"`,
    )
  if (url.username !== '' || url.password !== '')
    throw new UsageError('--url must not contain a user name or password; use --token or BATON_TOKEN')
  if (url.pathname === '/') url.pathname = '/ws'
  return url.href
}
