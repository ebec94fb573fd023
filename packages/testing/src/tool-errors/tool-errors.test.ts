// Errors of calls, in three layers: the right one reaches the model, the user and the operator, whatever kind of tool
// fails.
import { playFailures } from './play-failures.test-kit.ts'
import { TOOL_KINDS } from './tool-error-kinds.test-kit.ts'

for (const kind of TOOL_KINDS) playFailures(kind)
