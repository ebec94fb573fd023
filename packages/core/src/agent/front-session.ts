// A session as fronts, listeners and test kits hold it, with clients that hold a lease.
import type { JsonValue } from '../json.ts'
import { BatonError } from '../errors.ts'
import type { MessageId } from '../events/session-event.ts'
import type { OpenCall } from '../machine/render.ts'
import type { Accepted, ClientReport, Refused, UserCommand } from '../machine/input.ts'
import type { Phase } from '../machine/state.ts'
import { EffectClass } from '../machine/values.ts'
import * as s from '../shape/shape.ts'
import { describeValue } from '../shape/value-reader.ts'
import type { Agent } from './agent.ts'
import type { Client } from './client-handlers.ts'
import type { Session } from './session-api.ts'
import type { SessionAction, TranscriptEntry, UrgentEvent } from './decode-command.ts'

/**
 * A session as fronts, listeners and test kits hold it: `frontOf(session)`. Names and behaviour of these members may change
 * in any version.
 */
export interface FrontSession<A extends Agent = Agent> extends Session<A> {
  /**
   * Adds a speaker's words in a conversation that the agent listens to. Entries are answered together, after a silence
   * (`batch` of the agent). @throws BatonError `invalid_transcript` (no words), and as `send`
   */
  hear(entry: TranscriptEntry): Promise<Accepted>
  /**
   * Accepts an event of a kind that the agent declares, and no other; once for its `inputId`, however long ago that was.
   * @throws BatonError `invalid_event` (another kind, or data that does not fit its schema), and as `notify`
   */
  takeEvent(event: UrgentEvent & { readonly inputId: string }): Promise<Accepted>
  /** @throws BatonError `illegal_input` for `continue` and `start` of a session that is not paused or stopped */
  control(action: SessionAction): Promise<Accepted>
  /**
   * Submits a command, or a report of a client attached through this handle. Inputs reserved to the host (results of
   * server tools, answers of models, timers) are refused with `illegal_input`, and a report for another client with
   * `unauthorized`. Does not reject for an input that is not allowed: the refusal is the result.
   */
  submit(input: UserCommand | ClientReport): Promise<Accepted | Refused>
  /**
   * Attaches a client without a connection, for example behind HTTP: it keeps its place and its calls by a lease that it
   * renews, and may provide tools. Calling it again with the same name and principal resumes it.
   * @throws BatonError `invalid_event`, `invalid_option` (`runs` names something that is not a client tool of the agent),
   * `rate_limited` (too many clients or tools), `unauthorized`
   */
  client(init: LeaseClientOptions): Promise<LeaseClient>
  /**
   * Calls back when the session has been restarted from its log, which detaches all clients: those that are still there
   * attach again. The returned function ends this, and so does closing the session.
   */
  onClientsGone(callback: () => void): () => void
  /** Withdraws an input, or ends the turn that has read it; of an input that was answered, nothing. */
  takeBack(inputId: string): Promise<void>
  /** An unsettled call, with what the client needs to run it. */
  openCall(callId: string): OpenCall | undefined
  /** The newest turn, and the position from which it can be read. */
  lastTurn(): { readonly turn: number; readonly pos: number } | undefined
  readonly phase: Phase
  /** Position of the newest record. */
  readonly pos: number
}

/**
 * The members of a session that fronts need. Every host's sessions have them.
 * @throws BatonError `invalid_option` for another object, such as a copy of a session
 */
export function frontOf<A extends Agent>(session: Session<A>): FrontSession<A> {
  if ('submit' in session) return session as FrontSession<A> // hosts create sessions by createSession of the runtime
  throw new BatonError({ code: 'invalid_option', message: 'frontOf needs a session of a host, not a copy of one' })
}

/** Phases that last until a new input. */
export const AT_REST: ReadonlySet<Phase> = new Set<Phase>(['idle', 'paused', 'stopped'])

/** Providers accept only objects as arguments. */
export const ToolInputSchema = s.refine(s.object, (schema, reader) =>
  schema['type'] === 'object'
    ? schema
    : reader.refuse(`must have the type "object" at its root, not ${describeValue(schema['type'])}`),
)

export const ClientTool = s.fields('a tool', {
  name: s.name,
  description: s.text,
  /** JSON Schema of the arguments, an object at its root. */
  inputSchema: ToolInputSchema,
  /** `once` by default. */
  effect: s.optional(EffectClass),
  /** Milliseconds; 30 s by default. */
  timeoutMs: s.optional(s.number(1)),
})
export interface ClientTool extends s.Infer<typeof ClientTool> {}

/** Maximum tool names that a client can run, and tools that it provides. */
export const TOOLS_MAX = 1000

export const LeaseClientOptions = s.fields('a client', {
  /** Constant name of the client: 1 to 256 characters. */
  client: s.name,
  /** Milliseconds without a renewal before it counts as disconnected; 30 s by default, an hour at most. */
  leaseMs: s.optional(s.number(1)),
  /** Names of the agent's client tools that it can run; all by default. */
  runs: s.optional(s.list(s.name, TOOLS_MAX)),
  /** Without `runs`: whether it also runs the client tools of all agents to which the agent delegates; false by default. */
  below: s.optional(s.flag),
  /** Tools that it provides: offered to the model while the client is known, and run only by it. */
  tools: s.optional(s.list(ClientTool, TOOLS_MAX)),
  /** Whether a person behind it can be asked; true by default. */
  asks: s.optional(s.flag),
  /**
   * The client only submits results and runs nothing: an attached client of this name stays as it is. False by default.
   */
  onlyResults: s.optional(s.flag),
})
export interface LeaseClientOptions extends s.Infer<typeof LeaseClientOptions> {}

/** A client that keeps its place by a lease. `detach` removes its tools too. */
export interface LeaseClient extends Client {
  /** Extends the lease by its full length. @throws BatonError if the session no longer accepts it */
  renew(): Promise<void>
}

/**
 * Happenings between records. Pieces of an attempt are provisional until its step ends, and void if it is superseded. They
 * follow the record that began their attempt. Offsets count UTF-16 units of that text, so that a repeat is harmless.
 */
export type LiveFrame =
  | { readonly type: 'text-delta'; readonly attempt: number; readonly offset: number; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly attempt: number; readonly offset: number; readonly text: string }
  /** A tool's input as the model writes it: JSON text. The first piece of a call may have no text. */
  | {
      readonly type: 'call-delta'
      readonly attempt: number
      /** Index of the call in the answer, from 0. */
      readonly index: number
      readonly name: string
      readonly offset: number
      readonly text: string
    }
  /** A tool that the provider runs within an answer, under the provider's name for it. */
  | {
      readonly type: 'server-tool'
      readonly attempt: number
      readonly name: string
      readonly status: 'started' | 'finished'
    }
  | { readonly type: 'tool-progress'; readonly callId: string; readonly note: JsonValue }

/** The server's own note; apps need not understand it. */
export interface SpeechPlace {
  /** Texts of records before this position are not spoken: their turns had ended when the session was opened. */
  readonly silentTo?: number
  /** The answer being spoken. */
  readonly answer?: SpokenAnswer
}

/** Offsets are UTF-16 units. */
export interface SpokenAnswer {
  readonly message: MessageId
  readonly step: number
  /** Offset of the step's text in the answer's text. */
  readonly base: number
  /** Index of the next sentence. */
  readonly index: number
  /** Index of the step's first sentence. */
  readonly first: number
  /** Offset of the next sentence in the step's text. */
  readonly from: number
  /** How far the step's text was split; `rest` follows it. */
  readonly at: number
  /** The text after `at`: an unfinished sentence, which may not be in the log yet. */
  readonly rest: string
  /**
   * The marks that opened the code block around `rest`, or `{` in an answer that is a JSON object; otherwise absent.
   */
  readonly fence?: string
  /** `rest` does not start a line. */
  readonly inLine?: true
}
