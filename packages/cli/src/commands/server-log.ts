// The log of `baton serve`, for programs or for a person at a terminal, without the secrets known to the command.
import type { JsonObject, JsonValue, Logger } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'
import { createLogger } from '@baton/host'
import type { Console } from '../console.ts'
import { wantsColor } from '../console.ts'
import { escapeControls, escapeLine } from '../terminal/escape-controls.ts'
import type { ServerOptions } from './server-options.ts'

/** Loads the formatter for people only if they read the log. */
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
    // In JSON, escapes are the same text; readable lines were made safe before they were coloured.
    write: (line) => terminal.note(readable ? line.trimEnd() : escapeControls(line.trimEnd())),
    ...(readable && { readable }),
  })
}

async function loadReadable(colorize: boolean): Promise<(json: string) => string | undefined> {
  const { prettyFactory } = await import('pino-pretty')
  const format = prettyFactory({ colorize, translateTime: 'HH:MM:ss.l' })
  return (json) => {
    const parsed = parseJson(json)
    // pino only writes objects.
    return parsed.ok && isJsonObject(parsed.value) ? format(escapeTexts(parsed.value)) : escapeLine(json)
  }
}

/** Escapes names of fields too, so that each text stays on one line and cannot imitate a log level. */
function escapeTexts(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [escapeLine(name), escapeText(field)]))
}

function escapeText(value: JsonValue): JsonValue {
  if (typeof value === 'string') return escapeLine(value)
  if (Array.isArray(value)) return value.map(escapeText)
  return isJsonObject(value) ? escapeTexts(value) : value
}
