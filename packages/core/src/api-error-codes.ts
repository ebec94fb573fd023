// Codes of the outermost layer: a service that a tool calls (an MCP server, an HTTP API). Part of the table in
// error-codes.ts.
import { row } from './error-code-row.ts'
import type { ErrorCodeRow } from './error-code-row.ts'

export const API_ERROR_CODES = {
  api_unavailable: row(
    'service',
    true,
    'A service that a tool calls cannot be reached, does not answer or has disconnected.',
    'Try again later. If it persists, check that the service is running and reachable from this machine.',
  ),
  api_unauthorized: row(
    'caller',
    false,
    'A service rejected the tool’s credentials, or requires some.',
    'Log in, or give the tool a valid token.',
  ),
  api_refused: row(
    'provider',
    false,
    'A service refused a tool’s request: it is invalid, or asks for something that does not exist or is not allowed.',
    'Change the request as the message says.',
  ),
  api_rate_limited: row(
    'service',
    true,
    'A service accepts no more requests for now.',
    'Wait as long as the message says.',
  ),
  api_failed: row(
    'service',
    true,
    'A service failed while processing a tool’s request.',
    'Try again later, or ask its operators.',
  ),
  api_malformed: row(
    'service',
    false,
    'A service’s response violates its protocol, or exceeds a limit.',
    'Report it to the operators of the service; a limit can be raised.',
  ),
  url_refused: row(
    'provider',
    false,
    'An address may not be fetched: its scheme, its host or its redirect target is not allowed.',
    'Use a public address, or allow its host.',
  ),
  invalid_mcp_server: row(
    'caller',
    false,
    'The configuration of an MCP server is invalid.',
    'Correct the field that the message names.',
  ),
} as const satisfies Record<string, ErrorCodeRow>
