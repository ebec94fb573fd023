// The process of the `baton` command: its arguments, streams, variables and signals. The command itself is in `run.ts`.
import { keepCompiledCode } from './places/compile-cache.ts'
import { createNodeConsole } from './console.ts'
import { run } from './run.ts'

/** Milliseconds for leftover work after the output is written. */
const EXIT_MS = 1000

keepCompiledCode(process.env)
// Keeps the process alive while the command waits, for example for a thread that does not do so itself.
const alive = setInterval(() => {}, EXIT_MS)
process.exitCode = await run(process.argv.slice(2), createNodeConsole())
clearInterval(alive)
// Lets a slow reader of long output get all of it.
await new Promise<void>((resolve) => void process.stdout.write('', () => resolve()))
// A tool that never ends must not keep a finished process alive. Without such a tool, the process exits earlier by
// itself.
setTimeout(() => process.exit(), EXIT_MS).unref()
