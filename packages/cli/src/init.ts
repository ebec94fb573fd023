// `baton init`: an agent, a test of it, a package and its settings in a folder, to begin with. Nothing that exists is written over.
import { BatonError } from '@baton/core'
import { existsSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { Command } from './command.ts'
import type { Console } from './console.ts'
import { AGENT_FILE, AGENT_TEST, createPackage, GITIGNORE, TSCONFIG } from './init-files.ts'
import { escapeLine } from './escape-controls.ts'
import { makeFolders } from './make-folders.ts'
import { readWords } from './words.ts'

export const initCommand: Command = {
  help: `baton init: an agent, its test and a package, to begin with

Writes agent.ts, agent.test.ts, package.json, tsconfig.json and .gitignore into the folder (this one by default). Nothing
that exists is written over: with an agent.ts or agent.test.ts there nothing is written; another file is left as it is,
and for a package.json a line says what it needs.

Usage: baton init [FOLDER]

Examples:
  npx @baton/cli init shop
  baton init
`,
  run: (words, terminal) => Promise.resolve(init(words, terminal)),
}

const PACKAGE = 'package.json'

/** @throws UsageError; BatonError `invalid_option` when a file is there already, or cannot be written */
function init(words: readonly string[], terminal: Console): number {
  const { positionals } = readWords(words, { command: 'init', options: {}, words: ['FOLDER'] })
  const [named = '.'] = positionals
  const folder = resolve(terminal.folder, named)
  const files: Readonly<Record<string, string>> = { 'agent.ts': AGENT_FILE, 'agent.test.ts': AGENT_TEST }
  const there = Object.keys(files).filter((name) => existsSync(join(folder, name)))
  if (there.length > 0)
    throw createInitError(`${there.join(' and ')} ${there.length > 1 ? 'are' : 'is'} in ${folder} already`, undefined)
  const hasPackage = existsSync(join(folder, PACKAGE))
  const content = createPackage(basename(folder))
  const others = {
    [PACKAGE]: `${JSON.stringify(content, undefined, 2)}\n`,
    'tsconfig.json': TSCONFIG,
    '.gitignore': GITIGNORE,
  }
  const absent = Object.entries(others).filter(([name]) => !existsSync(join(folder, name)))
  const written = { ...files, ...Object.fromEntries(absent) }
  try {
    makeFolders(folder)
    // One that appears in this moment is not written over either.
    for (const [name, text] of Object.entries(written)) writeFileSync(join(folder, name), text, { flag: 'wx' })
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw createInitError(`the files could not be written: ${why}`, cause)
  }
  for (const name of Object.keys(written)) terminal.write(`wrote ${escapeLine(join(named, name))}\n`)
  const enter = folder === resolve(terminal.folder) ? '' : `cd ${escapeLine(named)} && `
  const install = hasPackage
    ? `npm pkg set type=module && npm install ${Object.keys(content.dependencies).join(' ')} && npm install --save-dev ${Object.keys(content.devDependencies).join(' ')}`
    : 'npm install'
  const [test, chat] = hasPackage ? ['node --test', 'npx baton chat --agent agent.ts'] : ['npm test', 'npm run chat']
  terminal.write(`next  ${enter}${install}\n      ${test}\n      ${chat}\n`)
  return 0
}

function createInitError(message: string, cause: unknown): BatonError {
  const hint = 'Name another folder: baton init FOLDER.'
  return new BatonError({ code: 'invalid_option', message, hint, cause })
}
