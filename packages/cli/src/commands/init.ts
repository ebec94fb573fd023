// `baton init`: creates an agent, a test for it, a package and its settings in a folder. Existing files are never
// overwritten.
import { BatonError } from '@baton/core'
import { existsSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { Command } from '../command.ts'
import type { Console } from '../console.ts'
import { AGENT_FILE, AGENT_TEST, createPackage, GITIGNORE, TSCONFIG } from './init-files.ts'
import { escapeLine } from '../terminal/escape-controls.ts'
import { makeFolders } from '../places/make-folders.ts'
import { readWords } from '../words/words.ts'

export const initCommand: Command = {
  help: `baton init: create an agent, a test for it and a package

Writes agent.ts, agent.test.ts, package.json, tsconfig.json and .gitignore into the folder (default: this one). Existing
files are never overwritten: if agent.ts or agent.test.ts exists, nothing is written; other existing files are left as
they are, and for an existing package.json the command prints what to add.

Usage: baton init [FOLDER]

Examples:
  npx @baton/cli init shop
  baton init
`,
  run: (words, terminal) => Promise.resolve(init(words, terminal)),
}

const PACKAGE = 'package.json'

/** @throws UsageError; BatonError `invalid_option` when a file already exists or cannot be written */
function init(words: readonly string[], terminal: Console): number {
  const { positionals } = readWords(words, { command: 'init', options: {}, words: ['FOLDER'] })
  const [named = '.'] = positionals
  const folder = resolve(terminal.folder, named)
  const files: Readonly<Record<string, string>> = { 'agent.ts': AGENT_FILE, 'agent.test.ts': AGENT_TEST }
  const there = Object.keys(files).filter((name) => existsSync(join(folder, name)))
  if (there.length > 0)
    throw createInitError(
      `${there.join(' and ')} already ${there.length > 1 ? 'exist' : 'exists'} in ${folder}`,
      undefined,
    )
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
    // A file that appears at this very moment is not overwritten either.
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
  const hint = 'Choose another folder: baton init FOLDER.'
  return new BatonError({ code: 'invalid_option', message, hint, cause })
}
