// Every place that retries: what it repeats, its bound, what stays the same, and the test that plays it.

export interface SecondTry {
  readonly file: string
  /** Function or method around it. */
  readonly within: string
  readonly repeats: string
  /** Number of tries or milliseconds before it gives up, and what it does then. */
  readonly bound: string
  /** Id, key or position that the second try shares with the first one. */
  readonly same: string
  readonly test: TriedIn
}

interface TriedIn {
  readonly file: string
  /** Words of the test's name. */
  readonly name: string
}

/** A place whose name or form suggests a retry, but which does not retry. */
export interface NoSecondTry {
  readonly file: string
  readonly within: string
  readonly why: string
}

const LOCAL = 'packages/host/src/local'
const SESSION = 'packages/client/src/session'
const MACHINE = 'packages/core/src/machine'

export const SECOND_TRIES: readonly SecondTry[] = [
  {
    file: 'packages/server/src/shared/message-pages.ts',
    within: 'readPages',
    repeats: 'the reading of a conversation in pages, when the message where the next page ends was taken back',
    bound: '10 times, then the refusal of the page is thrown',
    same: 'nothing: earlier pages no longer count',
    test: {
      file: 'packages/server/src/shared/message-pages.test.ts',
      name: 'a conversation that is always taken back is given up',
    },
  },
  {
    file: `${MACHINE}/answer.ts`,
    within: 'retryDelayMs',
    repeats: 'a model call with a retryable failure',
    bound: 'the agent’s `retry.attempts`; none if the provider asks for a wait longer than `maxMs`',
    same: 'the step; each attempt has its own number, and older ones are stale',
    test: { file: `${MACHINE}/answer-retry.test.ts`, name: 'is at least what the provider asks for' },
  },
  {
    file: `${MACHINE}/calls.ts`,
    within: 'startAgain',
    repeats: 'the call of a pure or idempotent tool whose process died',
    bound: '`recoveries` of the rules; then the call is unknown, or an error',
    same: 'the call’s id and its idempotency key; the attempt counts on',
    test: { file: `${LOCAL}/recovery.test.ts`, name: 'repeats what is pure or idempotent, with the same key' },
  },
  {
    file: 'packages/runtime/src/work/tool-retry.ts',
    within: 'runWithRetry',
    repeats: 'a failed tool with `retry`',
    bound: '`retry.attempts`; waits of at most `maxMs`; ends with the call',
    same: 'the call’s id, its input and its idempotency key',
    test: { file: 'packages/runtime/src/work/tool-retry.test.ts', name: 'as often as its attempts say' },
  },
  {
    file: 'packages/runtime/src/work/generate.ts',
    within: 'generate',
    repeats: 'an answer to a tool’s own model call that does not match its schema',
    bound: 'once; then `invalid_output`',
    same: 'the request, followed by the answer and its issues; both are paid for',
    test: { file: 'packages/testing/src/host-contract/generate-situations.ts', name: 'asked for again, once' },
  },
  {
    file: `${LOCAL}/session-log.ts`,
    within: 'appendSurely',
    repeats: 'an append that the store did not confirm',
    bound: 'three tries; never without the lease or after a conflict',
    same: 'the position and the records; the store is searched for them before they are written again',
    test: { file: `${LOCAL}/recovery.test.ts`, name: 'fails after it stored' },
  },
  {
    file: `${LOCAL}/local-session.ts`,
    within: '#reopen',
    repeats: 'the opening of a session whose store failed during work',
    bound: 'five tries with doubling waits; then the session is closed',
    same: 'the log that the new actor starts from; handles and readers stay',
    test: { file: `${LOCAL}/recovery.test.ts`, name: 'tried more than once, by one opener' },
  },
  {
    file: 'packages/runtime/src/tree/child-link.ts',
    within: '#run',
    repeats: 'the opening of a child whose store failed',
    bound: 'while its caller is open and owes it something, with waits that double up to 30 s',
    same: 'the name of the child, its log, and the epoch of its root',
    test: { file: `${LOCAL}/children.test.ts`, name: 'the call is followed again, and nothing happens twice' },
  },
  {
    file: 'packages/runtime/src/tree/child-link.ts',
    within: '#pump',
    repeats: 'the reading and telling between a session and the child of its call, after one of the two has died',
    bound: 'while both sessions are open, with waits that double up to 30 s',
    same: 'the position up to which each of the two logs has read the other one',
    test: { file: `${LOCAL}/children.test.ts`, name: 'the call is followed again, and nothing happens twice' },
  },
  {
    file: `${LOCAL}/recover.ts`,
    within: 'lookAgain',
    repeats: 'the search for sessions whose owner has died',
    bound: 'while the host runs, one search at a time',
    same: 'a held session stays with its holder',
    test: { file: `${LOCAL}/leases.test.ts`, name: 'is recovered when its lease has ended, and not before' },
  },
  {
    file: 'packages/runtime/src/notices/due-looks.ts',
    within: '#lookWhileWanted',
    repeats:
      'the look for sessions or notices that are due, after 5 seconds if one was left, after 30 if the store failed',
    bound: 'while the host runs and something is due, one look at a time',
    same: 'the time of a reminder, which has an effect once; the id of a notice',
    test: { file: `${LOCAL}/alarm.test.ts`, name: 'a store that cannot be asked is asked again' },
  },
  {
    file: 'packages/runtime/src/notices/notices.ts',
    within: '#noteAgain',
    repeats: 'the note in the outbox that a session has something to tell, 5 seconds after the store failed',
    bound: 'while the host runs, until the store takes it',
    same: 'the position in the log, from which every try reads on',
    test: { file: `${LOCAL}/notice-breaks.test.ts`, name: 'what could not be noted is told once the outbox is back' },
  },
  {
    file: 'packages/host/src/stores/postgres/connections.ts',
    within: 'retry',
    repeats: 'a query or a transaction that may run twice, when its connection breaks',
    bound: 'six waits, and no try begins after 10 seconds; then `store_failed`',
    same: 'the statements; statements that must not run twice use `once`',
    test: {
      file: 'packages/host/src/stores/postgres/postgres-store.deep.test.ts',
      name: 'whose answer is lost with its connection is kept once',
    },
  },
  {
    file: 'packages/host/src/stores/shared/store-access.ts',
    within: '#ask',
    repeats: 'a guest’s request that was open when the holder of the file ended',
    bound: 'until a holder is found, `waitMs` at most each time; then `store_failed`',
    same: 'the position; the answer says that an earlier try may have succeeded',
    test: {
      file: 'packages/host/src/stores/shared/shared-sqlite-store.process.test.ts',
      name: 'also while they wait for an answer',
    },
  },
  {
    file: 'packages/host/src/stores/shared/store-access.ts',
    within: '#findSeat',
    repeats: 'the search for the holder of a shared file',
    bound: '`waitMs` (5 seconds); then `store_locked` or `store_failed`',
    same: 'the leases of this process, which are passed to the next holder',
    test: {
      file: 'packages/host/src/stores/shared/shared-sqlite-store.process.test.ts',
      name: 'by who does not share it is refused',
    },
  },
  {
    file: 'packages/mcp/src/server/live-call.ts',
    within: 'askAgain',
    repeats: 'a question of a task whose answer did not fit',
    bound: 'until an answer fits or the question’s deadline',
    same: 'the question’s id; its name is new, because clients answer each name once',
    test: { file: 'packages/mcp/src/server/strangers.test.ts', name: 'is asked again under a new key' },
  },
  {
    file: 'packages/mcp/src/client/connection.ts',
    within: '#withPages',
    repeats: 'a call that a server refused until the user has opened a page',
    bound: 'ten rounds of questions, each accepted by the user; never after the call ran',
    same: 'the tool, its arguments and its idempotency key',
    test: { file: 'packages/mcp/src/client/stranger-lists.test.ts', name: 'is sent again' },
  },
  {
    file: 'packages/mcp/src/client/mcp-server.ts',
    within: '#use',
    repeats: 'a call, or the reading of a list, that a server refused because it had forgotten the session',
    bound: 'once for each connection and one more; never after the call was read',
    same: 'the tool and its arguments; the session is new',
    test: { file: 'packages/mcp/src/client/forgotten-session.test.ts', name: 'asked a few times' },
  },
  {
    file: 'packages/cli/src/places/embedded-host.ts',
    within: 'session',
    repeats: 'the opening of a session that another process holds',
    bound: '`heldMs`; then `session_held`',
    same: 'the session',
    test: { file: 'packages/cli/src/commands/look-after.test.ts', name: 'for so long, and no longer' },
  },
  {
    file: 'packages/cli/src/terminal/talk.ts',
    within: 'answerQuestion',
    repeats: 'a question whose answer the session refused',
    bound: 'until the person answers or declines, or the question is withdrawn',
    same: 'the question’s id',
    test: { file: 'packages/cli/src/terminal/talk.test.ts', name: 'that the session refuses is requested again' },
  },
  {
    file: `${SESSION}/inputs.ts`,
    within: 'retry',
    repeats: 'a refused message, when the app sends it again',
    bound: 'once per request of the app',
    same: 'the message’s id',
    test: { file: `${SESSION}/session-client.test.ts`, name: 'can be said again or taken back' },
  },
  {
    file: `${SESSION}/inputs.ts`,
    within: 'again',
    repeats: 'unacknowledged messages, over the next connection',
    bound: 'once for each connection, in order',
    same: 'the ids, by which the server recognizes them',
    test: { file: `${SESSION}/cut-anywhere.property.test.ts`, name: 'again and again' },
  },
  {
    file: `${SESSION}/client-calls.ts`,
    within: 'again',
    repeats: 'unacknowledged results of calls, over the next connection',
    bound: 'once for each connection',
    same: 'the call’s id and its result; the tool is not run again',
    test: { file: `${SESSION}/session-client.test.ts`, name: 'runs once, and its result counts' },
  },
  {
    file: 'packages/server/src/acp/asked-people.ts',
    within: 'askAgain',
    repeats: 'requests to an editor that has loaded the session again',
    bound: 'once for each loading',
    same: 'the approval’s and the question’s id',
    test: { file: 'packages/server/src/acp/sessions.test.ts', name: 'is asked what waits for a person, once' },
  },
  {
    file: 'packages/server/src/shared/try-again.ts',
    within: 'tryAgain',
    repeats:
      'a claim or a result of an editor’s or a page’s call, and the attachment of a page, that failed for a moment',
    bound: 'nine tries in all, with waits of 1 to 8 seconds; a claim ends with its call, all with the editor or page',
    same: 'the call’s id, its result and the client’s name; the tool is not run again',
    test: { file: 'packages/server/src/shared/try-again.test.ts', name: 'is tried nine times in all' },
  },
  {
    file: 'packages/server/src/websocket/open-held-session.ts',
    within: 'openHeldSession',
    repeats: 'the opening of a session that another server holds',
    bound: '`limits.heldMs`; ends with the connection; each owner is dialled once',
    same: 'the session and its principal',
    test: {
      file: 'packages/server/src/websocket/open-held-session.test.ts',
      name: 'after its time it is told as held',
    },
  },
  {
    file: 'packages/temporal/src/live/redis-bus.ts',
    within: 'reconnectStrategy',
    repeats: 'the connection to Redis',
    bound: 'while the bus is open; pieces lost in the meantime are read from the log',
    same: 'the channel',
    test: { file: 'packages/temporal/src/session-view.test.ts', name: 'that the bus has lost' },
  },
  {
    file: 'packages/temporal/src/session-view.ts',
    within: '#readOn',
    repeats: 'a failed reading of a log',
    bound: 'with each further message of the bus, one reading at a time',
    same: 'the reached position',
    test: { file: 'packages/temporal/src/session-view.test.ts', name: 'after a failed read' },
  },
  {
    file: 'packages/temporal/src/submitter.ts',
    within: 'submit',
    repeats: 'an Update that the service did not answer',
    bound: '`tryMs`; then the refusal says that it may be sent again',
    same: 'the Update’s id, by which the service recognizes it, and the ids of its inputs',
    test: { file: 'packages/temporal/src/temporal.deep.test.ts', name: 'and may be sent again' },
  },
  {
    file: 'packages/temporal/src/worker/activities.ts',
    within: 'begin',
    repeats: 'the start of work whose records are not yet in the store',
    bound: '`BEGIN_MS`; then another worker may begin it',
    same: 'the job; none of it has begun',
    test: {
      file: 'packages/temporal/src/stopped-gateways.deep.test.ts',
      name: 'waits for a slow store before it begins',
    },
  },
  {
    file: 'packages/temporal/src/workflow/session-run.ts',
    within: '#insist',
    repeats: 'an activity that no worker could perform',
    bound: 'until the workflow is cancelled, or the failure is final',
    same: 'the activity’s arguments',
    test: { file: 'packages/temporal/src/long-waits.deep.test.ts', name: 'is opened once when its worker has failed' },
  },
  {
    file: 'packages/temporal/src/workflow/child-lanes.ts',
    within: '#pump',
    repeats: 'what is owed to a child whose workflow, or whose log, could not be reached',
    bound: 'while the session owes it; a child that was started four times without any record of it being read is lost',
    same: 'the child’s workflow id, and the positions in both logs',
    test: { file: 'packages/temporal/src/workflow/lanes.property.test.ts', name: 'signals that are late' },
  },
  {
    file: 'packages/temporal/src/workflow/parent-lane.ts',
    within: '#pump',
    repeats: 'a report whose log could not be read',
    bound: 'until the caller has it, or its workflow is not running: it asks when it is back',
    same: 'the position up to which the caller has read the log',
    test: { file: 'packages/temporal/src/workflow/lanes.property.test.ts', name: 'signals that are late' },
  },
  {
    file: 'packages/temporal/src/workflow/task.ts',
    within: 'runTask',
    repeats: 'the tool of a task that could not start',
    bound: 'while the session is running and has not cancelled it',
    same: 'the effect’s key and its attempt, which name the workflow',
    test: { file: 'packages/temporal/src/workflow/tasks.property.test.ts', name: 'signals that are late' },
  },
  {
    file: 'packages/temporal/src/workflow/work-under-way.ts',
    within: '#follow',
    repeats: 'work that could not start',
    bound: 'while the session is waiting for it',
    same: 'the effect’s key and its attempt',
    test: { file: 'packages/temporal/src/stopped-gateways.deep.test.ts', name: 'is not lost, and runs once' },
  },
]

export const NO_SECOND_TRIES: readonly NoSecondTry[] = [
  { file: 'packages/notices/src/shared/retry-after.ts', within: 'readRetryAfter', why: 'reads a header' },
  { file: 'packages/cli/src/terminal/turn-display.ts', within: 'askedAgain', why: 'the words of a note' },
  { file: 'packages/client/src/voice/voice.ts', within: 'send', why: 'each round sends a newer place' },
  { file: 'packages/core/src/agent/tool-options.ts', within: 'checkRetry', why: 'checks an option' },
  { file: `${MACHINE}/turn.ts`, within: 'enterAgain', why: 'a rewind with `again`: a person asks for another answer' },
  { file: `${LOCAL}/actor.ts`, within: 'commit', why: 'each round takes other mail; a failure ends the actor' },
  { file: `${LOCAL}/local-session.ts`, within: 'reopened', why: 'says when `#reopen` has ended' },
  { file: 'packages/models/src/ai-sdk/errors.ts', within: 'retryAfterIn', why: 'reads a header' },
  { file: 'packages/models/src/transport/http-errors.ts', within: 'isRetryable', why: 'reads a refusal' },
  { file: 'packages/models/src/transport/http-errors.ts', within: 'readRetryAfterMs', why: 'reads a header' },
  { file: 'packages/models/src/transport/http-errors.ts', within: 'readRetryInfo', why: 'reads a refusal' },
  { file: 'packages/models/src/transport/http-errors.ts', within: 'readQuotedRetryInfo', why: 'reads a refusal' },
  {
    file: 'packages/runtime/src/session/page-watcher.ts',
    within: 'next',
    why: 'each look reads the page of its moment',
  },
  { file: 'packages/runtime/src/work/tool-retry.ts', within: 'readRetryAfter', why: 'reads a failure' },
  { file: 'packages/server/src/acp/acp-session.ts', within: 'retry', why: 'an editor asks for another answer' },
  { file: 'packages/server/src/auth/verify-tokens.ts', within: 'verifyByKeys', why: 'each round tries another key' },
  { file: 'packages/server/src/http/chat.ts', within: 'askAgain', why: 'a page asks for another answer' },
  { file: 'packages/temporal/src/submitter.ts', within: '#drain', why: 'each round sends other inputs' },
  { file: 'packages/tools/src/shared/service-answer.ts', within: 'readRetryAfter', why: 'reads a header' },
  {
    file: 'packages/tools/src/workspace/workspace.ts',
    within: '#resolveAgain',
    why: 'compares a path with what was opened',
  },
]
