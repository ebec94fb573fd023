// What an app of version 1 is told of an error. Some messages are written for who runs the server: they name files, addresses
// and programs of its machine, or repeat what a database or a provider said. An app gets their code and one plain sentence.
import type { ErrorCode } from '@baton/core'
import { ERROR_CODES } from '@baton/core'

/** Codes whose messages speak only of what the app sent, of its session and of limits. New codes are not told until they are here. */
const TOLD: ReadonlySet<string> = new Set<ErrorCode>([
  'invalid_event',
  'invalid_transcript',
  'input_too_large',
  'queue_full',
  'session_mismatch',
  'session_stopped',
  'session_closed',
  'turn_in_progress',
  'illegal_input',
  'unknown_exchange',
  'rate_limited',
  'quota_exceeded',
  'approval_refused',
  'question_refused',
  'tool_round_limit_exceeded',
  'empty_answer',
  'turn_time_exceeded',
  'turn_tokens_exceeded',
  'turn_cost_exceeded',
  'recovery_exhausted',
  'model_refused',
  'idle_timeout',
  'server_draining',
  'unauthorized',
])

export interface AppError {
  readonly code: string
  readonly message: string
}

/** The code and the message that the app gets. The log needs the original error as well. */
export function encodeAppError({ code, message }: AppError): AppError {
  if (TOLD.has(code)) return { code, message }
  const plain = isKnown(code) && code !== 'internal' ? ERROR_CODES[code].meaning : 'the server failed'
  // Version 1 knows one code for all that goes wrong between the server and a model.
  return { code: code.startsWith('model_') ? 'model_provider_failed' : code, message: plain }
}

function isKnown(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code)
}
