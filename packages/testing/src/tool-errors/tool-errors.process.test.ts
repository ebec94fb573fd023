// The same for tools of a program that exits, writes invalid messages, and writes too much.
import { playFailures } from './play-failures.test-kit.ts'
import { mcpStdio } from './tool-error-kinds.test-kit.ts'

playFailures(mcpStdio)
