// The suite that mutants of the session machine are run against: only its own fast tests.
import { defineConfig } from 'vitest/config'

const conditions = ['@baton/source', 'node', 'import', 'module', 'default']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ['@baton/source'] } },
  test: { include: ['packages/core/src/machine/**/*.test.ts'], testTimeout: 20_000 },
})
