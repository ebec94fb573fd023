// The fast tests that samples of mutants are run against. Left out is what measures the program's text instead of what it
// does: mutants are put into it as code of their own.
import { defineConfig } from 'vitest/config'

// Node's own conditions, without `module`.
const conditions = ['@baton/source', 'node', 'default']
const packages = ['host', 'runtime', 'server', 'client'].map((name) => `packages/${name}/src`)
const contract = 'packages/testing/src/host-contract'
const folders = process.env['BATON_SAMPLE_FOLDERS']?.split(',') ?? [...packages, contract]
const longer = ['property', 'process', 'deep'].map((kind) => `**/*.${kind}.test.ts`)
const measuring = [
  ...['walk', 'trace', 'leaks'].map((name) => `packages/host/src/local/${name}.test.ts`),
  ...['explore', 'cost'].map((name) => `packages/core/src/machine/${name}.test.ts`),
]

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ['@baton/source'] } },
  test: {
    include: folders.map((folder) => `${folder}/**/*.test.ts`),
    exclude: [...longer, ...measuring, '**/node_modules/**'],
    // Libraries that load at first use are loaded before, as in `npm test`: time in tests waits for promises alone.
    setupFiles: ['scripts/expected-warnings.ts', 'scripts/loaded-libraries.ts'],
    testTimeout: 120_000,
  },
})
