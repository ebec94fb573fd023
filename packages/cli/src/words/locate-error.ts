// Locates an error in the user's own files, from Node's report of it.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

interface Place {
  readonly file: string
  readonly line: number
}

/** Frames of the loader and of called packages are not at fault. */
const OWN_PACKAGES = fileURLToPath(new URL('../../..', import.meta.url))
/** Milliseconds for Node to check the syntax of one file. */
const CHECK_MS = 10_000

/**
 * Returns `agent.ts:12`, relative to `folder`, or `undefined` if the location is unknown. `file` is the loaded program:
 * for a thrown error, its own line says more than one in a library it calls.
 */
export function locateError(cause: unknown, file: string, folder: string): string | undefined {
  if (!(cause instanceof Error)) return undefined
  const found = readHead(cause) ?? findImport(cause) ?? checkSyntax(cause, file) ?? readFrames(cause, file)
  return found && `${relative(folder, found.file) || found.file}:${found.line}`
}

/** For a file that Node cannot parse, the stack is preceded by the file, the line, and the source. */
function readHead({ stack = '' }: Error): Place | undefined {
  const [, file, line] = /^((?:file:\/\/|\/|[A-Za-z]:\\)[^\n]*?):(\d+)\n/.exec(stack) ?? []
  return file === undefined ? undefined : { file: toPath(file), line: Number(line) }
}

function readFrames({ stack = '' }: Error, file: string): Place | undefined {
  const frames = [...stack.matchAll(/\((file:\/\/[^\n]*?):(\d+):\d+\)|at (?:async )?(file:\/\/[^\n]*?):(\d+):\d+/g)]
  const places = frames.map(([, inner, innerLine, outer, outerLine]) => ({
    file: toPath(inner ?? outer ?? ''),
    line: Number(innerLine ?? outerLine),
  }))
  const isOthers = (place: Place): boolean => place.file.includes('node_modules') || place.file.startsWith(OWN_PACKAGES)
  return places.find((place) => place.file === file) ?? places.find((place) => !isOthers(place))
}

/** The error for a missing module names its importer, but not the line. */
function findImport({ message }: Error): Place | undefined {
  const [, missing = '', importer] = /^Cannot find (?:module|package) '([^']+)' imported from (.+)$/.exec(message) ?? []
  if (importer === undefined) return undefined
  try {
    const name = missing.replace(/^.*[\\/]/, '')
    const lines = readFileSync(toPath(importer), 'utf8').split('\n')
    const at = lines.findIndex((line) => /import|export|require/.test(line) && line.includes(name))
    return at < 0 ? undefined : { file: toPath(importer), line: at + 1 }
  } catch {
    return undefined
  }
}

/** Node reports the line of a JavaScript syntax error only if it runs nothing but that file. */
function checkSyntax(cause: Error, file: string): Place | undefined {
  if (!(cause instanceof SyntaxError)) return undefined
  const { stderr } = spawnSync(process.execPath, ['--check', file], { encoding: 'utf8', timeout: CHECK_MS })
  const [, found, line] = /^((?:file:\/\/|\/|[A-Za-z]:\\)[^\n]*?):(\d+)$/m.exec(stderr) ?? []
  return found === undefined ? undefined : { file: toPath(found), line: Number(line) }
}

function toPath(file: string): string {
  return file.startsWith('file:') ? fileURLToPath(file) : fileURLToPath(pathToFileURL(file))
}
