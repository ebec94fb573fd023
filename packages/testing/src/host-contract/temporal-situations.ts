// Situations of the contract that a test cannot play over a real Temporal service, each with its reason; all others are
// played. `BATON_CONTRACT=all` tries these too.
import { PAIR_SITUATIONS } from './pair-situations.ts'
import { REMINDER_SITUATIONS } from './reminders-situations.ts'

const STEPS = [
  'set back by five seconds',
  'set back by a day',
  'set back by a year',
  'set forward by a day',
  'set forward by 40 days',
  'set forward by a year',
]

/** Grouped by reason. */
const REASONS: Readonly<Record<string, readonly string[]>> = {
  'it names moments of the session’s time, which is the service’s and not the test’s': [
    'what waits is shown with its tool, input, title, places and expiry, and nothing else',
    ...Object.keys(REMINDER_SITUATIONS),
    'a tool asks its user in mid-call, and its clock and the turn’s stand still meanwhile',
    'a tool that is tried again after its model was busy waits as long as that model asked for',
    ...STEPS.map(
      (step) => `while the clock is ${step}, a record says the session’s time and, beside it, what the clock said`,
    ),
  ],
  'it waits for the own time of a gateway, which nobody moves': [
    'an output schema that hangs or throws is an error for the model',
    ...STEPS.map(
      (step) => `while the clock is ${step}, a host that stops lets its turns end for as long as it was told`,
    ),
  ],
  'it acts within a second of the session’s time, which the service needs for itself': [
    'a model that fails is asked again after a pause that grows, then the turn fails with its code',
    'an interrupt while a pure tool runs',
    'the next model call waits until the aborted one has ended, whatever the interrupt waits for',
    'an interrupt while a finishing tool runs',
    'an interrupt while a once tool runs',
    ...Object.keys(PAIR_SITUATIONS),
  ],
  'the service skips no time of a session while a workflow that it has started runs': [
    'a delegated call whose time passes while its agent waits for a person keeps its time',
  ],
  'it reads the log at once, which follows the answer of a workflow a moment later': [
    'a client that is attached while its session is closed does not stay',
  ],
  'what a running tool asks next comes without a sign that can be waited for': [
    'a seventeenth question of one call is refused, and the tool is told so',
  ],
  'activities that run at once begin in any order': [
    'calls run at once, eight at most, and their results go back in the order of the calls',
    'ten tasks end at once: one turn begins, and all are read',
  ],
  'a gateway and a worker each open the sources of an agent': [
    'tools of a source come and go in a living session',
    'what a source lists that is no tool is left out and logged, at the opening and later',
    'a source that fails or hangs has no tools, and the session opens all the same',
  ],
  'the agents of the workers count, by name; a handle brings none': [
    'an agent that differs by a policy or an execute alone is taken',
    'a handle that names another agent changes it while the session is open; calls of tools that are gone settle',
  ],
}

/** The reason for each situation. */
export const NOT_OVER_TEMPORAL: ReadonlyMap<string, string> = new Map(
  Object.entries(REASONS).flatMap(([reason, names]) => names.map((name) => [name, reason] as const)),
)
