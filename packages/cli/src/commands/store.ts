// `baton store`: checks, backs up and restores a store's file.
import { BatonError } from '@baton/core'
import type { StoreReport } from '@baton/host'
import { backUpStoreFile, checkStoreFile, restoreStoreFile } from '@baton/host'
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Command } from '../command.ts'
import type { Console } from '../console.ts'
import { escapeControls, escapeLine } from '../terminal/escape-controls.ts'
import { makeFolders } from '../places/make-folders.ts'
import { UsageError } from '../words/usage-error.ts'
import { readWords, suggestion } from '../words/words.ts'

const HELP = `baton store: check, back up or restore a store's file

  baton store check FILE            verify that everything is as it was written; works while a server is running
  baton store backup FILE TARGET    copy the store as of one moment, and check the copy; works while a server is running
  baton store restore BACKUP FILE   restore a backup after checking it; no process may have the store open

FILE is a path or sqlite:FILE. A check that finds damage names each affected session and exits with code 1; other
sessions remain usable. Existing targets are never overwritten.

Options:
  --replace     restore: replace an existing FILE, which is kept next to it under another name
  --json        check, backup: print one line of JSON

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
    words: [`one of ${ACTIONS.join(', ')}`, 'a file', 'and a target'],
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

/** Creates the folder for backups if it is missing. @throws BatonError `store_failed` */
function makeFolder(path: string): void {
  try {
    makeFolders(path, 0o700)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new BatonError({ code: 'store_failed', message: `the folder ${path} cannot be created: ${why}`, cause })
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
    const verdict = findings.length === 0 ? 'no damage found' : `${findings.length} findings`
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
  terminal.note(escapeLine(`${path} was restored from ${backup}`))
  if (former !== undefined) terminal.note(escapeLine(`the former store is now ${former}`))
  return 0
}
