// Three suites: `fast` (part of `npm run check`), `property` (long random runs) and `process` (starts real processes).
import { defineConfig } from 'vitest/config'

const conditions = ['@baton/source', 'node', 'module', 'default']
const shared = { resolve: { conditions }, ssr: { resolve: { conditions, externalConditions: ['@baton/source'] } } }
const places = (suffix: string) => ['packages/*/src', 'scripts', 'examples'].map((folder) => `${folder}/**/*${suffix}`)
const longer = ['.property.test.ts', '.process.test.ts'].flatMap(places)

export default defineConfig({
  test: {
    projects: [
      { ...shared, test: { name: 'fast', include: places('.test.ts'), exclude: longer, testTimeout: 20_000 } },
      { ...shared, test: { name: 'property', include: places('.property.test.ts'), testTimeout: 170_000 } },
      { ...shared, test: { name: 'process', include: places('.process.test.ts'), testTimeout: 60_000 } },
    ],
  },
})
