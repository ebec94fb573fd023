// The input and the result of an agent's `prepareStep`, which may change a step before its model call.
import type { Message } from '../messages.ts'
import type { FieldIsNamed } from '../shape/known-fields.ts'
import type { Model } from './model.ts'
import type { ModelSettings, ToolChoice } from '../model-settings.ts'

export interface StepToPrepare<Name extends string = string> {
  readonly session: string
  /** Position of the step in its turn, from 0. Retries and fallback models of a step have the same number. */
  readonly stepNumber: number
  /** Steps of this turn that had calls; 0 for its first step. `limits.toolRounds` counts these. */
  readonly rounds: number
  /** The step's number in the session, from 1: the number that events have. */
  readonly step: number
  /** Model calls of the session so far, including this one. A retry or a fallback counts. */
  readonly attempt: number
  /** The model that would be called. */
  readonly model: string
  /** The request's messages, oldest first. They are a copy. */
  readonly messages: readonly Message[]
  /** Names of the tools that would be offered. */
  readonly tools: readonly Name[]
}

/** Changes to a step; absent fields change nothing. */
export interface StepChange<Name extends string = string> {
  /** Names of the tools in force; calls of others are denied. An unknown name fails the turn. */
  readonly tools?: readonly Name[]
  /** Ignored once the turn has used up its tool rounds: then it is always `none`. */
  readonly toolChoice?: ToolChoice<Name>
  /** A model, or the id of one. */
  readonly model?: string | Model
  readonly instructions?: string
  /** Overrides single settings; the others stay. */
  readonly settings?: ModelSettings
  /**
   * The messages of this request; the session keeps its own. A tool message must have the result of each call of the
   * assistant message before it, and no others.
   */
  readonly messages?: readonly Message[]
  /** @deprecated The field is `tools`. */
  readonly activeTools?: FieldIsNamed<'tools'>
  /** @deprecated The field is `instructions`. */
  readonly system?: FieldIsNamed<'instructions'>
}

/**
 * Called before each model call. Times out after 30 seconds. If it throws or returns an invalid change, the turn fails
 * with `prepare_step_failed` and its message.
 */
export type PrepareStep<Name extends string = string> = (
  step: StepToPrepare<Name>,
) => StepChange<Name> | undefined | Promise<StepChange<Name> | undefined>
