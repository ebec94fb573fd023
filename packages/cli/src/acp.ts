// `baton acp`: an agent for editors such as Zed, JetBrains and Neovim, which start the command and speak with it over standard input
// and output.
import type { Logger, Permissions } from '@baton/core'
import { BatonError } from '@baton/core'
import { secretsIn } from '@baton/models/choose-model'
import type { AcpOptions } from '@baton/server/acp'
import { createAcpAgents } from './acp-agents.ts'
import type { Command } from './command.ts'
import type { Console, ConsoleStreams } from './console.ts'
import type { EmbeddedHost } from './embedded-host.ts'
import { openEmbeddedHost } from './embedded-host.ts'
import { addKeptKeys } from './kept-keys.ts'
import { createLateHost } from './late-host.ts'
import type { LateHost } from './late-host.ts'
import { logIn } from './login.ts'
import { MCP_HELP, MCP_OPTION } from './mcp-option.ts'
import { PERMISSION_HELP, PERMISSION_WORDS, readPermissions } from './permission-options.ts'
import { reserveOutput } from './reserved-output.ts'
import { createServerLog } from './server-log.ts'
import type { ServerOptions } from './server-options.ts'
import { serverOptions } from './server-options.ts'
import type { StoreLocation } from './store-location.ts'
import { storeLocation } from './store-location.ts'
import { UsageError } from './usage-error.ts'
import { VERSION } from './version.ts'
import { readWords } from './words.ts'

const HELP = `baton acp: an agent in editors, by the Agent Client Protocol

An editor such as Zed, JetBrains or Neovim starts the command and speaks with it over standard input and output
(docs/editors.md). Without AGENT the agent explores the folder of the editor's project.

Usage: baton acp [AGENT] [options]

Options:
  --agent FILE   the same as AGENT; a file whose default export is a function gets the session's folder and editor
  --model NAME   "<provider>/<model>" or "offline" (the agent's own, then as "baton chat" chooses, but never offline)
  --base-url URL another address of that provider; alone it means openai-compatible
${MCP_HELP}
${PERMISSION_HELP}
  --store URL    where sessions are kept: memory:, sqlite:FILE or postgres://HOST/DATABASE (BATON_STORE, else a file for
                 this folder in the user's data folder, which other editors and commands use at the same time)
  --acp-v2       also speaks the draft of version 2 with editors that ask for it
  --login        asks for the key of a provider in this terminal, and ends: what an editor starts to log you in
  --log-level NAME
                 info, warn or silent, on the standard error (warn)

Examples:
  baton acp
  baton acp agent.ts --model anthropic/claude-sonnet-4-5
`

interface AcpWords {
  readonly agent: string | undefined
  readonly model: string | undefined
  readonly baseUrl: string | undefined
  readonly mcp: readonly string[]
  readonly permissions: Permissions | undefined
  readonly store: StoreLocation
  readonly v2: boolean
  readonly login: boolean
  readonly server: ServerOptions
}

export const acpCommand: Command = {
  help: HELP,
  run: async (words, terminal) => {
    const options = readOptions(words, terminal)
    if (options.login) return await logIn(undefined, terminal)
    const { streams } = terminal
    if (!streams) throw new UsageError('there is no standard input; an editor starts this command')
    return await serve(options, terminal, streams)
  },
}

/** @throws UsageError */
function readOptions(words: readonly string[], { variables, folder }: Console): AcpWords {
  const { values, positionals } = readWords(words, {
    command: 'acp',
    options: {
      agent: { type: 'string' },
      model: { type: 'string' },
      'base-url': { type: 'string' },
      mcp: MCP_OPTION,
      ...PERMISSION_WORDS,
      store: { type: 'string' },
      'acp-v2': { type: 'boolean', default: false },
      login: { type: 'boolean', default: false },
      'log-level': { type: 'string' },
    },
    words: ['AGENT'],
  })
  const [agent = values.agent] = positionals
  if (positionals[0] !== undefined && values.agent !== undefined)
    throw new UsageError('name the agent once: by --agent, or as a word')
  return {
    agent,
    model: values.model,
    baseUrl: values['base-url'],
    mcp: values.mcp ?? [],
    permissions: readPermissions(values),
    store: storeLocation(values.store, variables, folder),
    v2: values['acp-v2'],
    login: values.login,
    server: serverOptions(
      { host: '127.0.0.1', insecure: false, 'log-level': values['log-level'] ?? 'warn' },
      variables,
    ),
  }
}

async function serve(options: AcpWords, terminal: Console, streams: ConsoleStreams): Promise<number> {
  // Before anything of the agent's runs: what it prints is not a message.
  const output = reserveOutput(streams)
  const log = await createServerLog(options.server, terminal, secretsIn(terminal.variables))
  const late = createLateHost(() => openHost(options, terminal, log))
  // Faults of the agent or the store are reported before the editor asks for anything; a missing model can wait.
  await late.missing()
  const { serveAcpOverStdio } = await import('@baton/server/acp')
  const acp = describeFront(options, { terminal, late, log })
  const server = serveAcpOverStdio(late.host, { ...acp, input: streams.input, output })
  const stopListening = terminal.onStop(() => void server.close())
  await server.ended
  stopListening()
  await late.stop(0)
  return 0
}

/** Opens the host. It refuses the offline model unless somebody has named it. */
async function openHost(options: AcpWords, terminal: Console, log: Logger): Promise<EmbeddedHost> {
  const variables = addKeptKeys(terminal.variables, (line) => terminal.note(line))
  const embedded = await openEmbeddedHost({
    ...options,
    exchanges: undefined,
    terminal: { ...terminal, variables },
    secrets: secretsIn(variables),
    log,
    onNews: (line) => terminal.note(line),
  })
  const { choice } = embedded
  if (choice.id !== 'offline' || options.model !== undefined || embedded.agent.models.length > 0) return embedded
  await embedded.stop(0)
  throw new BatonError({
    code: 'model_not_configured',
    message: 'no model can answer: log in with the key of a provider, by "baton login" in a terminal',
    hint: 'Or set a variable such as ANTHROPIC_API_KEY, or name a model on this machine by --model.',
  })
}

interface FrontWords {
  readonly terminal: Console
  readonly late: LateHost
  readonly log: Logger
}

function describeFront({ agent, v2 }: AcpWords, { terminal, late, log }: FrontWords): AcpOptions {
  const { folder } = terminal
  return {
    agentOf: createAcpAgents({ agent, folder, open: late.open, log }),
    name: 'baton',
    title: 'Baton',
    version: VERSION,
    folder,
    mcp: ['stdio', 'http', 'sse'],
    experimentalV2: v2,
    auth: {
      name: 'Keys of providers',
      description: 'Uses a key that "baton login" keeps, or that stands in the environment',
      terminalArgs: ['--login'],
      missing: late.missing,
    },
    log,
  }
}
