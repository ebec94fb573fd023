// The suite that mutants of the session machine are run against.
import { defineConfig } from 'vitest/config'

const conditions = ['@baton/source', 'node', 'import', 'module', 'default']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ['@baton/source'] } },
  test: { include: ['vitest.mutation.suite.ts'], testTimeout: 5000 },
})
