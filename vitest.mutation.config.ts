// The suite that mutants of the session machine are run against.
import { defineConfig } from 'vitest/config'

// Node's own conditions, without `module`.
const conditions = ['@baton/source', 'node', 'default']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ['@baton/source'] } },
  test: { include: ['vitest.mutation.suite.ts'], testTimeout: 120_000 },
})
