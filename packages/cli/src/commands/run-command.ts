// `baton run`: one goal for an agent, for scripts. The exit code reports the outcome.
import type { TurnStop } from '@baton/core'
import type { Command } from '../command.ts'
import type { Console } from '../console.ts'
import { wantsColor } from '../console.ts'
import { openEmbeddedChat } from '../places/embedded-chat.ts'
import { createEventLines } from '../words/event-lines.ts'
import { joinInput } from '../words/joined-input.ts'
import { MCP_HELP, MCP_OPTION } from '../words/mcp-option.ts'
import { PERMISSION_HELP, PERMISSION_WORDS, readPermissions } from '../words/permission-options.ts'
import { createOncePerson } from '../terminal/piped-person.ts'
import { createQuestions } from '../terminal/questions.ts'
import { createScreen } from '../terminal/screen.ts'
import { createShownCalls } from '../terminal/shown-calls.ts'
import { storeLocation } from '../places/store-location.ts'
import { startTalk } from '../terminal/talk.ts'
import type { TurnDisplay } from '../terminal/turn-display.ts'
import { createTurnDisplay } from '../terminal/turn-display.ts'
import { UsageError } from '../words/usage-error.ts'
import { notBlank, numberOfVariable, readWords } from '../words/words.ts'

const HELP = `baton run: give an agent one goal, for scripts

The answer goes to standard output, progress to standard error. Piped input is added to the goal. There is no one to
ask, so client tools fail, approvals are denied and questions are declined.

Usage: baton run AGENT "GOAL" [options]

Options:
  --json         print each event of the session as a line of JSON instead of the answer (docs/events.md)
  --model NAME   "<provider>/<model>" or "offline" (default: the agent's own, then as for "baton chat")
  --base-url URL use another address for that provider; on its own it implies openai-compatible
${MCP_HELP}
${PERMISSION_HELP}
  --session NAME continue that session, or start it
  --store URL    where to keep the session: sqlite:FILE or postgres://HOST/DATABASE (default: with --session, the file
                 of this folder; otherwise memory:)

Exit codes: 0 answered; 1 failed; 2 wrong usage; 3 no complete answer: cut at a limit, refused or stopped, or the model
"offline" found no tool to call; 130 interrupted by Ctrl+C.

Examples:
  baton run agent.ts 'What is the population of the city "Oslo"?'
  git diff | baton run reviewer.ts "Review this change" --json | jq -r 'select(.type == "turn-finished").text'
`

export const runCommand: Command = { help: HELP, run: runGoal }

async function runGoal(words: readonly string[], terminal: Console): Promise<number> {
  const { values, positionals } = readWords(words, {
    command: 'run',
    options: {
      json: { type: 'boolean', default: false },
      model: { type: 'string' },
      'base-url': { type: 'string' },
      mcp: MCP_OPTION,
      ...PERMISSION_WORDS,
      session: { type: 'string' },
      store: { type: 'string' },
    },
    words: ['AGENT', 'GOAL'],
  })
  const [agent, goal] = positionals
  if (agent === undefined || goal === undefined || goal.trim() === '')
    throw new UsageError('run needs an agent file and a goal: baton run agent.ts "what to do"')
  const { variables, folder } = terminal
  const session = notBlank(values.session, '--session')
  const isBrief = session === undefined && values.store === undefined
  const screen = createScreen({
    writeText: terminal.write,
    writeNote: (text) => terminal.note(text.replace(/\n$/, '')),
    color: wantsColor(terminal.streams?.errors, variables),
  })
  const person = createOncePerson(await joinInput(goal, terminal))
  const questions = createQuestions(person, screen)
  const partner = await openEmbeddedChat({
    agent,
    model: values.model,
    baseUrl: values['base-url'],
    exchanges: numberOfVariable(variables, 'MAX_TURNS', 10_000),
    ...(values.mcp && { mcp: values.mcp }),
    permissions: readPermissions(values),
    store: isBrief ? { type: 'memory' } : storeLocation(values.store, variables, folder),
    terminal,
    askPerson: questions.result,
    onNews: (line) => screen.note(line, 'dim'),
  })
  const witness = createWitness()
  try {
    if (!values.json) for (const line of [...partner.about.slice(0, 1), ...partner.may]) screen.note(line, 'dim')
    const talk = await startTalk({
      partner,
      session,
      person,
      questions,
      screen,
      display: witness.watch(values.json ? createEventLines(terminal.write) : createTurnDisplay(screen)),
      shownCalls: createShownCalls(),
      nowMs: () => performance.now(),
      failsAtOnce: true,
    })
    const stopListening = terminal.onStop(() => talk.interrupt())
    const code = await talk.ended
    stopListening()
    return UNFINISHED[talk.lastStop()] ?? (code === 0 && witness.couldNotHelp() ? NO_WHOLE_ANSWER : code)
  } finally {
    await questions.settleAll()
    await partner.close()
  }
}

const NO_WHOLE_ANSWER = 3

interface Witness {
  readonly watch: (display: TurnDisplay) => TurnDisplay
  /**
   * Whether the offline planner made no call. It answers from tool results, so without a call it can only say why it
   * cannot help.
   */
  readonly couldNotHelp: () => boolean
}

function createWitness(): Witness {
  let [model, hasCalled] = ['', false]
  return {
    watch: (display) => ({
      ...display,
      show: (event, atMs) => {
        if (event.type === 'step-started') model = event.model
        hasCalled ||= event.type === 'call'
        display.show(event, atMs)
      },
    }),
    couldNotHelp: () => model === 'offline' && !hasCalled,
  }
}

/** Exit codes of turns that ended without a complete answer. */
const UNFINISHED: Readonly<Partial<Record<TurnStop, number>>> = {
  'max-tokens': NO_WHOLE_ANSWER,
  limit: NO_WHOLE_ANSWER,
  refused: NO_WHOLE_ANSWER,
  stopped: NO_WHOLE_ANSWER,
  cancelled: 130,
}
