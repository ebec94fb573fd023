// An agent's approval policy, which sees a call before it runs: its input, its verdicts, and in whose name it decides.
import * as s from '../shape/shape.ts'
import type { ToolKind, Trust } from './tool-options.ts'
import type { Deciders, EffectClass } from '../machine/values.ts'
import type { PathStep } from '../machine/tree-values.ts'

/** The person or service that a session belongs to. Fronts get it from `authenticate`. */
export const Principal = s.fields({
  /** Id of the person behind a session; `anonymous` without a login. */
  id: s.text,
  /** Roles that let the person decide for others (see `deciders`), from `authenticate`. No log keeps them. */
  roles: s.optional(s.list(s.text)),
})
export interface Principal extends s.Infer<typeof Principal> {}

/** A call as a policy sees it. */
export interface PolicyCall {
  readonly session: string
  readonly principal: Principal
  readonly tool: {
    readonly name: string
    readonly effect: EffectClass
    /** `child`: another agent does the call, whose own calls are judged one by one. */
    readonly runs: 'server' | 'client' | 'child'
    readonly kind?: ToolKind
    readonly trust: Trust
    /** The source that provides it; absent for the agent's own tools. */
    readonly source?: string
    /** False: it declares that it reaches nothing beyond this machine. */
    readonly network?: boolean
  }
  /**
   * Present if the call is made by an agent below the policy's own: the delegated calls that lead to it, the policy's
   * own first.
   */
  readonly path?: readonly PathStep[]
  /** The validated arguments. */
  readonly input: unknown
  /** The target of its write or send, from the tool's `describe`. */
  readonly destination?: string
  /**
   * Tools whose untrusted results the model has read since the conversation began, even if the results have left the
   * window.
   */
  readonly untrusted: readonly string[]
  /** Tools of untrusted sources offered in the step: the model has read their descriptions. */
  readonly described: readonly string[]
  /**
   * Parts of the arguments that appear in untrusted results that the model read, and not in the user's words; at most
   * 32 places.
   */
  copied(): readonly CopiedText[]
  /**
   * JSON Pointers to texts in the arguments that appear neither in the user's words nor in an untrusted result. Names
   * below the outermost object count, and so do many numbers and scraps, and parts longer than 65,536 characters or
   * deeper than 32 levels.
   */
  composed(): readonly string[]
}

/** A piece of an argument that appears in the result of an untrusted tool. */
export const CopiedText = s.fields({
  /** JSON Pointer into the arguments: `/comment/body`. */
  path: s.text,
  /** UTF-16 offsets of the text there; `to` is exclusive. */
  from: s.count,
  to: s.count,
  tool: s.text,
})
export interface CopiedText extends s.Infer<typeof CopiedText> {}

/** A policy's reason to ask, for the person who decides. */
export const AskedFor = s.fields({
  /** At most 500 characters. */
  message: s.text,
  /** Approving the call approves later ones of its tool to this destination; if absent, only this call. */
  destination: s.optional(s.text),
  /** The approval applies to this call only, unless the person chooses `remember`. */
  each: s.optional(s.word(true)),
  /** Tools whose untrusted results the model has read. */
  untrusted: s.optional(s.list(s.text)),
  copied: s.optional(s.list(CopiedText)),
  /** Principals who may approve an answer; the session's own by default. */
  by: s.optional(s.list(Principal)),
})
export interface AskedFor extends s.Infer<typeof AskedFor> {}

/**
 * `allow` and `ask` win over the tool's own `approval`; `deny` wins over everything, even a person. `{ ask }` gives a
 * reason. It asks again whatever a person decided for other calls of the tool, and an approval is remembered for its
 * `destination` only. With `each` it is remembered only if the person says so (`remember`). `each` is true by default
 * if the tool's own `approval` asks too.
 */
export type PolicyVerdict =
  | 'allow'
  | 'ask'
  | 'deny'
  | { readonly deny: string }
  | {
      readonly ask: string
      readonly destination?: string
      readonly each?: boolean
      /** People who decide instead of the session's own principal; the tool's own `deciders` by default. */
      readonly deciders?: Deciders
    }
/**
 * Returns undefined to let the tool's own `approval` decide. Shares a limit of 10 s with the schema; if it throws, the
 * call does not run.
 */
export type ApprovalPolicy = (call: PolicyCall) => PolicyVerdict | undefined | Promise<PolicyVerdict | undefined>
