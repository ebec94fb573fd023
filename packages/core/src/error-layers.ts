// Maps an error of a call to its layer: the service that a tool called, the tool, or the work around both.
import { API_ERROR_CODES } from './api-error-codes.ts'
import type { ErrorCode } from './error-codes.ts'
import { TOOL_ERROR_CODES } from './tool-error-codes.ts'

/**
 * `api`: a service did not answer, or not as expected: an MCP server, an HTTP API, a model's provider. `tool`: the
 * tool, its arguments or its permission. `processing`: Baton's handling of a call or a result.
 */
export type ErrorLayer = 'api' | 'tool' | 'processing'

export function readErrorLayer(code: ErrorCode): ErrorLayer {
  if (Object.hasOwn(API_ERROR_CODES, code) || code.startsWith('model_')) return 'api'
  if (code.startsWith('result_')) return 'processing'
  return Object.hasOwn(TOOL_ERROR_CODES, code) || code.startsWith('question_') ? 'tool' : 'processing'
}
