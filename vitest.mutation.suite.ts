// All tests of the session machine as one file: a run for a mutant then loads the machine once instead of twenty times.
// Without the explored conversations and the measured costs, which take longer than all others together.
import.meta.glob(['./packages/core/src/machine/*.test.ts', '!**/explore.test.ts', '!**/cost.test.ts'], { eager: true })
