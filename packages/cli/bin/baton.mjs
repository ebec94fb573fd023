#!/usr/bin/env node
// Starts the `baton` command: from its source where that stands beside it (in the repository), else as it was built.
// Node refuses to strip types below node_modules, so an installed package always takes the built one.
import { existsSync } from 'node:fs'
import * as nodeModule from 'node:module'

const [major, minor] = process.versions.node.split('.').map(Number)
const source = new URL('../src/main.ts', import.meta.url)

if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(`baton needs Node 22.18 or newer; this is ${process.versions.node}\n`)
  process.exitCode = 1
} else if (!import.meta.url.includes('/node_modules/') && existsSync(source)) {
  nodeModule.registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, { ...context, conditions: [...(context.conditions ?? []), '@baton/source'] }),
  })
  await import(source.href)
} else {
  await import(new URL('../dist/main.js', import.meta.url).href)
}
