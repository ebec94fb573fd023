// `baton explore`: a model on this machine explores the folder, and a summary reports its findings, with the calls that
// support them.
import type { Model, Session, TurnStop } from '@baton/core'
import { withPromptedTools } from '@baton/models/prompted'
import type { ExplorationSummary } from '@baton/kits/explorer'
import { createExplorer, readExploration } from '@baton/kits/explorer'
import type { Command } from '../command.ts'
import type { Console } from '../console.ts'
import { wantsColor } from '../console.ts'
import { openEmbeddedHost } from '../places/embedded-host.ts'
import { escapeControls, escapeLine } from '../terminal/escape-controls.ts'
import { createEventLines } from '../words/event-lines.ts'
import { wholeNumber } from './limit-options.ts'
import type { Screen } from '../terminal/screen.ts'
import { createScreen } from '../terminal/screen.ts'
import { storeLocation } from '../places/store-location.ts'
import { createTurnDisplay } from '../terminal/turn-display.ts'
import { UsageError } from '../words/usage-error.ts'
import { notBlank, readWords } from '../words/words.ts'

const GOAL = 'Explore the workspace: what is it, how is it built, what is unfinished?'
const NAME = 'explore'
const CALLING = ['native', 'prompted', 'planned'] as const

const HELP = `baton explore: explore this folder with a small model and report what it contains

The model plans, looks around and reports its findings, each with a file and line shown by a tool call. Languages,
entry points and top files are counted by code. The summary goes to standard output, progress to standard error.
Nothing leaves this machine, whatever keys are set, unless an option allows it.

Usage: baton explore ["GOAL"] [options]

Options:
  --name NAME    the exploration to continue or start; it builds on its earlier findings (default: "${NAME}")
  --json         print the summary as one line of JSON
  --events       print each event of the session as a line of JSON on standard output, then the summary
  --model NAME   "gguf:FILE", "ollama/NAME", "offline", or another "<provider>/<model>"
  --base-url URL use another address for that provider; on its own it implies openai-compatible
  --steps N      maximum steps with calls, including the report, 2 to 100 (default: 10)
  --tool-calling WAY
                 native: the model's own tool calling; prompted: calls written as text; planned: one plan as text, which
                 is then run (default: native)
  --allow-external-llms
                 allow models on other machines, with keys of the environment; requires --allow-network
  --allow-network
                 allow network access
  --all-sessions search coding sessions of every folder, not only this one
  --store URL    where to keep the exploration: sqlite:FILE, postgres://HOST/DATABASE or memory: (default: the file of
                 this folder)

Exit codes: 0 reported; 1 failed; 2 wrong usage; 3 the model gave no report supported by its calls; 130 interrupted by
Ctrl+C.

Examples:
  baton explore --model gguf:model.gguf
  baton explore "Where are errors defined?" --model ollama/qwen3 --json | jq .findings
`

export const exploreCommand: Command = { help: HELP, run: explore }

type Values = ReturnType<typeof readOptions>['values']

function readOptions(words: readonly string[]) {
  return readWords(words, {
    command: 'explore',
    options: {
      name: { type: 'string', default: NAME },
      json: { type: 'boolean', default: false },
      events: { type: 'boolean', default: false },
      model: { type: 'string' },
      'base-url': { type: 'string' },
      steps: { type: 'string', default: '10' },
      'tool-calling': { type: 'string', default: 'native' },
      'allow-external-llms': { type: 'boolean', default: false },
      'allow-network': { type: 'boolean', default: false },
      'all-sessions': { type: 'boolean', default: false },
      store: { type: 'string' },
    },
    words: ['GOAL'],
  })
}

async function explore(words: readonly string[], terminal: Console): Promise<number> {
  const { values, positionals } = readOptions(words)
  const goal = notBlank(positionals[0], 'the goal') ?? GOAL
  const name = notBlank(values.name, '--name') ?? NAME
  const calling = CALLING.find((way) => way === values['tool-calling'])
  if (!calling) throw new UsageError(`--tool-calling must be ${CALLING.join(', ')}, not "${values['tool-calling']}"`)
  if (values['allow-external-llms'] && !values['allow-network'])
    throw new UsageError(
      '--allow-external-llms needs --allow-network, because external models are reached over the network',
    )
  const maxSteps = wholeNumber(values.steps, '--steps', [2, 100])
  const screen = createScreen({
    writeText: terminal.note,
    writeNote: (text) => terminal.note(text.replace(/\n$/, '')),
    color: wantsColor(terminal.streams?.errors, terminal.variables),
  })
  const embedded = await openEmbeddedHost({
    agent: undefined,
    createAgent: (root) => createAgent(root, values, { maxSteps, style: calling === 'planned' ? 'planned' : 'free' }),
    ...(calling !== 'native' && { wrapModel: prompt }),
    model: values.model,
    baseUrl: values['base-url'],
    exchanges: undefined,
    store: storeLocation(values.store, terminal.variables, terminal.folder),
    terminal,
    onNews: (line) => screen.note(line, 'dim'),
  })
  try {
    const { choice, permissions, host } = embedded
    screen.note(`model ${choice.id}, ${choice.reason}`, 'dim')
    screen.note(`permissions ${permissions ?? 'all'}`, 'dim')
    const session = await host.session(name)
    const stop = await followTurn(session, goal, { values, terminal, screen })
    const summary = await readExploration(session, { root: terminal.folder })
    const isRaw = values.json || values.events
    terminal.write(isRaw ? `${escapeControls(JSON.stringify(summary))}\n` : describeSummary(summary))
    if (stop === 'cancelled') return 130
    if (summary.findings.length > 0) return 0
    if (choice.id === OFFLINE) screen.note(NO_MODEL)
    return 3
  } finally {
    await embedded.stop(0)
  }
}

const OFFLINE = 'offline'
const NO_MODEL =
  '"offline" is not a language model and cannot report: name a model on this machine, with --model gguf:FILE or --model ollama/NAME'

function createAgent(
  root: string,
  values: Values,
  steps: { readonly maxSteps: number; readonly style: 'free' | 'planned' },
) {
  return createExplorer({
    root,
    ...steps,
    sessions: { scope: values['all-sessions'] ? 'all' : 'workspace' },
    permissions: { network: values['allow-network'], externalModels: values['allow-external-llms'] },
  })
}

function prompt(model: Model): Model {
  return withPromptedTools(model)
}

interface Following {
  readonly values: Values
  readonly terminal: Console
  readonly screen: Screen
}

async function followTurn(session: Session, goal: string, { values, terminal, screen }: Following): Promise<TurnStop> {
  const display = values.events ? createEventLines(terminal.write) : createTurnDisplay(screen)
  const turn = session.send(goal)
  // A signal during the turn ends it, and the summary reports what was found until then.
  const stopListening = terminal.onStop(() => {
    session.interrupt({ reason: 'the person interrupted' }).catch(() => {})
  })
  let plan = ''
  try {
    for await (const event of turn) {
      // Standard output is reserved for the summary: the model's text is shown as a whole at the end.
      if (values.events || event.type !== 'text') display.show(event, performance.now())
      if (event.type !== 'session' || !event.plan || values.events) continue
      const shown = event.plan.map(({ content, status }) => `  ${MARKS[status]} ${escapeLine(content)}`).join('\n')
      if (shown !== plan) screen.note(`plan\n${shown}`, 'dim')
      plan = shown
    }
    const { text, stop } = await turn.answer
    if (!values.events && text.trim() !== '') screen.note(text.trim())
    return stop
  } finally {
    stopListening()
  }
}

const MARKS = { pending: '·', in_progress: '>', completed: '✓' } as const

function describeSummary(summary: ExplorationSummary): string {
  const { name, languages, entryPoints, topFiles, findings, followUps, citations } = summary
  const cite = ({ path, line, sessionId }: ExplorationSummary['findings'][number]['evidence'][number]): string =>
    path === undefined ? `session ${sessionId}` : line === undefined ? path : `${path}:${line}`
  const list = (title: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)]
  const cited = (all: ExplorationSummary['findings']): readonly string[] =>
    all.map(({ text, evidence }) => `${text} (${evidence.map(cite).join(', ')})`)
  const most = languages.slice(0, 8)
  const lines = [
    name,
    ...list(
      'Languages',
      most.map(({ language, files, lines: count }) => `${language}: ${say(count, 'line')} in ${say(files, 'file')}`),
    ),
    ...list('Entry points', entryPoints),
    ...list(
      'Top files',
      topFiles.map(
        ({ path, lines: count, calls }) =>
          `${path} (${say(count ?? 0, 'line')}${calls > 0 ? `, in ${say(calls, 'call')}` : ''})`,
      ),
    ),
    ...list('Findings', cited(findings)),
    ...list('Worth a look', cited(followUps)),
  ]
  const missing = findings.length > 0 ? [] : ['', 'The model gave no report supported by its calls.']
  const refused = citations.refused === 0 ? [] : ['', `Refused: ${say(citations.refused, 'citation')}.`]
  return `${[...lines, ...missing, ...refused].map(escapeLine).join('\n')}\n`
}

function say(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
