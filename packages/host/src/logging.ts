// A server's log, over pino: one line per event, as JSON for programs or formatted by the caller for people. Secrets
// are never logged. The rest of Baton only knows the Logger interface.
import type { Logger } from '@baton/core'
import { pino } from 'pino'

export interface LoggerOptions {
  /** Default: `info`. `silent` writes nothing. */
  readonly level?: LogLevel
  /** Formats a JSON line for people, as `prettyFactory()` of `pino-pretty` does. Default: JSON. */
  readonly readable?: (json: string) => string | undefined
  /** Texts to redact anywhere in a line, such as tokens and keys. */
  readonly secrets?: readonly string[]
  /** Receives whole lines. Default: the process's standard error. */
  readonly write?: (line: string) => void
}

export type LogLevel = 'info' | 'warn' | 'silent'

/** Fields whose value is never logged, at the top level and one level below. */
const SECRET_FIELDS = ['token', 'apiKey', 'api_key', 'authorization', 'password', 'secret']
const REDACTED = '[redacted]'

export function createLogger(options: LoggerOptions = {}): Logger {
  const { level = 'info', readable, secrets = [] } = options
  const write = options.write ?? ((line: string) => void process.stderr.write(line))
  // Escaped as they appear in JSON. An empty secret would match everywhere.
  const hidden = secrets.filter((secret) => secret !== '').map((secret) => JSON.stringify(secret).slice(1, -1))
  const take = (json: string): void => {
    const safe = hidden.reduce((line, secret) => line.replaceAll(secret, REDACTED), json)
    write(readable?.(safe) ?? safe)
  }
  const log = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`]), censor: REDACTED },
    },
    { write: take },
  )
  return {
    info: (message, data = {}) => log.info(data, message),
    warn: (message, data = {}) => log.warn(data, message),
  }
}
