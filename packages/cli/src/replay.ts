// `baton replay EXPORT --agent FILE`: a session that was exported, run again with the agent as it is now.
import { BatonError } from '@baton/core'
import type { ReplayReport } from '@baton/host/replay'
import { replaySession } from '@baton/host/replay'
import { createReadStream, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from './command.ts'
import { escapeControls, escapeLine } from './escape-controls.ts'
import type { Console } from './console.ts'
import { loadAgent } from './load-agent.ts'
import { readLines } from './read-lines.ts'
import { UsageError } from './usage-error.ts'
import { readWords } from './words.ts'

const HELP = `baton replay EXPORT --agent FILE: an exported session as a test of an agent

The agent in FILE gets what the model answered then. What comes out otherwise is printed: tools that are gone or take other
arguments, approvals, limits, outputs, answers. No model is asked and nothing is stored. Tools return what they returned
then, unless they are to run. "baton sessions export SESSION" makes an export.

It ends with code 0 where everything is as it was, and with 1 where something differs. What came after somebody
interrupted, paused or rewound the session is not compared, and that is said.

Options:
  --agent FILE         the agent, a default export (needed)
  --run-tools WHICH    none (the default); pure: tools without an effect run; all: every tool runs, with its effects
  --json               the report as a line of JSON

Examples:
  baton sessions export kitchen --file kitchen.jsonl
  baton replay kitchen.jsonl --agent agent.ts
  baton replay kitchen.jsonl --agent agent.ts --run-tools pure
`

export const replayCommand: Command = {
  help: HELP,
  run: replay,
}

const WHICH = ['none', 'pure', 'all'] as const

async function replay(words: readonly string[], terminal: Console): Promise<number> {
  const { values, positionals } = readWords(words, {
    command: 'replay',
    options: {
      agent: { type: 'string' },
      'run-tools': { type: 'string', default: 'none' },
      json: { type: 'boolean', default: false },
    },
    words: ['EXPORT'],
  })
  const [file] = positionals
  if (file === undefined) throw new UsageError('replay needs an exported session: baton replay EXPORT --agent FILE')
  if (values.agent === undefined) throw new UsageError('replay needs the agent: baton replay EXPORT --agent FILE')
  const run = WHICH.find((which) => which === values['run-tools'])
  if (!run) throw new UsageError(`--run-tools is one of ${WHICH.join(', ')}, not "${values['run-tools']}"`)
  const path = resolve(terminal.folder, file)
  if (!statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new BatonError({
      code: 'invalid_option',
      message: `there is no file ${file} to replay`,
      hint: 'Make one by "baton sessions export SESSION --file FILE".',
    })
  const agent = await loadAgent(values.agent, terminal.folder)
  const chunks: AsyncIterable<Uint8Array> = createReadStream(path) // without an encoding, so they are bytes
  const report = await replaySession({ agent, lines: readLines({ name: file, chunks }), run })
  if (values.json) terminal.write(`${escapeControls(JSON.stringify(report))}\n`)
  else for (const line of listLines(report)) terminal.write(`${escapeLine(line)}\n`)
  return report.differences.length === 0 ? 0 : 1
}

function listLines({ session, turns, differences, notes }: ReplayReport): readonly string[] {
  const told = differences.flatMap(({ turn, place, recorded, now }) => [
    `turn ${turn}, ${place}`,
    `  - ${recorded}`,
    `  + ${now}`,
  ])
  const counted = turns === 1 ? '1 turn was' : `${turns} turns were`
  const found = differences.length === 1 ? '1 difference' : `${differences.length} differences`
  const verdict = differences.length === 0 ? 'nothing differs' : found
  return [...told, ...notes.map((note) => `note: ${note}`), `session ${session}: ${counted} replayed, ${verdict}`]
}
