// Every situation that any kind of host plays.
import { isEveryPlaceTried } from '../components/depth.ts'
import { ANSWER_CHECK_SITUATIONS } from './answer-check-situations.ts'
import { APPROVAL_SITUATIONS } from './approvals-situations.ts'
import { ARGUMENT_SITUATIONS } from './arguments-situations.ts'
import { BACKGROUND_AGENT_SITUATIONS } from './background-agents-situations.ts'
import { CHILDREN_SITUATIONS } from './children-situations.ts'
import { CLIENT_SITUATIONS } from './clients-situations.ts'
import { CONTROL_SITUATIONS } from './control-situations.ts'
import { ENDING_SITUATIONS } from './ending-situations.ts'
import { EVENT_SITUATIONS } from './events-situations.ts'
import { READER_SITUATIONS } from './reader-situations.ts'
import { GENERATE_SITUATIONS } from './generate-situations.ts'
import { INPUT_SITUATIONS } from './inputs-situations.ts'
import { INTERRUPT_SITUATIONS } from './interrupts-situations.ts'
import { LEASE_CLIENT_SITUATIONS } from './lease-clients-situations.ts'
import { MEDIA_SITUATIONS } from './media-situations.ts'
import { MODEL_SITUATIONS } from './models-situations.ts'
import { OUTPUT_SITUATIONS } from './output-situations.ts'
import { TURN_OUTPUT_SITUATIONS } from './turn-output-situations.ts'
import { QUESTION_SITUATIONS } from './questions-situations.ts'
import { REMINDER_SITUATIONS } from './reminders-situations.ts'
import { REWIND_SITUATIONS } from './rewind-situations.ts'
import { LARGE_RESULT_SITUATIONS, RESULT_SITUATIONS } from './results-situations.ts'
import { SESSION_SITUATIONS } from './sessions-situations.ts'
import { TASK_SITUATIONS } from './tasks-situations.ts'
import { TIME_SITUATIONS } from './time-situations.ts'
import { TOOL_SESSION_SITUATIONS } from './tool-sessions-situations.ts'
import { TOOL_SITUATIONS } from './tools-situations.ts'
import { TRUST_SITUATIONS } from './trust-situations.ts'
import { VOICE_TASK_SITUATIONS } from './voice-tasks-situations.ts'
import { WORLD_SITUATIONS } from './worlds-situations.ts'
import { CLIENT_RESULT_SITUATIONS } from './client-results-situations.ts'
import { PAIR_SITUATIONS } from './pair-situations.ts'

export const SITUATIONS = {
  ...CLIENT_RESULT_SITUATIONS,
  ...TOOL_SITUATIONS,
  ...TOOL_SESSION_SITUATIONS,
  ...ARGUMENT_SITUATIONS,
  ...RESULT_SITUATIONS,
  ...(isEveryPlaceTried() && LARGE_RESULT_SITUATIONS),
  ...CLIENT_SITUATIONS,
  ...LEASE_CLIENT_SITUATIONS,
  ...MEDIA_SITUATIONS,
  ...MODEL_SITUATIONS,
  ...GENERATE_SITUATIONS,
  ...APPROVAL_SITUATIONS,
  ...ANSWER_CHECK_SITUATIONS,
  ...OUTPUT_SITUATIONS,
  ...ENDING_SITUATIONS,
  ...TURN_OUTPUT_SITUATIONS,
  ...CONTROL_SITUATIONS,
  ...SESSION_SITUATIONS,
  ...TRUST_SITUATIONS,
  ...QUESTION_SITUATIONS,
  ...INPUT_SITUATIONS,
  ...INTERRUPT_SITUATIONS,
  ...REWIND_SITUATIONS,
  ...EVENT_SITUATIONS,
  ...READER_SITUATIONS,
  ...WORLD_SITUATIONS,
  ...TASK_SITUATIONS,
  ...CHILDREN_SITUATIONS,
  ...BACKGROUND_AGENT_SITUATIONS,
  ...VOICE_TASK_SITUATIONS,
  ...TIME_SITUATIONS,
  ...REMINDER_SITUATIONS,
  ...PAIR_SITUATIONS,
}
