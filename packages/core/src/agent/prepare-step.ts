// The input and the result of an agent's `prepareStep`, which may change a step before its model call.
import type { Message } from '../messages.ts'
import type { ModelSettings, ToolChoice } from './model.ts'

export interface StepToPrepare {
  readonly session: string
  readonly step: number
  /** Steps with calls in this turn so far; 0 for its first step. */
  readonly rounds: number
  readonly attempt: number
  /** The model that would be called. */
  readonly model: string
  readonly messages: readonly Message[]
  /** Names of the tools that would be offered. */
  readonly tools: readonly string[]
}

/** Changes to a step; absent fields change nothing. */
export interface StepChange {
  /** Names of the tools in force; calls of others are denied. */
  readonly tools?: readonly string[]
  /** Ignored once the turn has used up its tool rounds: then it is always `none`. */
  readonly toolChoice?: ToolChoice
  readonly model?: string
  readonly instructions?: string
  readonly settings?: ModelSettings
}

export type PrepareStep = (step: StepToPrepare) => StepChange | undefined | Promise<StepChange | undefined>
