// The suite that mutants of the session machine are run against: its own tests, without the explored conversations and
// the measured costs, which take longer than all others and say less about a single line.
import { defineConfig } from 'vitest/config'

const conditions = ['@baton/source', 'node', 'import', 'module', 'default']

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ['@baton/source'] } },
  test: {
    include: ['packages/core/src/machine/**/*.test.ts'],
    exclude: ['**/explore.test.ts', '**/cost.test.ts', '**/*.property.test.ts'],
    testTimeout: 5000,
  },
})
