// The plain-data part of an agent: everything that policy may depend on. It is hashed; a change is a fact in the log.
import type { Provenance } from '../messages.ts'
import type { EffectClass, InterruptPolicy, WakePolicy } from './values.ts'

export interface ToolSpec {
  readonly name: string
  readonly effect: EffectClass
  /** `child`: child sessions run its calls. `machine`: the session itself; it is about tasks. */
  readonly runs: 'server' | 'client' | 'child' | 'machine'
  readonly timeoutMs: number
  /** For a client tool: milliseconds that a call waits while no client can run it; `limits.awayMs` if absent. */
  readonly awayMs?: number
  /** For a client tool: the host runs a call that no client has taken within `awayMs`. */
  readonly fallback?: true
  readonly parallel: boolean
  readonly onInterrupt: InterruptPolicy
  /** For its calls in the background; `turn` if absent. */
  readonly wake?: WakePolicy
  /** The source of its results; absent for the agent's own tools, which are trusted. */
  readonly provenance?: Provenance
}

export interface Limits {
  /** Steps with calls in a turn; after that the model is called once more, without tools. 50. */
  readonly toolRounds: number
  /** Calls in a turn; excess calls settle as denied. 256. */
  readonly callsPerTurn: number
  /** Server tools that run at the same time. 8. */
  readonly parallelCalls: number
  /** UTF-16 units of one input's text, excluding images and files. 65,536. */
  readonly inputChars: number
  /** UTF-16 units of one result, excluding images and files. 262,144. */
  readonly resultChars: number
  /**
   * UTF-16 units of one model answer: its text, thoughts, sources, and the names and arguments of its calls. 8,388,608.
   */
  readonly answerChars: number
  /** Bytes of one image or file, in an input or a result. 20 MiB. */
  readonly mediaBytes: number
  /** Bytes of all images and files of one input or result. 64 MiB. */
  readonly inputMediaBytes: number
  /** Images and files of one input or result, including those with an address. 32. */
  readonly mediaParts: number
  /** Milliseconds of a turn, excluding time when it waits only for people. 10 minutes. */
  readonly turnMs: number
  /** Input and output tokens of a turn, as counted by the provider. 1,000,000. */
  readonly turnTokens: number
  /**
   * Maximum cost of a turn's model calls in millionths of a US dollar, for models with known prices. No limit by
   * default.
   */
  readonly turnCostMicros: number
  /** Queued inputs. 100. */
  readonly queueInputs: number
  /** UTF-16 units of all queued inputs. 262,144. */
  readonly queueChars: number
  /**
   * Milliseconds that a client call may wait while no attached client can run it; after that it is `timed-out`. 10
   * minutes.
   */
  readonly awayMs: number
  /** Milliseconds to approve a call. 10 minutes. */
  readonly approvalMs: number
  /** How often a provider may pause its answer in a turn. 8. */
  readonly pauses: number
  /** Answers that may miss the output schema in a turn; the last one fails the turn with `invalid_output`. 2. */
  readonly outputAttempts: number
  /** How often `order`, `checkAnswer` or a person may send an answer back in a turn; after that the turn fails. 2. */
  readonly answerRetries: number
  /**
   * Milliseconds from a step's first request to the first piece of its answer (text, a thought, a call), including all
   * retries and fallback models; after that the turn fails. Each model gets an equal share of the remaining time. No
   * limit by default; 30,000 in the voice profile.
   */
  readonly firstWordMs: number
  /** Levels of children below a session. 2 if absent. */
  readonly treeDepth?: number
  /** Maximum open children of the whole tree. 64 if absent. */
  readonly treeSessions?: number
  /** Children of one session that run at once; further ones wait. 8 if absent. */
  readonly children?: number
  /** Steps with calls in a turn, with those of its children. 200 if absent. */
  readonly treeRounds?: number
  /** Calls in a turn, with those of its children. 1,024 if absent. */
  readonly treeCalls?: number
  /** Open tasks of a session; further calls in the background are denied. 16 if absent. */
  readonly tasks?: number
  /** Turns in a row that tasks alone may begin; then an ended task waits for the next input. 20 if absent. */
  readonly wakes?: number
}

/** Allows a call of `tool`, or the answer, only after an `ok` result of each tool in `after`, in the same turn. */
export type OrderRule =
  | { readonly tool: string; readonly after: readonly string[] }
  | { readonly answer: true; readonly after: readonly string[] }

/**
 * A condition that ends a turn once a step's calls have settled, without another model call. `tool`: the named tool gave an `ok` result in
 * the turn. `rounds`: that many steps of the turn had calls.
 */
export type StopRule = { readonly tool: string } | { readonly rounds: number }

export interface WindowSpec {
  /**
   * Maximum exchanges of a request, including the running one; after a move it holds a quarter less. No limit by
   * default.
   */
  readonly exchanges: number
  /**
   * Maximum user messages and steps of answers in a request, whatever the tokens. 2,000: the cost of deciding grows
   * with them. A `limit` event says when it applies.
   */
  readonly messages: number
  /** The model's window in tokens; if absent, it is not checked. */
  readonly contextTokens?: number
  /** Tokens at which older exchanges are summarised or dropped; `contextTokens` by default. */
  readonly actAtTokens?: number
  /** Tokens kept free for the answer. 4,096. */
  readonly reserveTokens: number
  /** Tokens of instructions and tool schemas; measured by the host. */
  readonly overheadTokens: number
  /** Whether older exchanges are summarised before they are dropped. True. */
  readonly summarise: boolean
  /** Newest exchanges that are never summarised. 5. */
  readonly keepExchanges: number
}

export interface RetrySpec {
  /** Tries of one model before the next candidate. 3. */
  readonly attempts: number
  /** First pause in milliseconds, doubled for each further one. 500. */
  readonly baseMs: number
  /** Longest pause in milliseconds, including `retry-after`. 30,000. */
  readonly maxMs: number
}

export interface BatchSpec {
  /** A batch goes to the model after this many milliseconds without a transcript entry. 2,000. */
  readonly silenceMs: number
  /** Milliseconds after a batch's first entry. 15,000. */
  readonly ageMs: number
  readonly entries: number
  /** UTF-16 units of the waiting entries. */
  readonly chars: number
}

export interface Spec {
  readonly agent: string
  readonly hash: string
  /** Model ids in the order in which they are tried. */
  readonly models: readonly string[]
  readonly tools: readonly ToolSpec[]
  readonly limits: Limits
  readonly window: WindowSpec
  readonly retry: RetrySpec
  readonly batch: BatchSpec
  /** How to handle an empty answer. */
  readonly emptyAnswer: 'retry' | 'silence'
  /** Every other call, and the answer, waits for an `ok` result of this tool in the same turn. */
  readonly firstTool?: string
  readonly order?: readonly OrderRule[]
  /** Any of these ends a turn after a step with calls: the agent's `stopWhen`, and its tools with `endsTurn`. */
  readonly stopWhen?: readonly StopRule[]
  /** The host checks each answer (`checkAnswer`): an answer without a verdict is not accepted. */
  readonly checksAnswer?: true
  /** Milliseconds for an aborted model to report its partial answer. Set by the host, and not part of `hash`. */
  readonly interruptMs: number
}

export const DEFAULT_LIMITS: Limits = {
  toolRounds: 50,
  callsPerTurn: 256,
  parallelCalls: 8,
  inputChars: 65_536,
  resultChars: 262_144,
  answerChars: 8_388_608,
  mediaBytes: 20_971_520,
  inputMediaBytes: 67_108_864,
  mediaParts: 32,
  turnMs: 600_000,
  turnTokens: 1_000_000,
  turnCostMicros: Number.MAX_SAFE_INTEGER,
  queueInputs: 100,
  queueChars: 262_144,
  awayMs: 600_000,
  approvalMs: 600_000,
  pauses: 8,
  outputAttempts: 2,
  answerRetries: 2,
  firstWordMs: Number.MAX_SAFE_INTEGER,
}

export const DEFAULT_WINDOW: WindowSpec = {
  exchanges: Number.MAX_SAFE_INTEGER,
  messages: 2000,
  reserveTokens: 4096,
  overheadTokens: 0,
  summarise: true,
  keepExchanges: 5,
}

export const DEFAULT_RETRY: RetrySpec = { attempts: 3, baseMs: 500, maxMs: 30_000 }
export const DEFAULT_BATCH: BatchSpec = { silenceMs: 2000, ageMs: 15_000, entries: 50, chars: 8192 }
/** Enough if the model call runs in the host's own process. */
export const DEFAULT_INTERRUPT_MS = 1000

/** Fixed by the rules of the machine, not by an agent. */
export const RULES = {
  /** A result with more UTF-16 units may move behind a handle; a request then counts `movedChars` of them. */
  longChars: 2000,
  movedChars: 1200,
  /** Entries of a plan, and UTF-16 units of each. */
  planEntries: 100,
  planChars: 1000,
  /** Maximum starts of one step or tool whose process dies each time. */
  recoveries: 3,
  /** Milliseconds that calls of an interrupted turn get once the next input has arrived. */
  graceMs: 2000,
  /** Detached tools that may run at the same time; more are treated as `finish`. */
  detached: 16,
  /** Minimum milliseconds that a restart leaves to a client call, and how often. */
  restartGraceMs: 10_000,
  restartGraces: 3,
  /** A call written to a sequential app counts as reached after this many milliseconds. */
  reachMs: 60_000,
  /** Input ids and settled calls remembered to detect repeats, and remembered decisions of people. */
  remembered: 256,
  /** How often one turn may shorten its window after the provider said that it is full. */
  shrinks: 3,
  /** UTF-16 units of an output issue that the model reads. */
  issueChars: 4000,
  /** UTF-16 units of an input's output schema, as JSON. */
  outputChars: 32_768,
  /** UTF-16 units of a provider's reason for refusing an input, as the model reads it. */
  reasonChars: 200,
  /** UTF-16 units of a late result that the model reads. */
  noteChars: 2000,
  /** Clients attached to a session at once, and tools that they may provide. */
  clients: 64,
  clientTools: 128,
  /** Questions of one call; UTF-16 units of a question's message, and of its schema and its answer as JSON. */
  questions: 16,
  questionChars: 4000,
  questionJsonChars: 16_384,
  /** UTF-16 units of a session's title, and of its metadata as JSON. */
  titleChars: 200,
  metaChars: 8192,
  /** Maximum milliseconds of a client's lease. */
  leaseMs: 3_600_000,
  /** Defaults of the limits of a tree, which are absent from agents that do not set them. */
  treeDepth: 2,
  treeSessions: 64,
  children: 8,
  treeRounds: 200,
  treeCalls: 1024,
  /** Milliseconds that the call of an ended child waits for it, for each level below. */
  childEndMs: 5000,
  /** Calls with an effect that a child's end names. */
  deeds: 16,
  /** Defaults of the limits of tasks. */
  tasks: 16,
  wakes: 20,
  /** Ended tasks that a session remembers. */
  endedTasks: 32,
  /** Reminders of a session; UTF-16 units of one as JSON; milliseconds between two of its times. */
  reminders: 32,
  reminderChars: 4000,
  reminderMs: 60_000,
  /** Longest wait for tasks, in seconds. */
  waitSeconds: 600,
} as const
