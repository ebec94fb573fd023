// The one table of error codes. docs/errors.md is generated from it.

/**
 * The party at fault: the code that calls Baton, the other end of a wire, a model or its provider, a service that a
 * tool calls, or Baton itself.
 */
export type Fault = 'caller' | 'peer' | 'provider' | 'service' | 'baton'

interface ErrorCodeRow {
  readonly fault: Fault
  readonly retryable: boolean
  readonly meaning: string
  readonly solve: string
}

/** Makes rows of one fault; those of `passing` are of errors after which the same request may succeed. */
function rowsOf(fault: Fault) {
  const row = (meaning: string, solve: string): ErrorCodeRow => ({ fault, retryable: false, meaning, solve })
  const passing = (meaning: string, solve: string): ErrorCodeRow => ({ fault, retryable: true, meaning, solve })
  return Object.assign(row, { passing })
}

const caller = rowsOf('caller')
const peer = rowsOf('peer')
const provider = rowsOf('provider')
const service = rowsOf('service')
const baton = rowsOf('baton')

/** Codes of the outermost layer: a service that a tool calls (an MCP server, an HTTP API). */
export const API_ERROR_CODES = {
  api_unavailable: service.passing(
    'A service that a tool calls cannot be reached, does not answer or has disconnected.',
    'Try again later. If it persists, check that the service is running and reachable from this machine.',
  ),
  api_unauthorized: caller(
    'A service rejected the tool’s credentials, or requires some.',
    'Log in, or give the tool a valid token.',
  ),
  api_refused: provider(
    'A service refused a tool’s request: it is invalid, or asks for something that does not exist or is not allowed.',
    'Change the request as the message says.',
  ),
  api_rate_limited: service.passing('A service accepts no more requests for now.', 'Wait as long as the message says.'),
  api_failed: service.passing(
    'A service failed while processing a tool’s request.',
    'Try again later, or ask its operators.',
  ),
  api_malformed: service(
    'A service’s response violates its protocol, or exceeds a limit.',
    'Report it to the operators of the service; a limit can be raised.',
  ),
  url_refused: provider(
    'An address may not be fetched: its scheme, its host or its redirect target is not allowed.',
    'Use a public address, or allow its host.',
  ),
  invalid_mcp_server: caller(
    'The configuration of an MCP server is invalid.',
    'Correct the field that the message names.',
  ),
} as const satisfies Record<string, ErrorCodeRow>

/** Codes of the tool layer: the call, its arguments, its result. */
export const TOOL_ERROR_CODES = {
  tool_not_found: provider(
    'The model called a tool that the agent does not have.',
    'Nothing: the model reads the error.',
  ),
  tool_gone: caller(
    'The tool was removed from the agent while its call was open.',
    'Nothing: the model reads the error.',
  ),
  tool_failed: caller('The tool threw an error.', 'See the tool’s message.'),
  context_missing: caller(
    'The session lacks something that the tool needs, such as a current issue.',
    'Provide it where the program creates the tool.',
  ),
  tool_result_timeout: peer(
    'No result arrived before the deadline.',
    'Raise the tool’s timeoutMs, or connect a client.',
  ),
  tool_result_unknown: peer(
    'The call may have run, but its outcome cannot be known.',
    'Check with another tool before repeating it.',
  ),
  invalid_arguments: provider(
    'The arguments do not fit the tool’s schema, or nest deeper than 100 levels.',
    'For a call of the model, nothing: it reads what is wrong. For an edit of yours, correct the input and decide again.',
  ),
  arguments_cut_off: provider(
    'The arguments end early, or the model was stopped while writing them.',
    'Raise maxOutputTokens.',
  ),
  call_limit_exceeded: provider('The turn has more calls than limits.callsPerTurn.', 'Raise the limit.'),
  child_failed: caller(
    'An agent that the model called ended without an answer and without a reason.',
    'Read the log of its session.',
  ),
  child_lost: caller(
    'The session of an agent that the model called is missing, damaged, or contradicts its caller’s.',
    'Restore sessions with everything below them from the same time.',
  ),
  delegation_too_deep: provider(
    'The model called an agent from the last level of limits.treeDepth.',
    'Raise limits.treeDepth of the first agent.',
  ),
  too_many_children: provider(
    'The model called an agent, and its share of limits.treeSessions is 0.',
    'Raise limits.treeSessions of the first agent, or limits.sessions of the tool that called this one.',
  ),
  too_many_tasks: provider(
    'The model called a tool in the background while limits.tasks tasks were open.',
    'Raise limits.tasks of the agent, or let it wait for its tasks.',
  ),
  call_denied: caller('A person or a policy denied the call.', 'Nothing: the model reads the error.'),
  approval_expired: caller('The call was not approved in time.', 'Raise approvalMs, or approve faster.'),
  result_too_large: peer(
    'A tool’s result is larger than limits.resultChars or limits.mediaBytes, or than its front accepts (resultBytes).',
    'Return less, or raise the limit.',
  ),
  result_invalid: caller(
    'A tool’s result is not JSON, nests deeper than 100 levels, or does not fit its output schema.',
    'Fix the tool.',
  ),
  media_unsupported: provider(
    'A page, a file or an image has a format that the tool does not support.',
    'Choose another one; the message lists the supported formats.',
  ),
  path_outside_workspace: provider(
    'A path leads out of the workspace.',
    'Use a path inside the workspace, relative to its root.',
  ),
  path_protected: caller(
    'The file is ignored, or may hold secrets.',
    'Name it in the workspace’s `allow` option if models may read it.',
  ),
} as const satisfies Record<string, ErrorCodeRow>

export const ERROR_CODES = {
  // Inputs of a session
  invalid_event: peer('A frame or an input is malformed.', 'Correct the field that the message names.'),
  invalid_transcript: peer('A transcript has no text, or too much of it.', 'Send between 1 byte and 64 KiB of text.'),
  input_too_large: peer('An input is larger than its limit.', 'Send less, or raise the limit that the message names.'),
  queue_full: peer.passing(
    'Too many inputs wait for the running turn.',
    'Wait for the turn to end, then send the input again.',
  ),
  session_mismatch: peer('A frame names a session other than its connection’s.', 'Open a connection for each session.'),
  session_stopped: caller('The session is stopped and accepts no input.', 'Start the session first.'),
  session_closed: caller('The session or its host was closed while the request was open.', 'Open the session again.'),
  turn_in_progress: caller.passing(
    'The input needs a session without a running turn.',
    'Wait for the turn to end, or interrupt it.',
  ),
  illegal_input: caller(
    'The input is not allowed in this state of the session, or not from this sender.',
    'The message says who may submit it; see also the transition table in docs/architecture.md.',
  ),
  unknown_exchange: caller(
    'A rewind names an exchange that the session does not have.',
    'Use an exchange of the session’s history.',
  ),
  unknown_input: caller(
    'The session has no waiting input or reminder with this id.',
    'Use the id of an input or a reminder that still waits, or send or set it again.',
  ),
  unknown_model: caller(
    'No model has this name, or it cannot be used here.',
    'Use a model that `baton models` lists, or give the agent a model object.',
  ),
  not_permitted: caller(
    'The permissions of the agent do not allow it.',
    'Ask for something that they allow, or change `permissions` of the agent.',
  ),
  model_not_configured: caller(
    'The model’s key, address, file or package is missing, or its price, which limits.turnCostMicros needs.',
    'Provide what the message names.',
  ),
  rate_limited: peer.passing(
    'A limit is reached: frames per minute, clients, tasks, or reminders.',
    'Send fewer frames per minute, or end or remove one of what the message names.',
  ),
  quota_exceeded: peer.passing(
    'An address or a principal exceeds a quota: connections, sessions, bytes or turns.',
    'Close unused ones, or wait; the message names the quota.',
  ),
  request_in_flight: peer.passing(
    'A request was repeated before the first one with its key had finished.',
    'Send it again in a moment.',
  ),
  idempotency_key_reused: peer('A key was reused for a different request.', 'Use a new key for each request.'),
  approval_refused: peer(
    'An approval does not match an open request, is too late, or comes from another principal.',
    'The message says why. Decide it as one of its deciders, or list what is open now.',
  ),
  call_over: peer(
    'A client claims a call that has settled, or that the session does not have.',
    'Do not run it. If it already ran, send its result anyway: the answer says what happened to it.',
  ),
  call_not_offered: peer(
    'A client claims a call that is not offered to it: another client was asked, or none is at the moment.',
    'Do not run it. If it is offered to this client later, a `call` event says so.',
  ),
  question_declined: peer(
    'A tool’s question to its user was not answered: it was declined, it timed out, or no user could be asked.',
    'Catch it in the tool, and continue without the answer.',
  ),
  question_refused: peer(
    'A tool asked too many or too long questions, or an answer does not match an open question, does not fit its schema, is too late, or comes from another principal.',
    'Ask fewer or shorter questions; answer the question that is open now.',
  ),
  // Definitions
  invalid_agent: caller('An agent’s definition is invalid.', 'Correct the field that the message names.'),
  prepare_step_failed: caller(
    'The agent’s prepareStep threw, timed out, or returned an invalid change.',
    'Fix prepareStep; the message has what it threw, or the invalid field.',
  ),
  invalid_tool: caller('A tool’s definition is invalid.', 'Correct the field that the message names.'),
  invalid_schema: caller(
    'A schema cannot be turned into JSON Schema.',
    'Use a schema whose library implements ~standard.jsonSchema, or plain JSON Schema.',
  ),
  invalid_option: caller('An option has a value that is not allowed.', 'Use a value that the message lists.'),
  // Turns
  tool_round_limit_exceeded: provider(
    'The model kept calling tools after its last round and gave no answer.',
    'Raise limits.toolRounds, or ask for less at once.',
  ),
  empty_answer: provider.passing(
    'The model gave an empty answer twice.',
    'Send the input again, or set emptyAnswer to "silence".',
  ),
  invalid_output: provider.passing(
    'The model’s answer does not fit the agent’s output schema, even after a retry with the reason.',
    'Simplify the schema, or choose a stronger model.',
  ),
  answer_refused: provider.passing(
    'The agent’s order of calls, its checkAnswer or a person sent the model’s answer back, even after retries with the reason; or it needed an approval, and no person could be asked.',
    'Read the reason; give the model what it needs for a better answer, or raise limits.answerRetries.',
  ),
  turn_time_exceeded: baton('The turn took longer than limits.turnMs.', 'Raise the limit, or make the tools faster.'),
  turn_tokens_exceeded: baton(
    'The turn used more tokens than limits.turnTokens.',
    'Raise the limit, or ask for less at once.',
  ),
  turn_cost_exceeded: baton(
    'The model calls of the turn cost more than limits.turnCostMicros.',
    'Raise the limit, or ask for less at once.',
  ),
  context_overflow: provider(
    'The history does not fit the model’s window, even shortened.',
    'Use a model with a larger window, or shorter inputs and results.',
  ),
  recovery_exhausted: baton(
    'A model call or a tool was started three times, and the process died each time.',
    'Find out what kills the process, possibly in another session; then send the input again.',
  ),
  model_refused: provider('The model refused to answer.', 'Ask differently.'),
  model_provider_failed: provider.passing(
    'The model could not be reached or failed.',
    'See the message; you can send the input again.',
  ),
  // Model calls
  model_auth_failed: provider(
    'The provider refused the key.',
    'Check the key, its permissions and the account’s credit.',
  ),
  model_rate_limited: provider.passing(
    'The provider’s rate limit was hit.',
    'Wait; the message says how long, if the provider does.',
  ),
  model_overloaded: provider.passing('The provider is overloaded.', 'Try later, or name a second model as a fallback.'),
  model_unavailable: provider(
    'The model failed several times in a row and is skipped for a while.',
    'Add a fallback model, or wait.',
  ),
  model_invalid_request: provider(
    'The provider refused the request.',
    'See the provider’s message; report a bug if Baton built the request wrongly.',
  ),
  model_content_refused: provider(
    'The provider refused an image, a file or a text because of its size, type or content.',
    'Send it in another form; refused content is left out of later requests.',
  ),
  model_request_too_large: provider(
    'A request has more bytes, images or pixels than the provider accepts, even without the oldest images and files and the older part of the conversation.',
    'Send less at once; if a gateway’s limit differs from its provider’s, set the model’s `requestBytesMax`.',
  ),
  model_not_found: provider('The provider does not know the model.', 'Check the model’s name.'),
  model_without_tools: provider(
    'The model, or its server, does not support tools.',
    'Start the server as the message says, use another model, or describe tools in the prompt: BATON_TOOLS=prompted, withPromptedTools.',
  ),
  model_network_failed: provider.passing(
    'The connection to the provider failed.',
    'Check the network and the base address.',
  ),
  model_timeout: provider.passing('The provider sent nothing for too long.', 'Try again, or raise the time-out.'),
  model_malformed_answer: provider.passing(
    'The provider’s answer could not be read.',
    'Try again; report it if it persists.',
  ),
  model_answer_too_large: provider(
    'The model’s answer exceeds a limit on its parts, characters or streamed pieces.',
    'Ask for less at once, or set maxOutputTokens; the message names the limit.',
  ),
  model_cut_off: provider.passing('The provider’s answer ended before it was complete.', 'Try again.'),
  // Calls: the model receives these as results
  ...TOOL_ERROR_CODES,
  // Services that tools call
  ...API_ERROR_CODES,
  // Ends
  handler_failed: caller('An event handler threw or rejected.', 'Fix it; see the cause.'),
  cancelled: caller('The operation was cancelled.', 'Nothing.'),
  interrupted: peer('The user interrupted the turn.', 'Nothing.'),
  // Hosts and stores
  log_version_unknown: caller(
    'A log or snapshot was written by a newer version of Baton.',
    'Use the version that wrote it, or a newer one.',
  ),
  log_damaged: baton('A log is inconsistent.', 'Restore it from a backup; report how it happened.'),
  unknown_session: caller('The store has no session with this id.', 'Use an id that `baton sessions` lists.'),
  session_exists: caller('A log cannot be restored over an existing session.', 'Delete the session first, or keep it.'),
  session_held: caller.passing(
    'Another host holds the session.',
    'Ask the host that the message names, or try again after its lease ends.',
  ),
  store_conflict: baton.passing(
    'Another owner appended to the session’s log.',
    'Open the session again; the newest owner holds it.',
  ),
  store_failed: baton.passing(
    'The store did not accept a record.',
    'See the cause; the input was not accepted and can be sent again.',
  ),
  connection_failed: caller.passing(
    'A Baton server could not be reached, or rejected this client.',
    'Start the server, or correct the address or the token that the message names.',
  ),
  clock_implausible: caller(
    'The wall clock is days ahead of the newest record and of when a host last ran, so no old session is removed.',
    'Correct the clock. If it is right, wait: it is trusted once a host has run with it for 7 days, or for the retention time of sessions.',
  ),
  store_locked: caller(
    'Another process has the store’s file open without sharing it, or could open it under another name (a hard link).',
    'Stop the other process, which the message names if it is known; remove the other name; or use another file.',
  ),
  store_gone: caller(
    'The store’s file was deleted, moved, replaced or taken by another process while it was open. Nothing more is accepted.',
    'Stop this process. Put the file back, or restore a backup; then restart and reopen the sessions.',
  ),
  host_stopped: caller('The host was stopped.', 'Create a new host.'),
  server_draining: baton.passing(
    'The server is shutting down and starts no new turn.',
    'Connect again; another server will answer.',
  ),
  idle_timeout: peer.passing(
    'A connection was idle for too long and was closed.',
    'Connect again when there is something to send.',
  ),
  unauthorized: peer(
    'The client sent no valid token, or the session belongs to another principal.',
    'An app must send its token. A program must open the session as its principal.',
  ),
  keys_unavailable: baton.passing(
    'The keys for verifying tokens could not be fetched from their issuer, so no new client is accepted.',
    'Check the issuer and the address of its keys, and that this server can reach them; the log has the reason.',
  ),
  replay_mismatch: caller('A request was not recorded.', 'Record it again, or undo the difference.'),
  internal: baton('Baton violated one of its own rules.', 'Report it with the message.'),
} as const satisfies Record<string, ErrorCodeRow>

/** The codes of `BatonError`. `docs/errors.md` has the meaning of each and what to do. */
export type ErrorCode = keyof typeof ERROR_CODES
