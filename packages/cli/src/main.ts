// The process of the `baton` command: its arguments, streams, variables and signals. What it does stands in `run.ts`.
import { createNodeConsole } from './console.ts'
import { run } from './run.ts'

process.exitCode = await run(process.argv.slice(2), createNodeConsole())
