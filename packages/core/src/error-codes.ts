// The one table of error codes. docs/errors.md is generated from it.

import { API_ERROR_CODES } from './api-error-codes.ts'
import { row } from './error-code-row.ts'
import type { ErrorCodeRow } from './error-code-row.ts'
import { TOOL_ERROR_CODES } from './tool-error-codes.ts'

export type { Fault } from './error-code-row.ts'

export const ERROR_CODES = {
  // Inputs of a session
  invalid_event: row('peer', false, 'A frame or an input is malformed.', 'Correct the field that the message names.'),
  invalid_transcript: row(
    'peer',
    false,
    'A transcript has no text, or too much of it.',
    'Send between 1 byte and 64 KiB of text.',
  ),
  input_too_large: row(
    'peer',
    false,
    'An input is larger than its limit.',
    'Send less, or raise the limit that the message names.',
  ),
  queue_full: row(
    'peer',
    true,
    'Too many inputs wait for the running turn.',
    'Wait for the turn to end, then send the input again.',
  ),
  session_mismatch: row(
    'peer',
    false,
    'A frame names a session other than its connection’s.',
    'Open a connection for each session.',
  ),
  session_stopped: row('caller', false, 'The session is stopped and accepts no input.', 'Start the session first.'),
  session_closed: row(
    'caller',
    false,
    'The session or its host was closed while the request was open.',
    'Open the session again.',
  ),
  turn_in_progress: row(
    'caller',
    true,
    'The input needs a session without a running turn.',
    'Wait for the turn to end, or interrupt it.',
  ),
  illegal_input: row(
    'caller',
    false,
    'The input is not allowed in this state of the session, or not from this sender.',
    'The message says who may submit it; see also the transition table in docs/architecture.md.',
  ),
  unknown_exchange: row(
    'caller',
    false,
    'A rewind names an exchange that the session does not have.',
    'Use an exchange of the session’s history.',
  ),
  unknown_input: row(
    'caller',
    false,
    'The session has no input with this id.',
    'Use the id of an input that was accepted, or send the input again.',
  ),
  unknown_model: row(
    'caller',
    false,
    'No model has this name, or it cannot be used here.',
    'Use a model that `baton models` lists, or give the agent a model object.',
  ),
  not_permitted: row(
    'caller',
    false,
    'The permissions of the agent do not allow it.',
    'Ask for something that they allow, or change `permissions` of the agent.',
  ),
  model_not_configured: row(
    'caller',
    false,
    'The model’s key, address, file or package is missing, or its price, which limits.turnCostMicros needs.',
    'Provide what the message names.',
  ),
  rate_limited: row('peer', true, 'More frames than the limit allows arrived.', 'Send fewer frames per minute.'),
  quota_exceeded: row(
    'peer',
    true,
    'An address or a principal exceeds a quota: connections, sessions, bytes or turns.',
    'Close unused ones, or wait; the message names the quota.',
  ),
  request_in_flight: row(
    'peer',
    true,
    'A request was repeated before the first one with its key had finished.',
    'Send it again in a moment.',
  ),
  idempotency_key_reused: row(
    'peer',
    false,
    'A key was reused for a different request.',
    'Use a new key for each request.',
  ),
  approval_refused: row(
    'peer',
    false,
    'An approval does not match an open request, is too late, or comes from another principal.',
    'Answer the request that is open now; the message says what happened to this one.',
  ),
  call_over: row(
    'peer',
    false,
    'A client claims a call that has settled, or that the session does not have.',
    'Do not run it. If it already ran, send its result anyway: the answer says what happened to it.',
  ),
  call_not_offered: row(
    'peer',
    false,
    'A client claims a call that is not offered to it: another client was asked, or none is at the moment.',
    'Do not run it. If it is offered to this client later, a `call` event says so.',
  ),
  question_declined: row(
    'peer',
    false,
    'A tool’s question to its user was not answered: it was declined, it timed out, or no user could be asked.',
    'Catch it in the tool, and continue without the answer.',
  ),
  question_refused: row(
    'peer',
    false,
    'A tool asked too many or too long questions, or an answer does not match an open question, does not fit its schema, is too late, or comes from another principal.',
    'Ask fewer or shorter questions; answer the question that is open now.',
  ),
  // Definitions
  invalid_agent: row('caller', false, 'An agent’s definition is invalid.', 'Correct the field that the message names.'),
  prepare_step_failed: row(
    'caller',
    false,
    'The agent’s prepareStep threw, timed out, or returned an invalid change.',
    'Fix prepareStep; the message has what it threw, or the invalid field.',
  ),
  invalid_tool: row('caller', false, 'A tool’s definition is invalid.', 'Correct the field that the message names.'),
  invalid_schema: row(
    'caller',
    false,
    'A schema cannot be turned into JSON Schema.',
    'Use a schema whose library implements ~standard.jsonSchema, or plain JSON Schema.',
  ),
  invalid_option: row(
    'caller',
    false,
    'An option has a value that is not allowed.',
    'Use a value that the message lists.',
  ),
  // Turns
  tool_round_limit_exceeded: row(
    'provider',
    false,
    'The model kept calling tools after its last round and gave no answer.',
    'Raise limits.toolRounds, or ask for less at once.',
  ),
  empty_answer: row(
    'provider',
    true,
    'The model gave an empty answer twice.',
    'Send the input again, or set emptyAnswer to "silence".',
  ),
  invalid_output: row(
    'provider',
    true,
    'The model’s answer does not fit the agent’s output schema, even after a retry with the reason.',
    'Simplify the schema, or choose a stronger model.',
  ),
  answer_refused: row(
    'provider',
    true,
    'The agent’s order of calls, its checkAnswer or a person sent the model’s answer back, even after retries with the reason; or it needed an approval, and no person could be asked.',
    'Read the reason; give the model what it needs for a better answer, or raise limits.answerRetries.',
  ),
  turn_time_exceeded: row(
    'baton',
    false,
    'The turn took longer than limits.turnMs.',
    'Raise the limit, or make the tools faster.',
  ),
  turn_tokens_exceeded: row(
    'baton',
    false,
    'The turn used more tokens than limits.turnTokens.',
    'Raise the limit, or ask for less at once.',
  ),
  turn_cost_exceeded: row(
    'baton',
    false,
    'The model calls of the turn cost more than limits.turnCostMicros.',
    'Raise the limit, or ask for less at once.',
  ),
  context_overflow: row(
    'provider',
    false,
    'The history does not fit the model’s window, even shortened.',
    'Use a model with a larger window, or shorter inputs and results.',
  ),
  recovery_exhausted: row(
    'baton',
    false,
    'A model call or a tool was started three times, and the process died each time.',
    'Find out what kills the process, possibly in another session; then send the input again.',
  ),
  model_refused: row('provider', false, 'The model refused to answer.', 'Ask differently.'),
  model_provider_failed: row(
    'provider',
    true,
    'The model could not be reached or failed.',
    'See the message; you can send the input again.',
  ),
  // Model calls
  model_auth_failed: row(
    'provider',
    false,
    'The provider refused the key.',
    'Check the key, its permissions and the account’s credit.',
  ),
  model_rate_limited: row(
    'provider',
    true,
    'The provider’s rate limit was hit.',
    'Wait; the message says how long, if the provider does.',
  ),
  model_overloaded: row(
    'provider',
    true,
    'The provider is overloaded.',
    'Try later, or name a second model as a fallback.',
  ),
  model_unavailable: row(
    'provider',
    false,
    'The model failed several times in a row and is skipped for a while.',
    'Add a fallback model, or wait.',
  ),
  model_invalid_request: row(
    'provider',
    false,
    'The provider refused the request.',
    'See the provider’s message; report a bug if Baton built the request wrongly.',
  ),
  model_content_refused: row(
    'provider',
    false,
    'The provider refused an image, a file or a text because of its size, type or content.',
    'Send it in another form; refused content is left out of later requests.',
  ),
  model_request_too_large: row(
    'provider',
    false,
    'A request has more bytes, images or pixels than the provider accepts, even without the oldest images and files and the older part of the conversation.',
    'Send less at once; if a gateway’s limit differs from its provider’s, set the model’s `requestBytesMax`.',
  ),
  model_not_found: row('provider', false, 'The provider does not know the model.', 'Check the model’s name.'),
  model_without_tools: row(
    'provider',
    false,
    'The model, or its server, does not support tools.',
    'Start the server as the message says, use another model, or describe tools in the prompt: BATON_TOOLS=prompted, withPromptedTools.',
  ),
  model_network_failed: row(
    'provider',
    true,
    'The connection to the provider failed.',
    'Check the network and the base address.',
  ),
  model_timeout: row('provider', true, 'The provider sent nothing for too long.', 'Try again, or raise the time-out.'),
  model_malformed_answer: row(
    'provider',
    true,
    'The provider’s answer could not be read.',
    'Try again; report it if it persists.',
  ),
  model_answer_too_large: row(
    'provider',
    false,
    'The model’s answer exceeds a limit on its parts, characters or streamed pieces.',
    'Ask for less at once, or set maxOutputTokens; the message names the limit.',
  ),
  model_cut_off: row('provider', true, 'The provider’s answer ended before it was complete.', 'Try again.'),
  // Calls: the model receives these as results
  ...TOOL_ERROR_CODES,
  // Services that tools call
  ...API_ERROR_CODES,
  // Ends
  handler_failed: row('caller', false, 'An event handler threw or rejected.', 'Fix it; see the cause.'),
  cancelled: row('caller', false, 'The operation was cancelled.', 'Nothing.'),
  interrupted: row('peer', false, 'The user interrupted the turn.', 'Nothing.'),
  // Hosts and stores
  log_version_unknown: row(
    'caller',
    false,
    'A log or snapshot was written by a newer version of Baton.',
    'Use the version that wrote it, or a newer one.',
  ),
  log_damaged: row('baton', false, 'A log is inconsistent.', 'Restore it from a backup; report how it happened.'),
  unknown_session: row(
    'caller',
    false,
    'The store has no session with this id.',
    'Use an id that `baton sessions` lists.',
  ),
  session_exists: row(
    'caller',
    false,
    'A log cannot be restored over an existing session.',
    'Delete the session first, or keep it.',
  ),
  session_held: row(
    'caller',
    true,
    'Another host holds the session.',
    'Ask the host that the message names, or try again after its lease ends.',
  ),
  store_conflict: row(
    'baton',
    true,
    'Another owner appended to the session’s log.',
    'Open the session again; the newest owner holds it.',
  ),
  store_failed: row(
    'baton',
    true,
    'The store did not accept a record.',
    'See the cause; the input was not accepted and can be sent again.',
  ),
  connection_failed: row(
    'caller',
    true,
    'A Baton server could not be reached, or rejected this client.',
    'Start the server, or correct the address or the token that the message names.',
  ),
  clock_implausible: row(
    'caller',
    false,
    'The wall clock is days ahead of the newest record and of when a host last ran, so no old session is removed.',
    'Correct the clock. If it is right, wait: it is trusted once a host has run with it for 7 days, or for the retention time of sessions.',
  ),
  store_locked: row(
    'caller',
    false,
    'Another process has the store’s file open without sharing it, or could open it under another name (a hard link).',
    'Stop the other process, which the message names if it is known; remove the other name; or use another file.',
  ),
  store_gone: row(
    'caller',
    false,
    'The store’s file was deleted, moved, replaced or taken by another process while it was open. Nothing more is accepted.',
    'Stop this process. Put the file back, or restore a backup; then restart and reopen the sessions.',
  ),
  host_stopped: row('caller', false, 'The host was stopped.', 'Create a new host.'),
  server_draining: row(
    'baton',
    true,
    'The server is shutting down and starts no new turn.',
    'Connect again; another server will answer.',
  ),
  idle_timeout: row(
    'peer',
    true,
    'A connection was idle for too long and was closed.',
    'Connect again when there is something to send.',
  ),
  unauthorized: row(
    'peer',
    false,
    'The client sent no valid token, or the session belongs to another principal.',
    'An app must send its token. A program must open the session as its principal.',
  ),
  keys_unavailable: row(
    'baton',
    true,
    'The keys for verifying tokens could not be fetched from their issuer, so no new client is accepted.',
    'Check the issuer and the address of its keys, and that this server can reach them; the log has the reason.',
  ),
  replay_mismatch: row('caller', false, 'A request was not recorded.', 'Record it again, or undo the difference.'),
  internal: row('baton', false, 'Baton violated one of its own rules.', 'Report it with the message.'),
} as const satisfies Record<string, ErrorCodeRow>

/** The codes of `BatonError`. `docs/errors.md` has the meaning of each and what to do. */
export type ErrorCode = keyof typeof ERROR_CODES
