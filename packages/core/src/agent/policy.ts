// What an agent's policy learns about a call before it runs, and what it may answer.
import type { EffectClass, Principal, ToolKind, Trust } from './tool.ts'

/** A call as a policy sees it. */
export interface PolicyCall {
  readonly session: string
  readonly principal: Principal
  readonly tool: {
    readonly name: string
    readonly effect: EffectClass
    readonly runs: 'server' | 'client'
    readonly kind?: ToolKind
    readonly trust: Trust
    /** The source that brought it; absent for the agent's own. */
    readonly source?: string
  }
  /** The validated arguments. */
  readonly input: unknown
  /** Where it writes or sends, as the tool's `describe` says. */
  readonly destination?: string
  /** Tools that the model has read untrusted results of since the conversation began, also where they have left the window since. */
  readonly untrusted: readonly string[]
  /** Tools of untrusted sources that the step offered: the model has read their descriptions. */
  readonly described: readonly string[]
  /** What of the arguments stands in untrusted results that the model was shown, and in no word of the user; at most 32 places. */
  copied(): readonly CopiedText[]
  /**
   * Texts of the arguments, as JSON Pointers, that stand neither in a word of the user nor in an untrusted result. Names below the
   * outermost object count, many numbers and scraps too, and what is longer than 65,536 characters or deeper than 32.
   */
  composed(): readonly string[]
}

/** A piece of an argument that stands in the result of an untrusted tool. */
export interface CopiedText {
  /** Where in the arguments, as a JSON Pointer: `/comment/body`. */
  readonly path: string
  /** UTF-16 units of the text there; `to` is behind the last one. */
  readonly from: number
  readonly to: number
  readonly tool: string
}

/** Why a policy asks, for the person who decides. */
export interface AskedFor {
  /** At most 500 characters. */
  readonly message: string
  /** Approving the call approves later ones of its tool to this destination; absent: this call alone. */
  readonly destination?: string
  /** Tools whose untrusted results the model has read. */
  readonly untrusted?: readonly string[]
  readonly copied?: readonly CopiedText[]
}

/**
 * `allow` and `ask` win over the tool's own `approval`, `deny` over everything, also over a person. `{ ask }` says why, asks again
 * whatever a person decided for other calls of the tool, and is remembered for its `destination` alone. With `each` it is remembered only
 * where the person says so (`remember`); by default that is so where the tool's own `approval` asks too.
 */
export type PolicyVerdict =
  | 'allow'
  | 'ask'
  | 'deny'
  | { readonly deny: string }
  | { readonly ask: string; readonly destination?: string; readonly each?: boolean }
/** Undefined: the tool's own `approval` decides. It has 10 s together with the schema; a throw means that the call does not run. */
export type ApprovalPolicy = (call: PolicyCall) => PolicyVerdict | undefined | Promise<PolicyVerdict | undefined>
