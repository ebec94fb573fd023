// `baton replay EXPORT --agent FILE`: replays an exported session with the current agent.
import { BatonError } from '@baton/core'
import type { ReplayReport } from '@baton/host/testing'
import { replaySession } from '@baton/host/testing'
import { createReadStream, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from '../command.ts'
import { escapeControls, escapeLine } from '../terminal/escape-controls.ts'
import type { Console } from '../console.ts'
import { loadAgent } from '../places/load-agent.ts'
import { readLines } from '../words/read-lines.ts'
import { UsageError } from '../words/usage-error.ts'
import { readWords } from '../words/words.ts'

const HELP = `baton replay EXPORT --agent FILE: test an agent with an exported session

The agent in FILE gets the recorded model answers. The command prints every difference: tools that are missing or take
other arguments, approvals, limits, outputs, answers. No model is called and nothing is stored. Tools return their
recorded results unless you choose to run them. Create an export with "baton sessions export SESSION".

The exit code is 0 if nothing differs, 1 otherwise. Anything after the session was interrupted, paused or rewound is not
compared, and the report says so.

Options:
  --agent FILE         the agent, a default export (required)
  --run-tools WHICH    none; pure: run tools without effects; all: run every tool, including its effects (default: none)
  --json               print the report as one line of JSON

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
  if (!run) throw new UsageError(`--run-tools must be one of ${WHICH.join(', ')}, not "${values['run-tools']}"`)
  const path = resolve(terminal.folder, file)
  if (!statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new BatonError({
      code: 'invalid_option',
      message: `there is no file ${file} to replay`,
      hint: 'Create one with "baton sessions export SESSION --file FILE".',
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
