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
    'A frame names another session than its connection.',
    'Open a connection for each session.',
  ),
  session_stopped: row('caller', false, 'The session is stopped; it takes no input.', 'Start the session first.'),
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
    'The input is not allowed in this state of the session, or not from who hands it in.',
    'See who may say it in the message, and the transition table in docs/architecture.md.',
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
    'The session has taken no input of this id.',
    'Use the id of an input that was accepted, or send the input again.',
  ),
  unknown_model: row(
    'caller',
    false,
    'No model has this name, or it cannot be used here.',
    'Name a model that there is, as `baton models` lists them, or give the agent a model object.',
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
    'A model was named, but its key, address, file or package is missing, or its price where limits.turnCostMicros needs one.',
    'Do what the message says: it names what is missing.',
  ),
  rate_limited: row('peer', true, 'More frames than the limit allows arrived.', 'Send fewer frames a minute.'),
  quota_exceeded: row(
    'peer',
    true,
    'An address or a principal has, or sends, more at once than one may: connections, sessions, bytes or turns.',
    'Close what is not needed, or wait; the message names the quota.',
  ),
  request_in_flight: row(
    'peer',
    true,
    'A request came again before the first one with its key was done.',
    'Send it again in a moment.',
  ),
  idempotency_key_reused: row('peer', false, 'A key came with another request.', 'Make a new key for each request.'),
  approval_refused: row(
    'peer',
    false,
    'An approval names no open request, came too late, or comes from another principal.',
    'Answer the request that is open now; the message says what became of this one.',
  ),
  call_over: row(
    'peer',
    false,
    'A client claims a call that has settled, or that the session does not have.',
    'Do not run it. If it ran before, send its result all the same: the answer says what became of it.',
  ),
  call_not_offered: row(
    'peer',
    false,
    'A client claims a call that is not offered to it: another client was asked, or nobody is at the moment.',
    'Do not run it. If it is offered to this client later, a `call` event says so.',
  ),
  question_declined: row(
    'peer',
    false,
    'A tool asked its user, and got no answer: it was declined, came too late, or nobody could be asked.',
    'Catch it in the tool, and go on without the answer.',
  ),
  question_refused: row(
    'peer',
    false,
    'A tool asked too much, or an answer names no open question, does not fit its schema, came too late, or comes from another principal.',
    'Ask fewer or shorter questions; answer the question that is open now.',
  ),
  // Definitions
  invalid_agent: row('caller', false, 'An agent’s definition is wrong.', 'Correct the field that the message names.'),
  prepare_step_failed: row(
    'caller',
    false,
    'The agent’s prepareStep threw, took too long, or returned a change that the step cannot have.',
    'Correct prepareStep: the message has what it threw, or the field that is wrong.',
  ),
  invalid_tool: row('caller', false, 'A tool’s definition is wrong.', 'Correct the field that the message names.'),
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
    'The model went on calling tools after its last round and said nothing.',
    'Raise limits.toolRounds, or ask for less at once.',
  ),
  empty_answer: row(
    'provider',
    true,
    'The model answered with nothing, twice.',
    'Send the input again, or set emptyAnswer to "silence".',
  ),
  invalid_output: row(
    'provider',
    true,
    'The model’s answer does not fit the agent’s output schema, also after it was told why.',
    'Simplify the schema, or choose a stronger model.',
  ),
  answer_refused: row(
    'provider',
    true,
    'The model’s answer was sent back by the agent’s order of calls, its checkAnswer or a person, also after it was told why; or a person had to approve it and nobody could be asked.',
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
    'A model call or a tool was started three times, and each time the process died, whatever killed it.',
    'Look for what kills the process, also in other sessions; then send the input again.',
  ),
  model_refused: row('provider', false, 'The model refused to answer.', 'Ask differently.'),
  model_provider_failed: row(
    'provider',
    true,
    'The model could not be reached or failed.',
    'See the message; the input can be sent again.',
  ),
  // Model calls
  model_auth_failed: row(
    'provider',
    false,
    'The provider refused the key.',
    'Check the key, its rights and the credit of its account.',
  ),
  model_rate_limited: row(
    'provider',
    true,
    'The provider’s rate limit was hit.',
    'Wait; the message says how long if the provider does.',
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
    'The model failed several times in a row and is left alone for a while.',
    'Name another model as fallback, or wait.',
  ),
  model_invalid_request: row(
    'provider',
    false,
    'The provider refused the request.',
    'See the provider’s message; report it if Baton built the request wrongly.',
  ),
  model_content_refused: row(
    'provider',
    false,
    'The provider refused an image, a file or a text for its own sake: its size, its type, what it shows or says.',
    'Send it in another form; what was refused is left out of later requests.',
  ),
  model_request_too_large: row(
    'provider',
    false,
    'A request has more bytes, images or pixels than the provider takes, also after the oldest images and files and the older part of the conversation had left it.',
    'Send less at once; if a gateway takes more or less than its provider, say so with `requestBytesMax` of the model.',
  ),
  model_not_found: row('provider', false, 'The provider does not know the model.', 'Check the model’s name.'),
  model_without_tools: row(
    'provider',
    false,
    'The model, or its server, takes no tools.',
    'Start the server as its message says, name another model, or ask for tools in words: BATON_TOOLS=prompted, withPromptedTools.',
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
    'Try again; report it if it stays.',
  ),
  model_answer_too_large: row(
    'provider',
    false,
    'The model’s answer has more parts, characters or streamed pieces than one answer may have.',
    'Ask for less at once, or set maxOutputTokens; the message names the limit.',
  ),
  model_cut_off: row('provider', true, 'The provider’s answer ended before it was complete.', 'Try again.'),
  // Calls: these go to the model as results
  ...TOOL_ERROR_CODES,
  // Services that tools ask
  ...API_ERROR_CODES,
  // Ends
  handler_failed: row('caller', false, 'A handler of events threw or rejected.', 'Correct it; see the cause.'),
  cancelled: row('caller', false, 'The operation was cancelled.', 'Nothing.'),
  interrupted: row('peer', false, 'The user interrupted the turn.', 'Nothing.'),
  // Hosts and stores
  log_version_unknown: row(
    'caller',
    false,
    'A log or snapshot was written by a newer version of Baton.',
    'Use the version that wrote it, or a newer one.',
  ),
  log_damaged: row(
    'baton',
    false,
    'A log does not follow its own rules.',
    'Restore it from a backup; report how it came about.',
  ),
  unknown_session: row(
    'caller',
    false,
    'The store has no session of this id.',
    'Use an id that `baton sessions` lists.',
  ),
  session_exists: row(
    'caller',
    false,
    'A log is to be put in place of a session that exists.',
    'Delete the session first, or keep it.',
  ),
  session_held: row(
    'caller',
    true,
    'Another host holds the session.',
    'Ask the host that the message names, or try again when its lease has ended.',
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
    'A Baton server could not be reached, or did not let this client in.',
    'Start the server, or correct the address or the token that the message names.',
  ),
  clock_implausible: row(
    'caller',
    false,
    'The wall clock is days ahead of the newest record and of when a host last ran, so no old session is removed.',
    'Correct the clock. Where it is right, wait: it is believed once a host has run with it for 7 days, or for as long as sessions are kept.',
  ),
  store_locked: row(
    'caller',
    false,
    'Another process has the store’s file and does not share it, or could use it by another name (a hard link).',
    'Stop the other process, which the message names if it is known; remove the other name; or name another file.',
  ),
  store_gone: row(
    'caller',
    false,
    'The store’s file was deleted, moved, replaced or taken by another process while it was open. Nothing is accepted any more.',
    'Stop this process. Put the file back, or restore a backup; then start again and open the sessions again.',
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
    'Nothing came over a connection for too long, and it was closed.',
    'Connect again when there is something to say.',
  ),
  unauthorized: row(
    'peer',
    false,
    'The client gave no valid token, or the session belongs to another principal.',
    'An app sends its token. A program opens the session with the principal to whom it belongs.',
  ),
  keys_unavailable: row(
    'baton',
    true,
    'The keys that check tokens could not be fetched from their issuer, so nobody new is let in.',
    'Check the issuer and the address of its keys, and that this server reaches them; the log has the reason.',
  ),
  replay_mismatch: row('caller', false, 'A request was not recorded.', 'Record it again, or undo what differs.'),
  internal: row('baton', false, 'Baton broke one of its own rules.', 'Report it with the message.'),
} as const satisfies Record<string, ErrorCodeRow>

export type ErrorCode = keyof typeof ERROR_CODES
