// `baton acp`: an agent for editors such as Zed, JetBrains and Neovim, which start the command and talk to it over
// standard input and output.
import type { Logger, Permissions, Host } from '@baton/core'
import { BatonError, isBatonError } from '@baton/core'
import { secretsIn } from '@baton/models/internal'
import type { AcpOptions } from '@baton/server/acp'
import { createAcpAgents } from '../places/acp-agents.ts'
import type { Command } from '../command.ts'
import type { Console, ConsoleStreams } from '../console.ts'
import type { EmbeddedHost } from '../places/embedded-host.ts'
import { openEmbeddedHost } from '../places/embedded-host.ts'
import { addKeptKeys } from '../places/kept-keys.ts'
import { logIn } from './login.ts'
import { MCP_HELP, MCP_OPTION } from '../words/mcp-option.ts'
import { PERMISSION_HELP, PERMISSION_WORDS, readPermissions } from '../words/permission-options.ts'
import { reserveOutput } from '../places/reserved-output.ts'
import { createServerLog } from './server-log.ts'
import type { ServerOptions } from './server-options.ts'
import { serverOptions } from './server-options.ts'
import type { StoreLocation } from '../places/store-location.ts'
import { storeLocation } from '../places/store-location.ts'
import { UsageError } from '../words/usage-error.ts'
import { VERSION } from '../version.ts'
import { readWords } from '../words/words.ts'
import type { LocalHost } from '@baton/host'

const HELP = `baton acp: an agent in editors, over the Agent Client Protocol

An editor such as Zed, JetBrains or Neovim starts this command and talks to it over standard input and output
(docs/editors.md). Without AGENT, the agent explores the folder of the editor's project.

Usage: baton acp [AGENT] [options]

Options:
  --agent FILE   same as AGENT; a file may export a function by default, which gets the session's folder and editor
  --model NAME   "<provider>/<model>" or "offline" (default: the agent's own, then as for "baton chat", but not offline)
  --base-url URL use another address for that provider; on its own it implies openai-compatible
${MCP_HELP}
${PERMISSION_HELP}
  --store URL    where to keep sessions: memory:, sqlite:FILE or postgres://HOST/DATABASE (default: BATON_STORE, then a
                 file for this folder in the user's data folder, which other editors and commands can use too)
  --acp-v2       also speak the draft of version 2 with editors that ask for it
  --login        ask for a provider's key in this terminal, then exit; an editor starts this to log you in
  --log-level NAME
                 info, warn or silent, on standard error (default: warn)

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
    if (!streams) throw new UsageError('there is no standard input; this command is started by an editor')
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
    throw new UsageError('name the agent only once, with --agent or as an argument')
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
  // Done before any of the agent's code runs, because its output is not protocol messages.
  const output = reserveOutput(streams)
  const log = await createServerLog(options.server, terminal, secretsIn(terminal.variables))
  const late = createLateHost(() => openHost(options, terminal, log))
  // Errors of the agent or the store are reported before the editor sends a request; a missing model can wait.
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

/** Opens the host. Refuses the offline model unless it was named. */
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
    message: 'no model is available: save a provider\'s key by running "baton login" in a terminal',
    hint: 'Or set a variable such as ANTHROPIC_API_KEY, or name a model on this machine with --model.',
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
      name: 'Provider keys',
      description: 'Uses a key saved by "baton login", or one from the environment',
      terminalArgs: ['--login'],
      missing: late.missing,
    },
    log,
  }
}

interface LateHost {
  /** For a front: opens the real host on demand. */
  readonly host: Host & Pick<LocalHost, 'sessions' | 'has' | 'watch' | 'remove'>
  /** @throws BatonError when opening fails */
  open(): Promise<EmbeddedHost>
  /** Why no model can answer yet; `undefined` when one can. @throws BatonError for any other problem */
  missing(): Promise<string | undefined>
  stop(drainMs: number): Promise<void>
}

/**
 * A host that is opened when first needed, and retried after a failure: an editor may start the agent before a key is
 * set.
 */
function createLateHost(openHost: () => Promise<EmbeddedHost>): LateHost {
  let opened: Promise<EmbeddedHost> | undefined
  const open = (): Promise<EmbeddedHost> => {
    opened ??= openHost().catch((cause: unknown) => {
      opened = undefined
      throw cause
    })
    return opened
  }
  const host: LateHost['host'] = {
    session: async (id, init) => await (await open()).host.session(id, init),
    sessions: async (query) => await (await open()).host.sessions(query),
    has: async (session) => await (await open()).host.has(session),
    remove: async (session, by) => await (await open()).host.remove(session, by),
    watch: (query) => watchLater(open, query),
    stop: async (options) => await (await open()).host.stop(options),
  }
  return {
    host,
    open,
    missing: async () => {
      try {
        await open()
        return undefined
      } catch (cause) {
        if (isBatonError(cause) && cause.code === 'model_not_configured') return cause.message
        throw cause
      }
    },
    stop: async (drainMs) => {
      const embedded = await opened?.catch(() => undefined) // opening failed, and the error was reported then
      await embedded?.stop(drainMs)
    },
  }
}

async function* watchLater(open: () => Promise<EmbeddedHost>, query: Parameters<LocalHost['watch']>[0]) {
  yield* (await open()).host.watch(query)
}
