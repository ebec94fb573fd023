// Refuses an invalid Update before it costs a history event.
import { ApplicationFailure } from '@temporalio/workflow'
import { SESSION_TABLE } from '@baton/core/machine'
import type { Submission } from '../contract.ts'
import { INPUTS_MAX } from '../contract.ts'

/** @throws ApplicationFailure of type `illegal_input` or `queue_full` */
export function checkSubmission(submission: Submission, isFull: boolean): void {
  if (isFull) throw ApplicationFailure.nonRetryable('too many inputs are waiting to be decided', 'queue_full')
  const { inputs } = submission ?? {}
  const isList = Array.isArray(inputs) && inputs.length <= INPUTS_MAX
  const wrong = !isList
    ? `inputs must be a list of at most ${INPUTS_MAX}`
    : inputs.some((input) => !Object.hasOwn(SESSION_TABLE, String(input?.type)))
      ? 'an input has no known type'
      : undefined
  if (wrong !== undefined) throw ApplicationFailure.nonRetryable(wrong, 'illegal_input')
}
