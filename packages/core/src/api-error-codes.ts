// Codes of the outermost layer: a service that a tool asks (an MCP server, an HTTP API). Part of the table in error-codes.ts.
import { row } from './error-code-row.ts'
import type { ErrorCodeRow } from './error-code-row.ts'

export const API_ERROR_CODES = {
  api_unavailable: row(
    'service',
    true,
    'A service that a tool asks cannot be reached, does not answer or has gone away.',
    'Try again later. If it stays away, see that it runs and that this machine reaches it.',
  ),
  api_unauthorized: row(
    'caller',
    false,
    'A service does not accept the login of a tool, or wants one.',
    'Log in, or give the tool a token that is valid.',
  ),
  api_refused: row(
    'provider',
    false,
    'A service refused the request of a tool: it is wrong, or asks for something that is not there or not allowed.',
    'Ask for something else, as the message says.',
  ),
  api_rate_limited: row(
    'service',
    true,
    'A service takes no more requests for now.',
    'Wait as long as the message says.',
  ),
  api_failed: row(
    'service',
    true,
    'A service failed while it worked on the request of a tool.',
    'Try again later, or ask its operators.',
  ),
  api_malformed: row(
    'service',
    false,
    'The answer of a service breaks its protocol, or is larger than a limit.',
    'Report it to those who run the service; a limit can be raised.',
  ),
  url_refused: row(
    'provider',
    false,
    'An address may not be fetched: its scheme, its host or where it redirects to is not allowed.',
    'Use a public address, or allow its host.',
  ),
  invalid_mcp_server: row(
    'caller',
    false,
    'What says how an MCP server is reached is wrong.',
    'Correct the field that the message names.',
  ),
} as const satisfies Record<string, ErrorCodeRow>
