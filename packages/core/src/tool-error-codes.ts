// Codes of the tool layer: the call, its arguments, its result. Part of the table in error-codes.ts.
import { row } from './error-code-row.ts'
import type { ErrorCodeRow } from './error-code-row.ts'

export const TOOL_ERROR_CODES = {
  tool_not_found: row(
    'provider',
    false,
    'The model called a tool that the agent does not have.',
    'Nothing: the model reads the error.',
  ),
  tool_gone: row(
    'caller',
    false,
    'The tool was removed from the agent while its call was open.',
    'Nothing: the model reads the error.',
  ),
  tool_failed: row('caller', false, 'The tool threw an error.', 'See the tool’s message.'),
  context_missing: row(
    'caller',
    false,
    'The session lacks something that the tool needs, such as a current issue.',
    'Provide it where the program creates the tool.',
  ),
  tool_result_timeout: row(
    'peer',
    false,
    'No result arrived before the deadline.',
    'Raise the tool’s timeoutMs, or connect a client.',
  ),
  tool_result_unknown: row(
    'peer',
    false,
    'The call may have run, but its outcome cannot be known.',
    'Check with another tool before repeating it.',
  ),
  invalid_arguments: row(
    'provider',
    false,
    'The arguments do not fit the tool’s schema, or nest deeper than 100 levels.',
    'For a call of the model, nothing: it reads what is wrong. For an edit of yours, correct the input and decide again.',
  ),
  arguments_cut_off: row(
    'provider',
    false,
    'The arguments end early, or the model was stopped while writing them.',
    'Raise maxOutputTokens.',
  ),
  call_limit_exceeded: row('provider', false, 'The turn has more calls than limits.callsPerTurn.', 'Raise the limit.'),
  child_failed: row(
    'caller',
    false,
    'An agent that the model called ended without an answer and without a reason.',
    'Read the log of its session.',
  ),
  child_lost: row(
    'caller',
    false,
    'The session of an agent that the model called is missing, damaged, or contradicts its caller’s.',
    'Restore sessions with everything below them from the same time.',
  ),
  delegation_too_deep: row(
    'provider',
    false,
    'The model called an agent from the last level of limits.treeDepth.',
    'Raise limits.treeDepth of the first agent.',
  ),
  too_many_children: row(
    'provider',
    false,
    'The model called an agent, and its share of limits.treeSessions is 0.',
    'Raise limits.treeSessions of the first agent, or limits.sessions of the tool that called this one.',
  ),
  call_denied: row('caller', false, 'A person or a policy denied the call.', 'Nothing: the model reads the error.'),
  approval_expired: row('caller', false, 'The call was not approved in time.', 'Raise approvalMs, or approve faster.'),
  result_too_large: row(
    'peer',
    false,
    'A tool’s result is larger than limits.resultChars or limits.mediaBytes, or than its front accepts (resultBytes).',
    'Return less, or raise the limit.',
  ),
  result_invalid: row(
    'caller',
    false,
    'A tool’s result is not JSON, nests deeper than 100 levels, or does not fit its output schema.',
    'Fix the tool.',
  ),
  media_unsupported: row(
    'provider',
    false,
    'A page, a file or an image has a format that the tool does not support.',
    'Choose another one; the message lists the supported formats.',
  ),
  path_outside_workspace: row(
    'provider',
    false,
    'A path leads out of the workspace.',
    'Use a path inside the workspace, relative to its root.',
  ),
  path_protected: row(
    'caller',
    false,
    'The file is ignored, or may hold secrets.',
    'Name it in the workspace’s `allow` option if models may read it.',
  ),
} as const satisfies Record<string, ErrorCodeRow>
