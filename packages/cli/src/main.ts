// The process of the `baton` command: its arguments, streams, variables and signals. What it does stands in `run.ts`.
import { createNodeConsole } from './console.ts'
import { run } from './run.ts'

/** Milliseconds for what is left once the output is written. */
const EXIT_MS = 1000

// Waits at the end of a command (for a thread that nothing keeps) must not end the process before the command has.
const alive = setInterval(() => {}, EXIT_MS)
process.exitCode = await run(process.argv.slice(2), createNodeConsole())
clearInterval(alive)
// A slow reader of a long output gets all of it.
await new Promise<void>((resolve) => void process.stdout.write('', () => resolve()))
// A tool that never ends must not keep a process that is done; one that nothing keeps ends by itself, its output written.
setTimeout(() => process.exit(), EXIT_MS).unref()
