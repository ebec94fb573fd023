// The log of a server, by pino: one line for each event, JSON for programs, or what the caller makes of it for people. What is secret
// never stands in it. Everything else in Baton knows the Logger alone.
import type { Logger } from '@baton/core'
import { pino } from 'pino'

export interface LoggerOptions {
  /** `info` by default; `silent` writes nothing. */
  readonly level?: LogLevel
  /** From a line of JSON to one that people read, as `prettyFactory()` of `pino-pretty` makes it; JSON by default. */
  readonly readable?: (json: string) => string | undefined
  /** Texts that are replaced wherever they stand in a line, such as tokens and keys. */
  readonly secrets?: readonly string[]
  /** Takes whole lines; the process's standard error by default. */
  readonly write?: (line: string) => void
}

export type LogLevel = 'info' | 'warn' | 'silent'

/** Fields whose value is never logged, at the top and one level below. */
const SECRET_FIELDS = ['token', 'apiKey', 'api_key', 'authorization', 'password', 'secret']
const REDACTED = '[redacted]'

export function createLogger(options: LoggerOptions = {}): Logger {
  const { level = 'info', readable, secrets = [] } = options
  const write = options.write ?? ((line: string) => void process.stderr.write(line))
  // As they stand inside of JSON. An empty one would be found everywhere.
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
