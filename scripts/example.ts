// `npm run example NAME`: starts one of the example programs.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const FOLDER = join(import.meta.dirname, '../examples')
/** Short names that people look for. */
const STARTS: Readonly<Record<string, string>> = {
  chat: 'chat-web/start.ts',
  issues: 'issue-solver/start.ts',
  voice: 'voice-web/start.ts',
  copilot: 'negotiation-copilot/start.ts',
  bounty: 'bounty-review/start.ts',
  'assistant-ui': 'embed/assistant-ui/start.ts',
}

const [name = ''] = process.argv.slice(2)
const start = STARTS[name]
if (start === undefined) {
  const wrong = name === '' ? 'Name the example to start' : `There is no example "${name}" to start`
  console.error(`${wrong}: npm run example NAME, with one of ${Object.keys(STARTS).join(', ')}.`)
  console.error('examples/README.md says how to run the others.')
  process.exitCode = 2
} else await import(pathToFileURL(join(FOLDER, start)).href)
