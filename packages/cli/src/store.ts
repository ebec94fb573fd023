// `baton store`: the file of a store is checked, backed up and restored.
import { BatonError } from '@baton/core'
import type { StoreReport } from '@baton/host'
import { backUpStoreFile, checkStoreFile, restoreStoreFile } from '@baton/host'
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Command } from './command.ts'
import type { Console } from './console.ts'
import { escapeControls, escapeLine } from './escape-controls.ts'
import { makeFolders } from './make-folders.ts'
import { UsageError } from './usage-error.ts'
import { readWords, suggestion } from './words.ts'

const HELP = `baton store: the file of a store

  baton store check FILE            whether everything in it is what was written; also beside a server
  baton store backup FILE TARGET    copies it as it is at one moment, and checks the copy; also beside a server
  baton store restore BACKUP FILE   puts a backup in place, after a check; not while a process has the store

FILE is a path or sqlite:FILE. A check that finds something names each session and ends with code 1; the other
sessions of the store can be used. What is in the target's place is never written over.

Options:
  --replace     restore: where FILE exists, the backup takes its place and the former is kept beside it
  --json        check, backup: a line of JSON

Examples:
  baton store backup sessions.db backups/monday.db
  baton store check backups/monday.db
  baton store restore backups/monday.db sessions.db --replace
`

export const storeCommand: Command = {
  help: HELP,
  run: store,
}

const ACTIONS = ['check', 'backup', 'restore'] as const
type Action = (typeof ACTIONS)[number]

async function store(words: readonly string[], terminal: Console): Promise<number> {
  const { values, positionals } = readWords(words, {
    command: 'store',
    options: { replace: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
    words: [`one of ${ACTIONS.join(', ')}`, 'a file', 'and where it goes'],
  })
  const [given, from, to] = positionals
  const action = findAction(given)
  if (values.replace && action !== 'restore') throw new UsageError('--replace is for store restore')
  if (values.json && action === 'restore') throw new UsageError('--json is for store check and store backup')
  if (from === undefined) throw new UsageError(`store ${action} needs a file; see "baton store --help"`)
  const path = findFile(from, terminal.folder)
  if (action === 'check') {
    if (to !== undefined) throw new UsageError(`store check takes one file, not "${to}" too`)
    return tell(checkStoreFile(path), path, { terminal, json: values.json })
  }
  if (to === undefined) throw new UsageError(`store ${action} needs a second file; see "baton store --help"`)
  const target = findFile(to, terminal.folder)
  if (action === 'backup') {
    if (existsSync(path)) makeFolder(dirname(target))
    return tell(backUpStoreFile(path, target), target, { terminal, json: values.json })
  }
  return restore(path, target, { terminal, replace: values.replace })
}

function findAction(given: string | undefined): Action {
  const action = ACTIONS.find((each) => each === given)
  if (action) return action
  if (given === undefined) throw new UsageError(`store needs one of ${ACTIONS.join(', ')}; see "baton store --help"`)
  throw new UsageError(`store can ${ACTIONS.join(', ')}, not "${given}"${suggestion(given, ACTIONS)}`)
}

/** A folder of backups, which the first of them finds missing. @throws BatonError `store_failed` */
function makeFolder(path: string): void {
  try {
    makeFolders(path, 0o700)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new BatonError({ code: 'store_failed', message: `the folder ${path} cannot be made: ${why}`, cause })
  }
}

function findFile(given: string, folder: string): string {
  return resolve(folder, given.replace(/^sqlite:/, ''))
}

interface Telling {
  readonly terminal: Console
  readonly json: boolean
}

function tell(report: StoreReport, path: string, { terminal, json }: Telling): number {
  const { sessions, records, blobs, unchained, findings } = report
  if (json) terminal.write(`${escapeControls(JSON.stringify({ path, ...report }))}\n`)
  else {
    for (const { session, message } of findings)
      terminal.write(
        `${session === undefined ? 'the file' : `session ${escapeLine(session)}`}: ${escapeLine(message)}\n`,
      )
    const older = unchained === 0 ? '' : ` (${unchained} older records without a hash)`
    const verdict = findings.length === 0 ? 'everything is what was written' : `${findings.length} findings`
    terminal.write(
      `${escapeLine(path)}: ${sessions} session${sessions === 1 ? '' : 's'}, ${records} records, ${blobs} large texts${older}: ${verdict}\n`,
    )
  }
  return findings.length === 0 ? 0 : 1
}

interface Restoring {
  readonly terminal: Console
  readonly replace: boolean
}

function restore(backup: string, path: string, { terminal, replace }: Restoring): number {
  if (backup === path) throw new BatonError({ code: 'invalid_option', message: `${path} is the backup itself` })
  const { former } = restoreStoreFile(backup, path, { replace })
  terminal.note(escapeLine(`${path} is restored from ${backup}`))
  if (former !== undefined) terminal.note(escapeLine(`what was there before is ${former}`))
  return 0
}
