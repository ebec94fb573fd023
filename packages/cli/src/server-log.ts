// The log of `baton serve`: for programs, or for a person at a terminal; without the secrets that the command knows.
import type { Logger } from '@baton/core'
import { createLogger } from '@baton/host'
import type { Console } from './console.ts'
import { wantsColor } from './console.ts'
import type { ServerOptions } from './server-options.ts'

/** What formats lines for people is loaded only where people read them. */
export async function createServerLog(
  { logFormat, logLevel }: Pick<ServerOptions, 'logFormat' | 'logLevel'>,
  terminal: Pick<Console, 'isTerminal' | 'variables' | 'streams' | 'note'>,
  secrets: readonly string[],
): Promise<Logger> {
  const { isTerminal = false, variables, streams } = terminal
  const format = logFormat ?? (isTerminal ? 'pretty' : 'json')
  const readable = format === 'pretty' ? await loadReadable(wantsColor(streams?.errors, variables)) : undefined
  return createLogger({
    level: logLevel,
    secrets,
    write: (line) => terminal.note(line.trimEnd()),
    ...(readable && { readable }),
  })
}

async function loadReadable(colorize: boolean): Promise<(json: string) => string | undefined> {
  const { prettyFactory } = await import('pino-pretty')
  return prettyFactory({ colorize, translateTime: 'HH:MM:ss.l' })
}
