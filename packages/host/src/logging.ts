// A server's log: one line per event, as JSON for programs or formatted by the caller for people, in the fields that
// pino writes. Secrets are never logged. The rest of Baton only knows the Logger interface.
import type { JsonObject, Logger } from '@baton/core'

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

/** Fields whose value is never logged, however deep. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'token',
  'apiKey',
  'api_key',
  'authorization',
  'password',
  'secret',
])
const REDACTED = '[redacted]'

export function createLogger(options: LoggerOptions = {}): Logger {
  const { level = 'info', readable, secrets = [] } = options
  const write = options.write ?? ((line: string) => void process.stderr.write(line))
  // Escaped as they appear in JSON. An empty secret would match everywhere.
  const hidden = secrets.filter((secret) => secret !== '').map((secret) => JSON.stringify(secret).slice(1, -1))
  const log =
    (label: 'info' | 'warn'): Logger['info'] =>
    (message, data = {}) => {
      const json = toLine(label, message, data)
      const safe = hidden.reduce((line, secret) => line.replaceAll(secret, REDACTED), json)
      write(readable?.(safe) ?? safe)
    }
  const ignore = (): void => {}
  return { info: level === 'info' ? log('info') : ignore, warn: level === 'silent' ? ignore : log('warn') }
}

function toLine(level: string, message: string, data: JsonObject): string {
  // Data cannot replace the line's own fields.
  const own = { level, time: new Date().toISOString() }
  try {
    return `${JSON.stringify({ ...own, ...data, ...own, msg: message }, hideSecretFields)}\n`
  } catch {
    // Untyped callers pass circular objects, for example.
    return `${JSON.stringify({ ...own, data: 'not JSON', msg: message })}\n`
  }
}

function hideSecretFields(name: string, value: unknown): unknown {
  return SECRET_FIELDS.has(name) ? REDACTED : value
}
