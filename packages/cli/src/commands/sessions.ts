// `baton sessions`: lists, deletes, exports and imports the sessions of a store.
import type { LogStore, StoredSession } from '@baton/core/internal'
import { BatonError, isBatonError } from '@baton/core/internal'
import { exportSession, importSession } from '@baton/host'
import { createReadStream, createWriteStream, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from '../command.ts'
import type { Console } from '../console.ts'
import { escapeControls, escapeLine } from '../terminal/escape-controls.ts'
import { noSession } from './log.ts'
import { readLines } from '../words/read-lines.ts'
import type { StoreLocation } from '../places/store-location.ts'
import { hasRecords, nameOfStore, openStore, openStoreToRead, storeLocation } from '../places/store-location.ts'
import { tableLines } from '../words/table-lines.ts'
import type { TemporalPlace } from './temporal-options.ts'
import { importTemporal, readTemporalPlace, TEMPORAL_WORDS } from './temporal-options.ts'
import { UsageError } from '../words/usage-error.ts'
import { readWords, suggestion } from '../words/words.ts'

const HELP = `baton sessions: manage the sessions of a store

  baton sessions list            name, last use, records, "open" if a turn may be running, "damaged" if the store is
                                 (see baton store check); works while a server is running
  baton sessions delete SESSION  delete a session for good; refused while another process holds it, except over
                                 Temporal, where its workflow is terminated too
  baton sessions export SESSION  export with its children as lines of JSON, to standard output or --file; works while a
                                 server is running
  baton sessions import FILE     import an exported session with its children into the store, under its own name

Options:
  --store URL    sqlite:FILE (default: BATON_STORE, then the file of this folder)
  --file FILE    file to export to; an existing file is not overwritten
  --alone        export: leave out the sessions of calls that other agents did
  --json         list: print one line of JSON per session
  --temporal HOST:PORT, --namespace NAME, --redis URL
                 delete: as for "baton serve --temporal" (default: BATON_TEMPORAL, BATON_REDIS)

Examples:
  baton sessions list
  baton sessions export kitchen --file kitchen.jsonl
  baton sessions import kitchen.jsonl --store sqlite:other.db
  baton sessions delete kitchen
`

export const sessionsCommand: Command = {
  help: HELP,
  run: sessions,
}

const { temporal, namespace, redis } = TEMPORAL_WORDS
const TEMPORAL_PLACE = { temporal, namespace, redis }
const ACTIONS = ['list', 'delete', 'export', 'import'] as const
type Action = (typeof ACTIONS)[number]

interface Request {
  readonly terminal: Console
  readonly location: StoreLocation
  /** The service where the session's workflow may run. */
  readonly place: TemporalPlace | undefined
  readonly json: boolean
  readonly file: string | undefined
  readonly alone: boolean
}

async function sessions(words: readonly string[], terminal: Console): Promise<number> {
  const { values, positionals } = readWords(words, {
    command: 'sessions',
    options: {
      store: { type: 'string' },
      file: { type: 'string' },
      alone: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      ...TEMPORAL_PLACE,
    },
    words: [`one of ${ACTIONS.join(', ')}`, 'and the name of a session or file'],
  })
  const [given, name] = positionals
  const action = findAction(given)
  if (action === 'list' && name !== undefined) throw new UsageError(`sessions list takes no name, not "${name}"`)
  if (action !== 'export' && values.file !== undefined) throw new UsageError('--file is for sessions export')
  if (action !== 'export' && values.alone) throw new UsageError('--alone is for sessions export')
  if (action !== 'list' && values.json) throw new UsageError('--json is for sessions list; an export is JSON anyway')
  const location = storeLocation(values.store, terminal.variables, terminal.folder)
  const { temporal, namespace, redis } = values
  if (action !== 'delete' && (temporal ?? namespace ?? redis) !== undefined)
    throw new UsageError(
      '--temporal, --namespace and --redis are only for sessions delete; other actions only use the store',
    )
  const place =
    action === 'delete' && (temporal !== undefined || location.type === 'postgres')
      ? readTemporalPlace(values, location, terminal.variables)
      : undefined
  const request = { terminal, location, place, json: values.json, file: values.file, alone: values.alone }
  if (action === 'list') return await list(request)
  if (name === undefined)
    throw new UsageError(`sessions ${action} needs ${action === 'import' ? 'a file' : 'a session'}`)
  const act = { delete: remove, export: exportOne, import: importOne }[action]
  return await act(request, name)
}

function findAction(given: string | undefined): Action {
  const action = ACTIONS.find((each) => each === given)
  if (action) return action
  if (given === undefined)
    throw new UsageError(`sessions needs one of ${ACTIONS.join(', ')}; see "baton sessions --help"`)
  throw new UsageError(`sessions can ${ACTIONS.join(', ')}, not "${given}"${suggestion(given, ACTIONS)}`)
}

async function list({ terminal, location, json }: Request): Promise<number> {
  const store = await openStoreToRead(location)
  try {
    const found: StoredSession[] = []
    for await (const session of store.list()) found.push(session)
    // Last used first, because that is usually the one being looked for.
    found.sort((one, other) => other.lastMs - one.lastMs)
    if (json) for (const each of found) terminal.write(`${escapeControls(JSON.stringify(toJson(each)))}\n`)
    else if (found.length === 0) terminal.note(`no sessions in ${escapeLine(nameOfStore(location))}`)
    else
      for (const line of tableLines([['session', 'last used', 'records', ''], ...found.map(row)]))
        terminal.write(`${line}\n`)
  } finally {
    await store.close()
  }
  return 0
}

function toJson({ session, records, lastMs, isOwned, damage }: StoredSession): object {
  const lastUsed = isDate(lastMs) ? new Date(lastMs).toISOString() : null
  return { session, lastUsed, records, isOpen: isOwned, ...(damage !== undefined && { damage }) }
}

function row({ session, records, lastMs, isOwned, damage }: StoredSession): readonly string[] {
  const at = isDate(lastMs) ? new Date(lastMs).toISOString() : ''
  const shown = at === '' ? 'unknown' : `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`
  return [session, shown, String(records), damage === undefined ? (isOwned ? 'open' : '') : 'damaged']
}

/** A damaged session may have any number. */
function isDate(ms: number): boolean {
  return !Number.isNaN(new Date(ms).getTime())
}

async function remove({ terminal, location, place }: Request, session: string): Promise<number> {
  const store = await openToWrite(location)
  try {
    if (!(await hasRecords(store, session))) throw noSession(session, nameOfStore(location))
    if (place) await removeOverTemporal(place, store, session)
    else await store.remove(session)
  } finally {
    await store.close()
  }
  terminal.note(`session ${escapeLine(session)} was deleted from ${escapeLine(nameOfStore(location))}`)
  return 0
}

async function removeOverTemporal(place: TemporalPlace, logStore: LogStore, session: string): Promise<void> {
  const { address, namespace, redis } = place
  const { removeTemporalSession } = await importTemporal()
  await removeTemporalSession({ address, namespace, logStore, ...(redis !== undefined && { redis }) }, session)
}

async function exportOne({ terminal, location, file, alone }: Request, session: string): Promise<number> {
  const store = await openStoreToRead(location)
  try {
    if (!(await hasRecords(store, session))) throw noSession(session, nameOfStore(location))
    if (file === undefined)
      for await (const line of exportSession(store, session, { alone })) terminal.write(`${escapeControls(line)}\n`)
    else await writeFile(resolve(terminal.folder, file), file, exportSession(store, session, { alone }))
  } finally {
    await store.close()
  }
  if (file !== undefined) terminal.note(`session ${escapeLine(session)} was exported to ${escapeLine(file)}`)
  return 0
}

/** A conversation may be long, so it is streamed. An existing file is not overwritten. */
async function writeFile(path: string, shown: string, lines: AsyncIterable<string>): Promise<void> {
  const withBreaks = async function* (): AsyncGenerator<string> {
    for await (const line of lines) yield `${line}\n`
  }
  try {
    await pipeline(Readable.from(withBreaks()), createWriteStream(path, { flags: 'wx', mode: 0o600 }))
  } catch (cause) {
    if (isBatonError(cause)) throw cause
    const why = (cause as NodeJS.ErrnoException).code === 'EEXIST' ? 'it already exists' : String(cause) // from the file system
    throw new BatonError({ code: 'invalid_option', message: `--file ${shown} cannot be written: ${why}`, cause })
  }
}

/** A session is checked as a whole before it is stored, so it is held in memory once. */
const IMPORT_BYTES_MAX = 1024 * 1024 * 1024

async function importOne({ terminal, location }: Request, file: string): Promise<number> {
  const path = resolve(terminal.folder, file)
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found?.isFile()) throw new BatonError({ code: 'invalid_option', message: `there is no file ${file} to import` })
  if (found.size > IMPORT_BYTES_MAX)
    throw new BatonError({
      code: 'invalid_option',
      message: `the file ${file} has ${found.size} bytes; a session of at most ${IMPORT_BYTES_MAX} bytes can be imported`,
    })
  const store = await openToWrite(location)
  try {
    const chunks: AsyncIterable<Uint8Array> = createReadStream(path) // without an encoding, so they are bytes
    const session = await importSession(store, readLines({ name: file, chunks })).catch((cause: unknown) => {
      throw nameFile(cause, file)
    })
    terminal.note(`session ${escapeLine(session)} was imported into ${escapeLine(nameOfStore(location))}`)
  } finally {
    await store.close()
  }
  return 0
}

/** Adds the file to an error about a line of an import, and a hint about such files. */
function nameFile(cause: unknown, file: string): unknown {
  if (!isBatonError(cause) || !/^line \d+: /.test(cause.message)) return cause
  const hint = '"baton sessions export SESSION --file FILE" writes a file that can be imported.'
  return new BatonError({ code: cause.code, message: `${file}, ${cause.message}`, hint, cause })
}

async function openToWrite(location: StoreLocation): Promise<LogStore> {
  if (location.type === 'memory') throw new UsageError('memory: keeps nothing; name a file with --store sqlite:FILE')
  return await openStore(location)
}
