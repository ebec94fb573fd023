// The input and the answers of an agent's approval policy, which sees a call before it runs.
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
    /** False: it says that it reaches nothing beyond this machine. */
    readonly network?: boolean
  }
  /** The validated arguments. */
  readonly input: unknown
  /** The target of its write or send, from the tool's `describe`. */
  readonly destination?: string
  /** Tools whose untrusted results the model has read since the conversation began, even if the results have left the window. */
  readonly untrusted: readonly string[]
  /** Tools of untrusted sources that the step offered: the model has read their descriptions. */
  readonly described: readonly string[]
  /** Parts of the arguments that stand in untrusted results which the model read, and not in the user's words; at most 32 places. */
  copied(): readonly CopiedText[]
  /**
   * Texts of the arguments, as JSON Pointers, that stand neither in the user's words nor in an untrusted result. Names below the
   * outermost object count, and so do many numbers and scraps, and parts longer than 65,536 characters or deeper than 32 levels.
   */
  composed(): readonly string[]
}

/** A piece of an argument that stands in the result of an untrusted tool. */
export interface CopiedText {
  /** JSON Pointer into the arguments: `/comment/body`. */
  readonly path: string
  /** UTF-16 units of the text there; `to` is behind the last one. */
  readonly from: number
  readonly to: number
  readonly tool: string
}

/** A policy's reason to ask, for the person who decides. */
export interface AskedFor {
  /** At most 500 characters. */
  readonly message: string
  /** Approving the call approves later ones of its tool to this destination; absent: this call alone. */
  readonly destination?: string
  /** The approval stands for this call alone, unless the person says `remember`. */
  readonly each?: true
  /** Tools whose untrusted results the model has read. */
  readonly untrusted?: readonly string[]
  readonly copied?: readonly CopiedText[]
  /** For the approval of an answer: the principals who may decide; the session's own by default. */
  readonly by?: readonly string[]
}

/**
 * `allow` and `ask` win over the tool's own `approval`, `deny` over everything, even over a person. `{ ask }` gives a reason. It asks again
 * whatever a person decided for other calls of the tool, and an approval is remembered for its `destination` alone. With `each` it is
 * remembered only if the person says so (`remember`). `each` is true by default if the tool's own `approval` asks too.
 */
export type PolicyVerdict =
  | 'allow'
  | 'ask'
  | 'deny'
  | { readonly deny: string }
  | { readonly ask: string; readonly destination?: string; readonly each?: boolean }
/** Undefined: the tool's own `approval` decides. It has 10 s together with the schema; a throw means that the call does not run. */
export type ApprovalPolicy = (call: PolicyCall) => PolicyVerdict | undefined | Promise<PolicyVerdict | undefined>
