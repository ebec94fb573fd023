// `baton log SESSION`: shows what happened in a session, for people or as the canonical log.
import { BatonError } from '@baton/core'
import type { Store } from '@baton/core'
import type { SessionRecord } from '@baton/core/machine'
import { canonicalLog } from '@baton/core/machine'
import type { Command } from '../command.ts'
import type { Console } from '../console.ts'
import { wantsColor } from '../console.ts'
import { escapeControls } from '../terminal/escape-controls.ts'
import { LOG_MARGIN, logLines } from '../words/log-lines.ts'
import { createScreen } from '../terminal/screen.ts'
import { nameOfStore, openStoreToRead, storeLocation } from '../places/store-location.ts'
import { UsageError } from '../words/usage-error.ts'
import { readWords } from '../words/words.ts'

const HELP = `baton log SESSION: show what happened in a session

Shows who said what and when, which tools were called, how the calls ended and how long they took. It only reads, so a
server may be using the same file. "baton sessions list" lists the sessions.

Options:
  --store URL    sqlite:FILE (default: BATON_STORE, then the file of this folder)
  --children     also show the sessions of agents below, after it and in the order in which they began
  --json         print the canonical log: one fact per line as JSON, without times and host details

Examples:
  baton log kitchen
  baton log kitchen --json | grep call-settled
`

export const logCommand: Command = { help: HELP, run: log }

async function log(words: readonly string[], terminal: Console): Promise<number> {
  const { values, positionals } = readWords(words, {
    command: 'log',
    options: {
      store: { type: 'string' },
      json: { type: 'boolean', default: false },
      children: { type: 'boolean', default: false },
    },
    words: ['SESSION'],
  })
  const [session] = positionals
  if (session === undefined)
    throw new UsageError('log needs the name of a session: baton log SESSION; "baton sessions list" lists them')
  const location = storeLocation(values.store, terminal.variables, terminal.folder)
  const store = await openStoreToRead(location)
  try {
    const records = await readLog(store, session)
    if (records.length === 0) throw noSession(session, nameOfStore(location))
    const logs = [records, ...(values.children ? await readChildren(store, session) : [])]
    for (const log of logs)
      if (values.json) for (const fact of canonicalLog(log)) terminal.write(`${escapeControls(JSON.stringify(fact))}\n`)
      else writeLines(log, terminal)
  } finally {
    await store.close()
  }
  return 0
}

async function readLog(store: Pick<Store, 'read'>, session: string): Promise<readonly SessionRecord[]> {
  const records: SessionRecord[] = []
  for await (const record of store.read(session, 0)) records.push(record)
  return records
}

/** Logs of the sessions below, in the order in which they began. */
async function readChildren(
  store: Pick<Store, 'read' | 'children'>,
  root: string,
): Promise<readonly (readonly SessionRecord[])[]> {
  const logs: (readonly SessionRecord[])[] = []
  for await (const { session } of store.children(root)) logs.push(await readLog(store, session))
  const beginOf = ([first]: readonly SessionRecord[]): number => first?.wallMs ?? first?.nowMs ?? Infinity
  return logs.filter(({ length }) => length > 0).toSorted((one, other) => beginOf(one) - beginOf(other))
}

function writeLines(records: readonly SessionRecord[], { write, streams, variables }: Console): void {
  const output = streams?.output
  const screen = createScreen({
    writeText: write,
    writeNote: write,
    ...(output?.isTTY === true && { columns: () => output.columns ?? 80 }),
    color: wantsColor(output, variables),
  })
  for (const line of [...headingOf(records), ...logLines(records)]) screen.note(line, 'plain', LOG_MARGIN)
}

/** Names the calls that lead to a session below. */
function headingOf([first]: readonly SessionRecord[]): readonly string[] {
  const opened = first?.facts.find((fact) => fact.type === 'child-opened')
  return opened ? ['', `${opened.tools.join(' › ')} (${opened.callId})`] : []
}

export function noSession(session: string, store: string): BatonError {
  const message = `there is no session "${session}" in ${store}; "baton sessions list" lists the existing ones`
  return new BatonError({ code: 'unknown_session', message })
}
