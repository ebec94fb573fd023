// The log of a server, by pino: one line of JSON for each event. Everything else in Baton knows the Logger alone.
import type { Logger } from '@baton/core'
import { pino } from 'pino'

export interface LoggerOptions {
  /** `info` by default. */
  readonly level?: 'info' | 'warn' | 'silent'
  /** Takes whole lines; the process's standard error by default. */
  readonly write?: (line: string) => void
}

export function createLogger(options: LoggerOptions = {}): Logger {
  const write = options.write ?? ((line: string) => void process.stderr.write(line))
  const log = pino({ level: options.level ?? 'info', base: null }, { write })
  return {
    info: (message, data = {}) => log.info(data, message),
    warn: (message, data = {}) => log.warn(data, message),
  }
}
