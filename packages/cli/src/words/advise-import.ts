// The remedy for an import that Node cannot resolve, from Node's message. It looks only for files beside the missing one.
import { statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** Node resolves neither of these by itself, unlike TypeScript and bundlers. */
const ENDINGS = ['.ts', '.mts', '.js', '.mjs', '.cts', '.cjs', '.json']

/** Returns an empty text if there is none. */
export function adviseImport(message: string): string {
  return adviseInstall(message) ?? adviseFile(message) ?? ''
}

/** A file finds packages installed in its own folder and above, but not those of the command. */
function adviseInstall(message: string): string | undefined {
  const [, name] = /^Cannot find package '((?:@[^'/]+\/)?[^'/]+)[^']*' imported from /.exec(message) ?? []
  return name === undefined ? undefined : `; in the folder of that file, run "npm install ${name}"`
}

function adviseFile(message: string): string | undefined {
  const [, missing, importer] =
    /^(?:Cannot find module|Directory import) '([^']+)'.* imported from (.+)$/.exec(message) ?? []
  if (missing === undefined || importer === undefined) return undefined
  const path = toPath(missing)
  const bare = path.replace(/\.[cm]?jsx?$/, '')
  const found = [path, bare, join(path, 'index')]
    .flatMap((start) => ENDINGS.map((ending) => start + ending))
    .find((file) => statSync(file, { throwIfNoEntry: false })?.isFile())
  if (found === undefined) return undefined
  const written = relative(dirname(toPath(importer)), found).replaceAll('\\', '/')
  return `; write '${written.startsWith('.') ? '' : './'}${written}'`
}

function toPath(file: string): string {
  return file.startsWith('file:') ? fileURLToPath(file) : fileURLToPath(pathToFileURL(file))
}
