// The same for tools of a program, which ends, lies and talks too much.
import { playFailures } from './play-failures.test-kit.ts'
import { mcpStdio } from './tool-error-kinds.test-kit.ts'

playFailures(mcpStdio)
